"""The Inoculate tab in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from finetune.report.gallery import shown_runs
from tests.conftest import App
from tests.support.browser import SLOW, fits_a_phone, is_accessible, open_tab
from tests.support.running_app import add_model

pytestmark = pytest.mark.browser


def test_a_newcomer_sees_the_gallerys_curves_at_once(newcomer: Page) -> None:
    open_tab(newcomer, "Inoculate")
    shown = {run.plan.challenge for run in shown_runs()}
    if not shown:
        pytest.skip("the gallery is empty")
    expect(newcomer.locator("#curve svg")).to_have_count(len(shown), timeout=SLOW)
    expect(newcomer.locator("#outcome h2")).to_contain_text("utcome")


def test_a_sweep_of_two_models_is_compared_drawn_and_taken_away(
    newcomer: Page, app: App, second: str
) -> None:
    add_model(app, "tiny-third")
    newcomer.goto(f"{app.url}?tab=inoculate")
    newcomer.locator("#models .token-remove").first.click(timeout=SLOW)
    for name in (second, "tiny-third"):
        newcomer.locator("#models input").first.click()
        newcomer.get_by_role("option", name=name, exact=True).click()
    newcomer.keyboard.press("Escape")
    newcomer.locator("#sizes textarea, #sizes input").first.fill("5")
    expect(newcomer.locator("#estimate")).to_contain_text("2 runs: about", timeout=SLOW)
    newcomer.locator("#inoculate").click()
    expect(newcomer.locator("#run-state")).to_contain_text("of 2", timeout=SLOW)
    expect(newcomer.locator("#compared tbody tr")).to_have_count(2, timeout=4 * SLOW)
    newcomer.locator("#compared button[data-cell]").last.press("Enter")
    expect(newcomer.locator("#compared tr.opened td").nth(1)).to_have_text(
        "tiny-third", timeout=SLOW
    )
    expect(newcomer.locator("#outcome")).to_contain_text("word_overlap on tiny-third")
    expect(newcomer.locator("#curve .legend")).to_contain_text("tiny-third")
    newcomer.locator("#take").click()
    expect(newcomer.locator("#run-files")).to_contain_text("report", timeout=SLOW)
    parts = [["#curve"], ["#compared"], ["#outcome"], ["#samples"], ["#estimate"]]
    is_accessible(newcomer, parts)
    fits_a_phone(newcomer)


def test_a_wrong_plan_is_answered_by_a_sentence_and_nothing_typed_is_lost(page: Page) -> None:
    open_tab(page, "Inoculate")
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


def test_a_transform_leads_to_an_inoculation_against_it(newcomer: Page, app: App) -> None:
    newcomer.goto(f"{app.url}?premise=Snow+fell.&hypothesis=It+snowed.&transforms=negation")
    newcomer.locator("#rows .result summary").first.click(timeout=SLOW)
    newcomer.get_by_role("link", name="Inoculate against this").click()
    expect(newcomer.locator("#samples")).to_contain_text("5 pairs of negation.", timeout=SLOW)
    expect(newcomer.locator("#estimate")).to_contain_text("about", timeout=SLOW)
    expect(newcomer.locator("#challenges")).to_contain_text("negation")
    expect(newcomer.locator("#challenges")).not_to_contain_text("word_overlap")
    expect(newcomer.locator("#outcome")).to_contain_text("negation on minilm", timeout=SLOW)


def test_a_run_survives_a_reload_of_the_page(newcomer: Page) -> None:
    open_tab(newcomer, "Inoculate")
    newcomer.locator("#sizes textarea, #sizes input").first.fill("5")
    newcomer.locator("#inoculate").click()
    expect(newcomer.locator("#run-state")).to_contain_text("of 2 cells", timeout=SLOW)
    newcomer.reload()
    open_tab(newcomer, "Inoculate")
    expect(newcomer.locator("#run-state")).to_contain_text("of 2 cells", timeout=SLOW)
    newcomer.locator("#cancel").click()
    expect(newcomer.locator("#run-state")).to_contain_text("cancelled", timeout=SLOW)
