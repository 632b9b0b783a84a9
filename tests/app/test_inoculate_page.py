"""Inoculate in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from finetune.report.inoculation import shown_runs
from probe.tasks.nli import NLI
from tests.conftest import App
from tests.support.pages.browser import (
    SLOW,
    are_in_sight,
    fits_a_phone,
    is_accessible,
    show_examples,
    stand_in_turn_on_a_phone,
    visit,
)
from tests.support.processes.running_app import add_model

pytestmark = pytest.mark.browser
MEASURED = 4 * SLOW
"""Milliseconds: the speed of training is measured once, and estimates wait for one another."""


def test_a_newcomer_sees_the_gallerys_curves_at_once(newcomer: Page) -> None:
    visit(newcomer, "train")
    shown = {run.plan.challenge for run in shown_runs() if run.plan.task == NLI.name}
    assert shown
    expect(newcomer.locator("#curve svg")).to_have_count(len(shown), timeout=SLOW)
    expect(newcomer.locator("#outcome h2")).to_contain_text("utcome")


def test_the_plan_its_start_and_the_first_curves_are_in_sight(newcomer: Page) -> None:
    visit(newcomer, "train")
    expect(newcomer.locator("#estimate")).to_contain_text("trainings", timeout=MEASURED)
    parts = ("#models", "#samples", "#inoculate", "#inoculate-say", "#curve .panel")
    are_in_sight(newcomer, *parts)
    stand_in_turn_on_a_phone(newcomer, "#new-run", "#curve")


def test_another_task_offers_its_own_models_challenges_and_ready_made_runs(newcomer: Page) -> None:
    visit(newcomer, "train?task=paraphrase")
    expect(newcomer.locator("#curve")).to_contain_text("Same words, other order", timeout=SLOW)
    expect(newcomer.locator("#models")).to_contain_text("minilm_qqp", timeout=SLOW)
    is_accessible(newcomer, [["#inoculation"]])


def test_the_ready_made_runs_follow_a_model_that_is_typed(newcomer: Page) -> None:
    visit(newcomer, "train")
    expect(newcomer.locator("#models")).to_contain_text("minilm", timeout=SLOW)
    expect(newcomer.locator("#curve .panel").first).to_be_visible(timeout=SLOW)
    shown = newcomer.locator("#inoculation-results").get_by_label("ESIM", exact=True)
    expect(shown).not_to_be_checked()
    newcomer.locator("#models input").press_sequentially("esim")
    newcomer.keyboard.press("Enter")
    expect(shown).to_be_checked(timeout=SLOW)


def test_a_sweep_of_two_models_is_compared_drawn_and_taken_away(
    newcomer: Page, app: App, second: str
) -> None:
    add_model(app, "tiny-third")
    visit(newcomer, "train")
    expect(newcomer.locator("#estimate")).to_contain_text("About", timeout=MEASURED)
    newcomer.locator("#models .token-remove").first.click()
    for name in (second, "tiny-third"):
        newcomer.locator("#models input").first.click()
        newcomer.get_by_role("option", name=name, exact=True).click()
    newcomer.keyboard.press("Escape")
    show_examples(newcomer, "5")
    expect(newcomer.locator("#estimate")).to_contain_text("2 runs: about", timeout=MEASURED)
    newcomer.locator("#inoculate").click()
    expect(newcomer.locator("#run-state")).to_contain_text("of 1 trainings", timeout=SLOW)
    expect(newcomer.locator("#compared .outcomes tbody tr")).to_have_count(2, timeout=10 * SLOW)
    newcomer.locator("#compared details.twin > summary").last.click()
    pressed = newcomer.locator("#compared button[data-cell]").last
    pressed.press("Enter")
    expect(newcomer.locator("#compared tr.opened td").nth(1)).to_have_text(
        "tiny-third", timeout=SLOW
    )
    expect(newcomer.locator("#outcome")).to_contain_text("word_overlap on tiny-third")
    expect(pressed).to_be_focused()
    expect(newcomer.locator("#curve .legend")).to_contain_text("accuracy on the challenge")
    newcomer.locator("#take").click()
    expect(newcomer.locator("#run-files")).to_contain_text("report", timeout=SLOW)
    is_accessible(newcomer, [["#inoculation"]])
    fits_a_phone(newcomer)


def test_readers_are_shown_distractors_and_trained_as_published(page: Page) -> None:
    visit(page, "train?task=reading")
    expect(page.locator("#challenges")).to_contain_text("Add a false look-alike", timeout=SLOW)
    expect(page.locator("#samples")).to_contain_text("four more", timeout=SLOW)
    expect(page.locator("#sizes .token")).to_have_text(["5", "10", "all"])
    expect(page.locator("#mode")).to_be_hidden()


def test_a_wrong_plan_is_answered_by_a_sentence_and_nothing_typed_is_lost(page: Page) -> None:
    visit(page, "train")
    show_examples(page, "5, many")
    page.locator("#inoculate").click()
    told = page.locator("#inoculate-problem [role=alert]")
    expect(told).to_contain_text("Examples '5, many' is not a list of numbers", timeout=SLOW)
    expect(page.locator("#sizes .token")).to_have_text("5, many")


def test_a_link_to_a_run_that_is_somebody_elses_says_so(page: Page) -> None:
    visit(page, "train?run=0123456789ab")
    told = page.locator("#inoculate-problem [role=alert]")
    expect(told).to_contain_text("there is no run '0123456789ab' here", timeout=SLOW)


def test_a_transform_leads_to_an_inoculation_against_it(newcomer: Page) -> None:
    visit(newcomer, "./?premise=Snow+fell.&hypothesis=It+snowed.&transforms=negation")
    newcomer.locator("#rows .result summary").first.click(timeout=SLOW)
    newcomer.get_by_role("link", name="Inoculate against this").click()
    expect(newcomer.locator("#samples")).to_contain_text("5 pairs of negation.", timeout=SLOW)
    expect(newcomer.locator("#estimate")).to_contain_text("About", timeout=MEASURED)
    expect(newcomer.locator("#challenges")).to_contain_text("negation")
    expect(newcomer.locator("#challenges")).not_to_contain_text("word_overlap")
    expect(newcomer.locator("#outcome")).to_contain_text("negation on minilm", timeout=SLOW)


def test_a_run_survives_a_reload_of_the_page(newcomer: Page) -> None:
    visit(newcomer, "train")
    show_examples(newcomer, "400")  # which takes longer than a reload
    newcomer.locator("#inoculate").click()
    expect(newcomer.locator("#run-state")).to_contain_text("of 1 trainings", timeout=SLOW)
    newcomer.reload()
    expect(newcomer.locator("#run-state")).to_contain_text("of 1 trainings", timeout=SLOW)
    newcomer.locator("#cancel").click()
    expect(newcomer.locator("#run-state")).to_contain_text("Stopped", timeout=SLOW)
