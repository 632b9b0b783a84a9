"""Generalise in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.pages.browser import (
    SLOW,
    are_in_sight,
    fits_a_phone,
    is_accessible,
    stand_in_turn_on_a_phone,
    visit,
)
from tests.support.runs.condition_files import written

pytestmark = pytest.mark.browser
MEASURED = 4 * SLOW
"""Milliseconds: the speed of training is measured once, and estimates wait for one another."""
HEAT = "#generalise-results .heat"


def test_a_newcomer_sees_a_finished_run_and_the_form_in_sight(newcomer: Page) -> None:
    visit(newcomer, "train?aim=generalise")
    expect(newcomer.locator("#generalise-estimate")).to_contain_text("trainings", timeout=MEASURED)
    expect(newcomer.locator("#generalise-results .say")).to_contain_text("MiniLM", timeout=SLOW)
    say = "#generalise-results .say"
    are_in_sight(newcomer, "#generalise-samples", "#generalise-start", HEAT, say)
    stand_in_turn_on_a_phone(newcomer, "#generalise-new", "#generalise-results")


def test_a_figure_of_the_heat_map_shows_its_curve(newcomer: Page) -> None:
    visit(newcomer, "train?aim=generalise")
    newcomer.locator(f"{HEAT} tbody tr", has_text="Medium").locator("button").first.click()
    opened = newcomer.locator("#generalise-results .panel.opened")
    expect(opened).to_be_visible(timeout=SLOW)
    expect(opened.locator("h4")).to_have_text("Trained on: Medium")


def test_another_rule_judges_the_shown_run_anew(newcomer: Page) -> None:
    visit(newcomer, "train?aim=generalise")
    badge = newcomer.locator("#generalise-results .badge").first
    expect(badge).to_have_text("learnt the skill", timeout=SLOW)
    rule = newcomer.locator("#generalise-results input[data-rule]").first
    rule.fill("2")
    rule.press("Tab")
    expect(badge).to_have_text("learnt the set, not the skill", timeout=SLOW)
    expect(newcomer.locator("#generalise-results")).to_contain_text("Stored with the run")
    expect(rule).to_be_focused()


def test_a_tiny_run_ends_in_a_result_that_a_link_opens_again(newcomer: Page, second: str) -> None:
    visit(newcomer, f"train?aim=generalise&model={second}")
    expect(newcomer.locator("#generalise-model input")).to_have_value(second, timeout=SLOW)
    newcomer.locator("#generalise-settings > button").click()
    sizes = newcomer.locator("#generalise-sizes")
    expect(sizes.locator(".token").first).to_be_visible(timeout=SLOW)  # the fold opens first
    while sizes.locator(".token").count():
        sizes.locator(".token-remove").first.click()
    sizes.locator("input").fill("8")
    sizes.locator("input").press("Enter")
    newcomer.keyboard.press("Escape")
    newcomer.locator("#generalise-repeats input").fill("1")
    newcomer.get_by_label("Learning rates").fill("1e-3")
    newcomer.get_by_label("Learning rates").press("Tab")
    expect(newcomer.locator("#generalise-estimate")).to_contain_text(
        "for 3 trainings", timeout=MEASURED
    )
    newcomer.locator("#generalise-start").click()
    expect(newcomer.locator("#generalise-progress")).to_contain_text(second, timeout=MEASURED)
    expect(newcomer.locator("#generalise-results .badge").first).to_be_visible(timeout=10 * SLOW)
    expect(newcomer.locator(f"{HEAT} tbody tr")).to_have_count(3)
    expect(newcomer.locator("#generalise-results")).to_contain_text("One repeat; 8 examples")
    is_accessible(newcomer, [["#generalise"]])
    fits_a_phone(newcomer)
    newcomer.locator("#generalise-share").click()
    link = newcomer.locator("#generalise-link textarea, #generalise-link input").first
    expect(link).to_have_value(re.compile("aim=generalise.*run="), timeout=SLOW)
    visit(newcomer, link.input_value())
    expect(newcomer.locator("#generalise-results")).to_contain_text(
        "One repeat; 8 examples", timeout=SLOW
    )


def test_a_wrong_form_is_answered_by_a_sentence(newcomer: Page) -> None:
    visit(newcomer, "train?aim=generalise")
    expect(newcomer.locator("#generalise-estimate")).to_contain_text("trainings", timeout=MEASURED)
    newcomer.locator("#generalise-settings > button").click()
    newcomer.locator("#generalise-repeats input").fill("0")
    newcomer.locator("#generalise-repeats input").press("Tab")
    newcomer.locator("#generalise-start").click()
    told = newcomer.locator("#generalise-problem [role=alert]")
    expect(told).to_contain_text("Repeats must be a whole number from 1 to 20", timeout=SLOW)
    expect(newcomer.locator("#generalise-repeats input")).to_have_value("0")


def test_another_task_asks_for_a_file_and_counts_its_kinds(newcomer: Page, tmp_path: Path) -> None:
    visit(newcomer, "train?aim=generalise&task=sentiment")
    expect(newcomer.locator("#generalise-file")).to_be_visible(timeout=SLOW)
    expect(newcomer.locator("#generalise-vary")).to_be_hidden()
    empty = newcomer.locator("#generalise-results .empty")
    expect(empty).to_contain_text("a table of your own", timeout=SLOW)
    expect(newcomer.locator("#generalise-shown .unseen")).to_be_hidden()
    visit(newcomer, "train?aim=generalise")
    expect(newcomer.locator("#generalise-vary")).to_be_visible(timeout=SLOW)
    expect(newcomer.locator("#generalise-file")).to_be_hidden()
    newcomer.get_by_role("radio", name="From your own file").check()
    expect(newcomer.locator("#generalise-file")).to_be_visible(timeout=SLOW)
    path = written(tmp_path / "mine.csv", {"news": 12, "novels": 9})
    newcomer.locator("#generalise-file input[type=file]").set_input_files(path)
    shown = newcomer.locator("#generalise-samples")
    expect(shown).to_contain_text("2 kinds of rows: news 12, novels 9.", timeout=SLOW)
    expect(newcomer.locator("#generalise-column input")).to_have_value("genre")
    is_accessible(newcomer, [["#generalise"]])
