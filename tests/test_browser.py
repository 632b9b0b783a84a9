"""The page in a real browser: what a newcomer does, wide and narrow, light and dark."""

import os
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from finetune.report.gallery import shown_runs
from probe.baselines import BASELINES
from probe.settings import ASSETS
from probe.templates import kinds
from probe.transforms import REGISTRY
from tests.conftest import App
from tests.support.tiny_bert import tiny_bert

pytestmark = pytest.mark.browser
SLOW = 60_000  # milliseconds; the machine may be busy
BAD = ("serious", "critical")  # of the faults that axe tells apart


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or "/usr/bin/chromium",
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, app: App) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(SLOW)
    opened.goto(app.url)
    expect(opened.locator(".answer")).to_be_visible(timeout=SLOW)
    yield opened
    context.close()


def fits_a_phone(page: Page) -> None:
    """Check that nothing makes the page scroll sideways on a phone."""
    page.set_viewport_size({"width": 375, "height": 800})
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def is_accessible(page: Page, parts: list[list[str]]) -> None:
    """Check that axe finds no serious fault in these parts of the page."""
    found = Axe().run(page, context={"include": parts})
    serious = [fault for fault in found.response["violations"] if fault["impact"] in BAD]
    assert not serious, [(fault["id"], [n["html"] for n in fault["nodes"]]) for fault in serious]


@pytest.fixture(scope="module")
def second(app: App) -> str:
    """A tiny model beside the bundled one."""
    folder_of_models, name = app.home / "models", "tiny-beside"
    folder_of_models.mkdir(exist_ok=True)
    if not (folder_of_models / name).exists():
        tiny_bert(app.home / "unready").rename(folder_of_models / name)
    return name


def test_the_first_page_shows_an_example_predicted_and_explained(page: Page) -> None:
    expect(page.locator("#answer .token").first).to_be_visible()
    expect(page.locator("#rows .row")).to_have_count(4, timeout=SLOW)


def test_the_page_keeps_its_place_from_tab_to_tab(page: Page) -> None:
    tabs, places = page.get_by_role("tab").all(), []
    for tab in tabs:
        tab.click()
        page.wait_for_timeout(300)
        places.append(page.locator(".masthead h1").bounding_box())
    assert len(tabs) > 2
    assert places == [places[0]] * len(tabs)


def test_typing_updates_the_page_without_a_click(page: Page) -> None:
    page.locator("#hypothesis textarea").fill("The country adopted three constitutions.")
    expect(page.locator("#rows")).to_contain_text("constitutions", timeout=SLOW)
    expect(page.locator("#answer .tokens").last).to_contain_text("adopted")


def test_what_a_person_types_is_never_markup(page: Page) -> None:
    page.locator("#hypothesis textarea").fill("<img src=x onerror=\"document.title='hit'\"> ok")
    expect(page.locator("#rows")).to_contain_text("onerror", timeout=SLOW)
    assert page.locator("#answer img, #rows img").count() == 0
    assert page.title() == "NLI Clinic"


def test_an_empty_side_is_answered_by_a_sentence_and_the_text_stays(page: Page) -> None:
    page.locator("#hypothesis textarea").fill("")
    expect(page.locator("#answer [role=alert]")).to_have_text("the hypothesis is empty")
    assert page.locator("#premise textarea").input_value()


def test_all_transforms_come_in_one_sortable_table(page: Page) -> None:
    page.get_by_label("All transforms in one table").check()
    table = page.locator("#rows table")
    expect(table).to_be_visible(timeout=SLOW)
    table.get_by_role("button", name="confidence").click()
    shown = [float(text) for text in table.locator("tbody td:nth-child(3)").all_inner_texts()]
    assert len(shown) >= 8
    assert shown == sorted(shown)


def test_a_permalink_opens_the_same_pair(page: Page, app: App) -> None:
    page.goto(f"{app.url}?premise=Snow+fell.&hypothesis=It+snowed.&transforms=reverse&seed=4")
    expect(page.locator("#rows .row")).to_have_count(1, timeout=SLOW)
    assert page.locator("#premise textarea").input_value() == "Snow fell."
    expect(page.locator("#rows")).to_contain_text("snowed it")


def test_a_file_is_scored_from_the_page(page: Page) -> None:
    page.get_by_role("tab", name="Batch").click()
    upload = page.locator("#upload input[type=file]").first
    upload.set_input_files(str(ASSETS / "examples" / "mnli_form.tsv"))
    expect(page.locator("#preview table")).to_be_visible(timeout=SLOW)
    page.locator("#score").click()
    expect(page.locator("#files")).to_contain_text("mnli_form-scored", timeout=SLOW)
    expect(page.locator("#batch-cards")).to_contain_text("39 of 40")
    expect(page.locator("#lines")).to_contain_text("the hypothesis is empty")
    fits_a_phone(page)


def test_a_newcomer_sees_the_gallerys_curves_at_once(page: Page) -> None:
    page.get_by_role("tab", name="Inoculate").click()
    shown = {run.plan.challenge for run in shown_runs()}
    if not shown:
        pytest.skip("the gallery is empty")
    expect(page.locator("#curve svg")).to_have_count(len(shown), timeout=SLOW)
    expect(page.locator("#outcome h2")).to_contain_text("utcome")


def test_a_sweep_of_two_models_is_compared_drawn_and_taken_away(
    page: Page, app: App, second: str
) -> None:
    tiny_bert(app.home / "unready").rename(app.home / "models" / "tiny-third")
    page.goto(f"{app.url}?tab=inoculate")
    page.locator("#models .token-remove").first.click(timeout=SLOW)
    for name in (second, "tiny-third"):
        page.locator("#models input").first.click()
        page.get_by_role("option", name=name, exact=True).click()
    page.keyboard.press("Escape")
    page.locator("#sizes textarea, #sizes input").first.fill("5")
    expect(page.locator("#estimate")).to_contain_text("2 runs: about", timeout=SLOW)
    page.locator("#inoculate").click()
    expect(page.locator("#run-state")).to_contain_text("of 2", timeout=SLOW)
    expect(page.locator("#compared tbody tr")).to_have_count(2, timeout=4 * SLOW)
    page.locator("#compared button[data-cell]").last.press("Enter")
    expect(page.locator("#compared tr.opened td").nth(1)).to_have_text("tiny-third", timeout=SLOW)
    expect(page.locator("#outcome")).to_contain_text("word_overlap on tiny-third")
    expect(page.locator("#curve .legend")).to_contain_text("tiny-third")
    page.locator("#take").click()
    expect(page.locator("#run-files")).to_contain_text("report", timeout=SLOW)
    parts = [["#curve"], ["#compared"], ["#outcome"], ["#samples"], ["#estimate"]]
    is_accessible(page, parts)
    fits_a_phone(page)


def test_a_wrong_plan_is_answered_by_a_sentence_and_nothing_typed_is_lost(page: Page) -> None:
    page.get_by_role("tab", name="Inoculate").click()
    sizes = page.locator("#sizes textarea, #sizes input").first
    sizes.fill("5, many")
    page.locator("#inoculate").click()
    told = page.locator("#inoculate-problem [role=alert]")
    expect(told).to_contain_text("Sizes '5, many' is not a list of numbers", timeout=SLOW)
    assert sizes.input_value() == "5, many"


def test_a_link_to_a_run_that_is_somebody_elses_says_so(page: Page, app: App) -> None:
    page.goto(f"{app.url}?tab=inoculate&run=0123456789ab")
    told = page.locator("#inoculate-problem [role=alert]")
    expect(told).to_contain_text("there is no run '0123456789ab' here", timeout=SLOW)


def test_a_transform_leads_to_an_inoculation_against_it(page: Page, app: App) -> None:
    page.goto(f"{app.url}?premise=Snow+fell.&hypothesis=It+snowed.&transforms=negation")
    page.locator("#rows .row summary").first.click(timeout=SLOW)
    page.get_by_role("link", name="Inoculate against this").click()
    expect(page.locator("#samples")).to_contain_text("5 pairs of negation.", timeout=SLOW)
    expect(page.locator("#estimate")).to_contain_text("about", timeout=SLOW)
    expect(page.locator("#challenges")).to_contain_text("negation")
    expect(page.locator("#challenges")).not_to_contain_text("word_overlap")
    expect(page.locator("#outcome")).to_contain_text("negation on minilm", timeout=SLOW)


def test_a_run_survives_a_reload_of_the_page(page: Page) -> None:
    page.get_by_role("tab", name="Inoculate").click()
    page.locator("#sizes textarea, #sizes input").first.fill("5")
    page.locator("#inoculate").click()
    expect(page.locator("#run-state")).to_contain_text("of 2 cells", timeout=SLOW)
    page.reload()
    page.get_by_role("tab", name="Inoculate").click()
    expect(page.locator("#run-state")).to_contain_text("of 2 cells", timeout=SLOW)
    page.locator("#cancel").click()
    expect(page.locator("#run-state")).to_contain_text("cancelled", timeout=SLOW)


def test_the_catalogue_shows_every_transform_with_an_example_and_its_code(page: Page) -> None:
    page.get_by_role("tab", name="Catalogue").click()
    listed = page.locator("#catalogue")
    expect(listed.locator("section").last).to_contain_text("majority", timeout=SLOW)
    names = listed.locator(".entry h3 code").all_inner_texts()
    assert set(names) >= {*REGISTRY, *BASELINES, *kinds()}
    reverse = listed.locator(".entry", has=page.locator("code", has_text="reverse"))
    expect(reverse).to_contain_text("hall large the filled success her and , tickets the sold")
    reverse.get_by_text("code: probe/transforms/families/lexical.py").click()
    expect(reverse.locator("pre")).to_contain_text('@register("reverse"')


def test_pairs_from_templates_are_scored_from_the_page(page: Page) -> None:
    page.get_by_role("tab", name="Batch").click()
    page.get_by_text("Or make pairs from templates").click()
    page.locator("#make-pairs").click()
    expect(page.locator("#columns-guessed")).to_contain_text("300 rows", timeout=SLOW)
    page.locator("#score").click()
    expect(page.locator("#files")).to_contain_text("hans-300-seed-0-scored", timeout=SLOW)
    expect(page.locator("#baselines")).to_contain_text("lexical_overlap")


def test_several_new_pairs_are_several_rows_with_their_gold_labels(page: Page, app: App) -> None:
    pair = "premise=Tim+has+350+stamps.&hypothesis=Tim+collects+stamps."
    page.goto(f"{app.url}?{pair}&transforms=numerical&gold=neutral")
    expect(page.locator("#rows .row")).to_have_count(3, timeout=SLOW)
    rows = page.locator("#rows .row").all_inner_texts()
    for row, label in zip(rows, ("entailment", "contradiction", "neutral"), strict=True):
        assert f"gold label: {label}, " in row


def test_a_chains_steps_can_be_opened(page: Page, app: App) -> None:
    pair = "premise=Snow+fell.&hypothesis=It+snowed+in+May."
    page.goto(f"{app.url}?{pair}&transforms=negation%2Breverse")
    page.locator("#rows .row summary").first.click(timeout=SLOW)
    steps = page.locator("#rows .lineage > li")
    expect(steps).to_have_count(2)
    expect(steps.first).to_contain_text("and false is not true")


@pytest.fixture
def comparing(page: Page, app: App, second: str) -> Page:
    """The Compare tab with two models, opened by a link."""
    page.goto(f"{app.url}?tab=compare&models=minilm,{second}")
    expect(page.locator("#compare")).to_be_visible(timeout=SLOW)
    expect(page.locator("#compare-models")).to_contain_text(second)
    return page


def compare_file(page: Page) -> None:
    """Compare on the smallest example and wait for the end."""
    page.get_by_label("a file").check()
    upload = page.locator("#compare-upload input[type=file]").first
    upload.set_input_files(str(ASSETS / "examples" / "mnli_form.tsv"))
    expect(page.locator("#compare-preview table")).to_be_visible(timeout=SLOW)
    page.locator("#compare").click()
    expect(page.locator("#compare-slices table")).to_be_visible(timeout=SLOW)


def test_a_cell_of_the_matrix_shows_its_pairs_and_one_opens_in_probe(
    comparing: Page, app: App
) -> None:
    page = comparing
    compare_file(page)
    cell = page.locator("#compare-matrix button[data-cell]:enabled").first
    expect(page.locator("#compare-tests")).to_contain_text("Exact McNemar test: p")
    count = int(cell.locator(".number").inner_text())
    cell.press("Enter")  # a cell is reached without a mouse
    shown = page.locator("#compare-cell tbody tr")
    expect(shown).to_have_count(min(count, 20), timeout=SLOW)
    premise = shown.first.locator("td").nth(1).inner_text()
    page.goto(app.url + (shown.first.get_by_role("link").first.get_attribute("href") or ""))
    expect(page.locator("#premise textarea")).to_have_value(premise, timeout=SLOW)


def test_one_pair_is_explained_for_each_model(comparing: Page) -> None:
    comparing.get_by_label("one pair").check()
    comparing.locator("#compare").click()
    expect(comparing.locator("#compare-cards .beside section")).to_have_count(2, timeout=SLOW)
    expect(comparing.locator("#compare-cards .token").first).to_be_visible()


def test_the_hans_profile_is_run_from_the_page(comparing: Page, second: str) -> None:
    comparing.get_by_role("button", name="HANS profile").first.click()
    comparing.get_by_label("Pairs for each sub-case").fill("2")
    comparing.locator("#hans-run").click()
    expect(comparing.locator("#hans-table tbody tr")).to_have_count(6, timeout=SLOW)
    expect(comparing.locator("#hans-verdicts")).to_contain_text("the published profile")


def test_a_link_to_a_model_that_is_gone_says_so(page: Page, app: App) -> None:
    page.goto(f"{app.url}?tab=compare&models=minilm,gone")
    told = page.get_by_role("alert").filter(has_text="there is no model called 'gone' here")
    expect(told).to_be_visible(timeout=SLOW)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_compared_tables_have_no_serious_accessibility_fault(
    page: Page, app: App, second: str, theme: str
) -> None:
    page.goto(f"{app.url}?__theme={theme}&tab=compare&models=minilm,{second}")
    compare_file(page)
    page.locator("#compare-matrix button[data-cell]:enabled").first.click()
    expect(page.locator("#compare-cell tbody tr").first).to_be_visible(timeout=SLOW)
    parts = [[f"#compare-{part}"] for part in ("cards", "tests", "matrix", "cell", "slices")]
    is_accessible(page, parts)
    fits_a_phone(page)


def test_no_tab_is_wider_than_a_phone(page: Page) -> None:
    for tab in ("Probe", "Batch", "Compare", "Inoculate", "Catalogue"):
        page.set_viewport_size({"width": 1280, "height": 900})  # on a phone some are in a menu
        page.get_by_role("tab", name=tab).click()
        fits_a_phone(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_our_own_markup_has_no_serious_accessibility_fault(
    page: Page, app: App, theme: str
) -> None:
    page.goto(f"{app.url}?__theme={theme}")
    expect(page.locator("#rows .row")).to_have_count(4, timeout=SLOW)
    expect(page.locator("#probe-results.stale")).to_have_count(0, timeout=SLOW)
    page.wait_for_timeout(500)  # until what was dimmed is not
    is_accessible(page, [["#header"], ["#answer"], ["#rows"]])
