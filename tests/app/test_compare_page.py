"""Compare in a real browser, light and dark."""

import pytest
from playwright.sync_api import Page, expect

from probe.settings import ASSETS
from tests.conftest import App
from tests.support.pages.browser import (
    SETTLED,
    SLOW,
    fits_a_phone,
    hold_questions,
    is_accessible,
    visit,
)

pytestmark = pytest.mark.browser
BEFORE = "These results are of what was chosen before."
BRIGHTENED = """() => {
  const results = document.getElementById("compare-results");
  new MutationObserver(() => {
    if (!results.classList.contains("stale"))
      window.brightened ??= document.getElementById("compare-progress").innerText;
  }).observe(results, { attributeFilter: ["class"] });
}"""
"""Notes how far a comparison is when its results are dimmed no longer."""


@pytest.fixture
def comparing(page: Page, second: str) -> Page:
    """The Compare tab with two models, opened by a link."""
    visit(page, f"measure?view=compare&models=minilm,{second}")
    expect(page.locator("#compare")).to_be_visible(timeout=SLOW)
    expect(page.locator("#measure-models")).to_contain_text(second, timeout=SLOW)
    page.evaluate(SETTLED)  # the link's other fields are filled after the list of models
    return page


def compare_file(page: Page) -> None:
    """Compare on the smallest example and wait for the end."""
    page.locator("#texts").get_by_label("A file").check()
    upload = page.locator("#upload input[type=file]").first
    upload.set_input_files(str(ASSETS / "examples" / "mnli_form.tsv"))
    expect(page.locator("#upload-preview table")).to_be_visible(timeout=SLOW)
    page.locator("#compare").click()
    expect(page.locator("#compare-rows")).to_be_visible(timeout=SLOW)


def test_a_cell_of_the_matrix_shows_its_pairs_and_one_opens_in_probe(comparing: Page) -> None:
    page = comparing
    compare_file(page)
    expect(page.locator("#compare-files a").first).to_be_visible(timeout=SLOW)
    expect(page.locator("#compare-files [aria-label='Remove this file']").first).to_be_hidden()
    cell = page.locator("#compare-matrix button[data-cell]:enabled").first
    expect(page.locator("#compare-numbers")).to_contain_text("Exact McNemar test: p")
    count = int(cell.inner_text())
    cell.press("Enter")  # a cell is reached without a mouse
    shown = page.locator("#compare-cell tbody tr")
    expect(shown).to_have_count(min(count, 20), timeout=SLOW)
    premise = shown.first.locator("td").first.inner_text()
    visit(page, (shown.first.get_by_role("link").first.get_attribute("href") or ""))
    expect(page.locator("#text-1 textarea")).to_have_value(premise, timeout=SLOW)


def test_a_link_that_says_on_what_compares_at_once(page: Page, second: str) -> None:
    texts = "premise=A+dog+barks.&hypothesis=A+dog+is+loud."
    visit(page, f"measure?view=compare&models=minilm,{second}&on=one&{texts}")
    expect(page.locator("#compare-tiles .beside section")).to_have_count(2, timeout=SLOW)
    expect(page.locator("#compare-say")).not_to_be_empty()


def test_the_pairs_are_turned_over(page: Page, second: str) -> None:
    visit(page, f"measure?view=compare&models=minilm,{second}&on=bundled")
    pager = page.locator("#compare-pager")
    expect(pager).to_contain_text("pairs, page 1 of", timeout=SLOW)
    first = page.locator("#compare-cell tbody tr").first.inner_text()
    pager.get_by_role("button", name="Next").click()
    expect(pager).to_contain_text("pairs, page 2 of", timeout=SLOW)
    expect(page.locator("#compare-cell tbody tr").first).not_to_have_text(first)
    pager.get_by_role("button", name="Previous").click()
    expect(pager).to_contain_text("pairs, page 1 of", timeout=SLOW)


def test_results_begin_within_the_first_screen(comparing: Page) -> None:
    comparing.set_viewport_size({"width": 1280, "height": 800})
    comparing.locator("#texts").get_by_label("One pair").check()
    comparing.locator("#compare").click()
    expect(comparing.locator("#compare-tiles .beside section")).to_have_count(2, timeout=SLOW)
    box = comparing.locator("#compare-say").bounding_box()
    assert box and box["y"] + box["height"] < 800


def test_one_pair_is_explained_for_each_model_and_dimmed_once_a_model_is_gone(
    comparing: Page,
) -> None:
    comparing.locator("#texts").get_by_label("One pair").check()
    expect(comparing.get_by_text(BEFORE)).to_be_hidden()
    comparing.locator("#compare").click()
    expect(comparing.locator("#compare-tiles .beside section")).to_have_count(2, timeout=SLOW)
    expect(comparing.locator("#compare-tiles .token").first).to_be_visible()
    expect(comparing.locator("#compare-results.stale")).to_have_count(0)
    comparing.locator("#measure-models input").press("Backspace")  # takes the last model away
    expect(comparing.locator("#compare-results.stale")).to_have_count(1)


def test_results_are_dimmed_until_what_stands_there_is_answered(comparing: Page) -> None:
    stale, second = (
        comparing.locator("#compare-results.stale"),
        comparing.locator("#one-2"),
    )
    comparing.locator("#texts").get_by_label("One pair").check()
    comparing.locator("#compare").click()
    expect(comparing.locator("#compare-tiles .token").first).to_be_visible(timeout=SLOW)
    release = hold_questions(comparing)
    comparing.locator("#compare").click()
    expect(stale).to_have_count(1)
    release()
    expect(stale).to_have_count(0, timeout=SLOW)
    second.locator("textarea").fill("Nobody knows.")
    expect(stale).to_have_count(1)
    release = hold_questions(comparing)
    comparing.locator("#compare").click()
    second.locator("textarea").fill("Somebody does.")
    release()
    expect(comparing.locator("#compare-tiles")).to_contain_text("Nobody", timeout=SLOW)
    expect(stale).to_have_count(1)


def test_the_first_figures_of_a_comparison_are_not_dimmed(comparing: Page) -> None:
    compare_file(comparing)
    comparing.locator("#texts").get_by_label("The app's").check()
    expect(comparing.locator("#compare-results.stale")).to_have_count(1)
    comparing.evaluate(BRIGHTENED)
    comparing.locator("#compare").click()
    comparing.wait_for_function("window.brightened !== undefined", timeout=SLOW)
    assert "rows, " in comparing.evaluate("window.brightened")
    expect(comparing.locator("#compare-files a").first).to_be_visible(timeout=SLOW)


def test_what_is_compared_is_not_begun_again_until_it_is_stopped(page: Page, second: str) -> None:
    visit(page, f"measure?view=compare&models=minilm,{second}&on=bundled")
    expect(page.locator("#compare")).to_be_disabled(timeout=SLOW)
    page.locator("#compare-halt").click()
    expect(page.locator("#compare-progress")).to_contain_text("Stopped", timeout=SLOW)
    expect(page.locator("#compare")).to_be_enabled()
    expect(page.locator("#compare-halt")).to_be_hidden()


def test_the_hans_profile_is_run_from_the_page(page: Page, second: str) -> None:
    visit(page, f"measure?view=checkup&models=minilm,{second}")
    page.get_by_label("Pairs for each sub-case").fill("2")
    page.locator("#hans-run").click()
    expect(page.locator("#hans-cases tbody tr")).to_have_count(30, timeout=SLOW)
    expect(page.locator("#hans-verdicts")).to_contain_text("too few to tell")


def test_a_link_to_a_model_that_is_gone_says_so(page: Page) -> None:
    visit(page, "measure?view=compare&models=minilm,gone")
    told = page.get_by_role("alert").filter(has_text="names the model 'gone'")
    expect(told).to_be_visible(timeout=SLOW)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_compared_tables_have_no_serious_accessibility_fault(
    page: Page, app: App, second: str, theme: str
) -> None:
    visit(page, f"measure?view=compare&__theme={theme}&models=minilm,{second}")
    compare_file(page)
    page.locator("#compare-matrix button[data-cell]:enabled").first.click()
    expect(page.locator("#compare-cell tbody tr").first).to_be_visible(timeout=SLOW)
    parts = [
        [f"#compare-{part}"] for part in ("say", "tiles", "parts", "matrix", "rows", "numbers")
    ]
    is_accessible(page, parts)
    expect(page.get_by_text(BEFORE)).to_be_hidden()
    page.locator("#texts").get_by_label("The app's").check()
    expect(page.get_by_text(BEFORE)).to_be_visible()
    is_accessible(page, [["#compare-results"]])
    fits_a_phone(page)
