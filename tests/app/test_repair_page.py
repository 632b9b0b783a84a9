"""Repair in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.pages.browser import (
    SLOW,
    are_in_sight,
    looks_well_by_day_and_by_night,
    stand_in_turn_on_a_phone,
    visit,
)

pytestmark = pytest.mark.browser
MEASURED = 4 * SLOW
"""Milliseconds: the speed of training is measured once, and estimates wait for one another."""
ESTIMATE, RESULTS = "#repair-estimate", "#repair-results"


def test_a_newcomer_sees_the_form_in_sight_and_how_long_it_takes(newcomer: Page) -> None:
    visit(newcomer, "train?aim=repair")
    expect(newcomer.locator(ESTIMATE)).to_contain_text("2 trainings", timeout=MEASURED)
    expect(newcomer.locator(ESTIMATE)).to_contain_text("Compared with: Threshold alone")
    are_in_sight(newcomer, "#repair-method", "#repair-transforms", "#repair-start")
    stand_in_turn_on_a_phone(newcomer, "#repair-new", RESULTS)


def test_a_method_shows_what_belongs_to_it(newcomer: Page) -> None:
    visit(newcomer, "train?aim=repair")
    newcomer.get_by_role("radio", name="Temperature scaling").check()
    expect(newcomer.locator("#repair-about")).to_contain_text("no answer changes", timeout=SLOW)
    expect(newcomer.locator("#repair-transforms")).to_be_hidden()
    newcomer.get_by_role("radio", name="One kind at a time").check()
    expect(newcomer.locator("#repair-transforms")).to_be_visible(timeout=SLOW)
    expect(newcomer.locator(ESTIMATE)).to_contain_text("for 11 trainings", timeout=MEASURED)


def test_another_task_has_its_own_changes_and_examples(newcomer: Page) -> None:
    visit(newcomer, "train?aim=repair&task=sentiment")
    expect(newcomer.locator("#repair-transforms")).to_contain_text("All 7 changes", timeout=SLOW)
    expect(newcomer.locator("#repair-model input")).to_have_value(re.compile("SST-2"))


def test_a_tiny_run_ends_in_a_result_that_a_link_opens_again(newcomer: Page, second: str) -> None:
    visit(newcomer, f"train?aim=repair&model={second}")
    expect(newcomer.locator("#repair-model input")).to_have_value(second, timeout=SLOW)
    taught = newcomer.locator("#repair-transforms")
    for change in ("sort", "reverse"):
        taught.locator("input").fill(change)
        taught.locator("input").press("Enter")
    expect(taught.locator(".token")).to_have_text([re.compile("Sort"), re.compile("Reverse")])
    newcomer.locator("#repair-settings > button").click()
    sizes = newcomer.locator("#repair-sizes")
    sizes.locator(".token-remove").first.click()
    sizes.locator("input").fill("8")
    sizes.locator("input").press("Enter")
    newcomer.keyboard.press("Escape")
    newcomer.get_by_label("Learning rate").fill("1e-3")
    newcomer.get_by_label("Learning rate").press("Tab")
    expect(newcomer.locator(ESTIMATE)).to_contain_text("Learning rate: 0.001", timeout=MEASURED)
    newcomer.locator("#repair-start").click()
    expect(newcomer.locator("#repair-progress")).to_contain_text(second, timeout=MEASURED)
    expect(newcomer.locator(f"{RESULTS} .say")).to_contain_text(
        f"Taught a class “invalid”, {second} finds", timeout=10 * SLOW
    )
    expect(newcomer.locator(f"{RESULTS} .forest .name:visible")).to_have_count(3)
    theirs = newcomer.locator(f"{RESULTS} .forest").get_by_text("97 % found")
    expect(theirs).to_be_hidden()
    newcomer.get_by_role("radio", name="Gupta et al., table 12").check()
    expect(theirs).to_be_visible()
    newcomer.get_by_role("radio", name="Gupta et al., table 12").press("ArrowLeft")
    expect(theirs).to_be_hidden()
    looks_well_by_day_and_by_night(newcomer, [["#repair"]])
    probed = newcomer.locator(f"{RESULTS} a", has_text="Probe the repaired model")
    expect(probed).to_have_attribute("href", re.compile(f"model={second}-invalid-"))
    newcomer.locator("#repair-share").click()
    link = newcomer.locator("#repair-link textarea, #repair-link input").first
    expect(link).to_have_value(re.compile("aim=repair.*run="), timeout=SLOW)
    visit(newcomer, link.input_value())
    expect(newcomer.locator(f"{RESULTS} .say")).to_contain_text("Taught a class", timeout=SLOW)


def test_a_wrong_form_is_answered_by_a_sentence(newcomer: Page) -> None:
    visit(newcomer, "train?aim=repair")
    newcomer.locator("#repair-settings > button").click()
    newcomer.locator("#repair-repeats input").fill("0")
    newcomer.locator("#repair-repeats input").press("Tab")
    newcomer.locator("#repair-start").click()
    told = newcomer.locator("#repair-problem [role=alert]")
    expect(told).to_contain_text("Repeats must be a whole number from 1 to 20", timeout=SLOW)
    expect(newcomer.locator("#repair-repeats input")).to_have_value("0")
