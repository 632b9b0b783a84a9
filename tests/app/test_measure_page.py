"""Measure in a real browser: a newcomer scores, shares and compares; light and dark, on a phone."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from probe.settings import ASSETS
from tests.conftest import App
from tests.support.pages.browser import (
    PHONE,
    SETTLED,
    SLOW,
    fits_a_phone,
    hold_questions,
    is_accessible,
    looks_well_by_day_and_by_night,
    visit,
)

pytestmark = pytest.mark.browser
EXAMPLES = ASSETS / "examples"
BEFORE = "These results are of what was chosen before."
BRIGHTENED = """() => {
  const results = document.getElementById("compare-results");
  new MutationObserver(() => {
    if (!results.classList.contains("stale"))
      window.brightened ??= document.getElementById("compare-progress").innerText;
  }).observe(results, { attributeFilter: ["class"] });
}"""
"""Notes how far a comparison is when its results are dimmed no longer."""
WIDE = {"width": 1280, "height": 800}


def give(page: Page, path: Path) -> None:
    """Give Measure a file and wait for its first rows."""
    page.locator("#texts").get_by_label("A file").check()
    page.locator("#upload input[type=file]").first.set_input_files(str(path))
    expect(page.locator("#upload-preview table")).to_be_visible(timeout=SLOW)


def scored(page: Page, rows: str) -> None:
    """Press Score and wait for the end."""
    page.locator("#score").click()
    expect(page.locator("#batch-name")).to_contain_text(rows, timeout=SLOW)
    page.wait_for_function("location.search.includes('run=')")


def bottom_of(page: Page, place: str) -> float:
    """Return how far below the window's upper edge an element ends."""
    box = page.locator(place).bounding_box()
    assert box
    return box["y"] + box["height"]


def test_the_figures_of_the_bundled_texts_are_ready_and_in_sight(newcomer: Page) -> None:
    page = newcomer
    page.set_viewport_size(WIDE)
    visit(page, "measure")
    expect(page.locator("#batch-who")).to_contain_text("Scored before", timeout=SLOW)
    assert bottom_of(page, "#batch-figures .say") < WIDE["height"]
    is_accessible(page, [["#choice"], ["#score-form"], ["#batch-results"]])
    page.set_viewport_size(PHONE)
    visit(page, "measure")
    expect(page.locator("#chosen")).to_contain_text("pairs: MiniLM", timeout=SLOW)
    expect(page.locator("#texts")).to_be_hidden()
    assert bottom_of(page, "#batch-figures .say") < 2 * PHONE["height"]
    page.locator("#choice-fold").get_by_role("button", name="Change").click()
    expect(page.locator("#texts")).to_be_visible()
    fits_a_phone(page)


def test_a_file_is_asked_about_scored_turned_over_and_shared(
    page: Page, other: Page, tmp_path: Path
) -> None:
    visit(page, "measure?changes=reverse")
    mine = tmp_path / "mine.csv"
    mine.write_text(
        "premise,hypothesis,label\n" + "A dog barks.,A dog is loud.,0\nIt rains.,Sun.,1\n" * 15
    )
    give(page, mine)
    expect(page.locator(".asks")).to_contain_text("labels 0 and 1. What does each mean?")
    assert page.locator("#score").evaluate("part => getComputedStyle(part).pointerEvents") == "none"
    is_accessible(page, [["#choice"]])
    page.get_by_role("button", name="1 entailment, 0 non-entailment").click()
    expect(page.locator(".asks .open")).to_be_hidden()
    page.locator('fieldset[data-word="0"]').get_by_label("contradiction").check()
    scored(page, "30 rows, 30 scored")
    assert page.title().startswith("Finished · mine.csv")
    assert 0 <= bottom_of(page, "#batch-name") < WIDE["height"]
    rows = page.locator("#lines")
    expect(rows.locator("tbody tr")).to_have_count(20)
    rows.get_by_role("button", name="Next").click()
    expect(rows).to_contain_text("30 rows, page 2 of 2")
    rows.locator("input[type=search]").fill("RAINS")
    expect(rows).to_contain_text("15 rows, page 1 of 1")
    expect(rows.locator("input[type=search]")).to_be_focused()
    for way in ("ascending", "descending"):
        rows.locator("thead").get_by_role("button", name="#").click()
        expect(rows.locator(f"th[aria-sort={way}]")).to_be_visible(timeout=SLOW)
    expect(rows.locator("tbody th").first).to_have_text("30")
    page.locator('#batch-figures button[data-cell*="reverse"]').first.click()
    expect(rows).to_contain_text("Only rows whose answer stays under “Reverse the words”")
    with page.expect_download() as given:
        page.get_by_role("link", name="Download scored file").click()
    assert (
        "True" in given.value.path().read_text()
        and given.value.suggested_filename == "mine-scored.csv"
    )
    page.locator("#files").get_by_label("Guard the files").check()
    expect(page.locator("#files")).to_contain_text("mine-scored-guarded.csv")
    is_accessible(page, [["#batch-results"]])
    address = page.url
    page.reload()
    expect(page.locator("#batch-name")).to_contain_text("30 rows, 30 scored", timeout=SLOW)
    expect(page.locator("#batch-results.stale")).to_have_count(0)
    assert parse_qs(urlparse(page.url).query)["run"] == parse_qs(urlparse(address).query)["run"]
    visit(other, f"measure?{urlparse(address).query}")
    expect(other.locator("#batch-trouble")).to_contain_text("you may not see", timeout=SLOW)
    page.locator("#score-link").click()
    link = page.locator("#score-share input")
    page.wait_for_function("document.querySelector('#score-share input')?.value.includes('grant=')")
    expect(page.locator("#score-share")).to_contain_text("sees this result")
    visit(other, f"measure?{urlparse(link.input_value()).query}")
    expect(other.locator("#batch-name")).to_contain_text("mine.csv", timeout=SLOW)
    page.evaluate("window.history.back()")  # the page is loaded anew
    page.wait_for_function("!location.search.includes('run=')")
    expect(page.locator("#batch-results")).to_be_hidden(timeout=SLOW)


def test_what_is_chosen_anew_dims_the_results_and_several_models_are_named(
    newcomer: Page, second: str
) -> None:
    page = newcomer
    visit(page, f"measure?models=minilm,{second}&texts=file&changes=sort")
    expect(page.locator("#score-which")).to_contain_text("Scores MiniLM", timeout=SLOW)
    give(page, EXAMPLES / "mnli_form.tsv")
    scored(page, "40 rows, 39 scored")
    page.get_by_role("button", name="see why").click()
    expect(page.locator("#lines tbody")).to_contain_text("not scored: the hypothesis is empty")
    page.locator("#batch-transforms input").press("Backspace")
    expect(page.locator("#batch-results.stale")).to_have_count(1)
    assert "run=" not in page.url


def test_what_is_left_goes_on_and_is_found_again(newcomer: Page) -> None:
    page = newcomer
    visit(page, "measure?texts=bundled&seed=1&models=esim")  # slow enough to be left
    expect(page.locator("#score")).to_be_enabled(timeout=SLOW)
    page.locator("#score").click()
    expect(page.locator("#batch-progress")).to_contain_text(" a second", timeout=SLOW)
    visit(page, "measure")
    going = page.locator("#batch-background")
    expect(going).to_contain_text("of 600 rows", timeout=SLOW)
    going.get_by_role("button", name="Stop").click()
    expect(going.get_by_role("button", name="Go on")).to_be_visible(timeout=2 * SLOW)


def test_texts_from_templates_are_a_file(newcomer: Page) -> None:
    page = newcomer
    visit(page, "measure?texts=templates")
    pairs = page.get_by_label("Pairs", exact=True)
    expect(pairs).to_have_value("300", timeout=SLOW)
    page.evaluate(SETTLED)  # a panel is laid out when it opens, its fields with their first values
    pairs.fill("60")
    pairs.press("Tab")
    page.locator("#make-pairs").click()
    expect(page.locator("#upload-doubt")).to_contain_text("60 rows", timeout=SLOW)


@pytest.fixture
def comparing(page: Page, second: str) -> Page:
    """Compare with two models, opened by a link."""
    visit(page, f"measure?view=compare&models=minilm,{second}")
    expect(page.locator("#compare")).to_be_enabled(timeout=SLOW)
    expect(page.locator("#measure-models")).to_contain_text(second, timeout=SLOW)
    page.evaluate(SETTLED)  # the link's other fields are filled after the list of models
    return page


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_cell_of_the_matrix_shows_its_pairs_page_by_page_and_one_opens_in_probe(
    comparing: Page, second: str, theme: str
) -> None:
    page = comparing
    if theme == "dark":
        visit(page, f"measure?view=compare&__theme=dark&models=minilm,{second}")
    give(page, EXAMPLES / "mnli_form.tsv")
    page.locator("#compare").click()
    expect(page.locator("#compare-rows")).to_be_visible(timeout=SLOW)
    expect(page.locator("#compare-files a").first).to_be_visible()
    expect(page.locator("#compare-numbers")).to_contain_text("Exact McNemar test: p")
    cell = page.locator("#compare-matrix button[data-cell]:enabled").first
    count = int(cell.inner_text())
    cell.press("Enter")  # a cell is reached without a mouse
    shown = page.locator("#compare-cell tbody tr")
    expect(shown).to_have_count(min(count, 20), timeout=SLOW)
    is_accessible(page, [["#compare-results"]])
    expect(page.get_by_text(BEFORE)).to_be_hidden()
    page.evaluate(BRIGHTENED)
    page.locator("#texts").get_by_label("The app's").check()
    expect(page.get_by_text(BEFORE)).to_be_visible()
    is_accessible(page, [["#compare-results"]])
    fits_a_phone(page)
    if theme == "dark":
        premise = shown.first.locator("td").first.inner_text()
        visit(page, shown.first.get_by_role("link").first.get_attribute("href") or "")
        expect(page.locator("#text-1 textarea")).to_have_value(premise, timeout=SLOW)
        return
    page.locator("#compare").click()
    page.wait_for_function("window.brightened !== undefined", timeout=SLOW)
    assert "rows, " in page.evaluate("window.brightened")
    turned = page.locator("#compare-cell")
    expect(turned).to_contain_text("pairs, page 1 of", timeout=SLOW)
    first = shown.first.inner_text()
    turned.get_by_role("button", name="Next").click()
    expect(turned).to_contain_text("pairs, page 2 of", timeout=SLOW)
    expect(shown.first).not_to_have_text(first)


def test_one_pair_is_answered_in_sight_and_dimmed_until_what_stands_there_is_answered(
    comparing: Page,
) -> None:
    page, stale, text = (
        comparing,
        comparing.locator(".stale#compare-results"),
        comparing.locator("#one-2"),
    )
    page.set_viewport_size(WIDE)
    page.locator("#texts").get_by_label("One pair").check()
    page.locator("#compare").click()
    expect(page.locator("#compare-tiles .beside section")).to_have_count(2, timeout=SLOW)
    expect(page.locator("#compare-tiles .token").first).to_be_visible()
    assert bottom_of(page, "#compare-say") < WIDE["height"]
    expect(stale).to_have_count(0)
    page.get_by_role("button", name="How they are read").click()
    text.locator("textarea").fill("Nobody knows.")
    expect(stale).to_have_count(1)
    release = hold_questions(page)
    page.locator("#compare").click()
    text.locator("textarea").fill("Somebody does.")
    release()
    expect(page.locator("#compare-tiles")).to_contain_text("Nobody", timeout=SLOW)
    expect(stale).to_have_count(1)
    page.locator("#measure-models input").press("Backspace")  # takes the last model away
    expect(stale).to_have_count(1)


def test_a_link_that_says_on_what_compares_at_once_until_it_is_stopped(
    page: Page, app: App, second: str
) -> None:
    visit(page, f"measure?view=compare&models=minilm,{second}&on=bundled")
    expect(page.locator("#compare")).to_be_disabled(timeout=SLOW)
    page.locator("#compare-halt").click()
    expect(page.locator("#compare-progress")).to_contain_text("Stopped", timeout=SLOW)
    expect(page.locator("#compare")).to_be_enabled()
    expect(page.locator("#compare-halt")).to_be_hidden()
    visit(page, "measure?view=compare&models=minilm,gone")
    told = page.get_by_role("alert").filter(has_text="names the model 'gone'")
    expect(told).to_be_visible(timeout=SLOW)


def test_the_hans_profile_is_run_from_the_page(page: Page, second: str) -> None:
    visit(page, f"measure?view=checkup&models=minilm,{second}")
    page.get_by_label("Pairs for each sub-case").fill("2")
    page.locator("#hans-run").click()
    expect(page.locator("#hans-cases tbody tr")).to_have_count(30, timeout=SLOW)
    expect(page.locator("#hans-verdicts")).to_contain_text("too few to tell")


def test_a_check_up_is_begun_stopped_taken_up_again_and_taken_away(newcomer: Page) -> None:
    page, long, shown = newcomer, 4 * SLOW, newcomer.locator("#checkup-results")  # forty parts
    visit(page, "measure?view=checkup")
    estimate = page.locator("#checkup-estimate")
    expect(estimate).to_contain_text("MiniLM on the app's examples", timeout=long)
    page.locator("#measure-models .token-remove").first.click()
    page.locator("#measure-models input").fill("Decomposable")
    page.get_by_role("option", name="Decomposable Attention").click()
    page.locator("#checkup-n input[type=number]").fill("2")
    page.locator("#checkup-n input[type=number]").press("Tab")
    expect(estimate).to_contain_text(
        re.compile("Decomposable Attention.* of which 2 are changed"), timeout=long
    )
    page.locator("#checkup-start").click()
    page.locator("#checkup-runs .stop").click(timeout=long)
    expect(page).to_have_title(re.compile("^Stopped: Check-up of"), timeout=SLOW)
    page.locator("#checkup-runs .again").click(timeout=long)
    expect(shown).to_contain_text("The sub-cases of HANS", timeout=long)
    said = re.compile(r"^Decomposable Attention is right on \d+ % of 600")
    expect(shown.locator(".say")).to_contain_text(said)
    assert shown.locator(".glance").count() == 5
    expect(shown.locator(".title", has_text="What it is bad at")).to_be_visible()
    expect(shown.locator(".reliability svg")).to_be_hidden()
    shown.locator("summary", has_text="how sure it is").click()
    expect(shown.locator(".reliability svg")).to_be_visible()
    page.locator("#checkup-take").click()
    files = page.locator("#checkup-files")
    for name in ("report.html", "report.json"):
        expect(files).to_contain_text(name.split(".")[0], timeout=SLOW)
        expect(files.locator(f"a[href*='{name}']").first).to_be_attached()
    looks_well_by_day_and_by_night(page, [["#checkup"]])
