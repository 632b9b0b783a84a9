"""The check-up of one model in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.pages.browser import SLOW, looks_well_by_day_and_by_night, visit

pytestmark = pytest.mark.browser
MEASURED = 4 * SLOW
"""Milliseconds: a check-up has some forty parts."""
RESULTS = "#checkup-results"


@pytest.fixture(scope="module")
def started(page: Page) -> Page:
    """Check-up with a check-up of the smallest model under way."""
    visit(page, "measure?view=checkup")
    estimate = page.locator("#checkup-estimate")
    expect(estimate).to_contain_text("MiniLM on the app's examples", timeout=MEASURED)
    page.locator("#measure-models .token-remove").first.click()
    page.locator("#measure-models input").fill("Decomposable")
    page.get_by_role("option", name="Decomposable Attention").click()
    page.locator("#checkup-n input").fill("2")
    page.locator("#checkup-n input").press("Tab")
    expect(estimate).to_contain_text(
        re.compile("Decomposable Attention.* of which 2 are changed"), timeout=MEASURED
    )
    page.locator("#checkup-start").click()
    return page


def test_a_check_up_that_is_stopped_is_taken_up_again_and_ends_in_a_report(started: Page) -> None:
    started.locator("#checkup-runs .stop").click(timeout=MEASURED)
    expect(started).to_have_title(re.compile("^Stopped: Check-up of"), timeout=SLOW)
    started.locator("#checkup-runs .again").click(timeout=MEASURED)
    expect(started.locator(RESULTS)).to_contain_text("The sub-cases of HANS", timeout=MEASURED)
    said = started.locator(f"{RESULTS} .say")
    expect(said).to_contain_text(re.compile(r"^Decomposable Attention is right on \d+ % of 600"))
    assert started.locator(f"{RESULTS} .glance").count() == 5
    expect(started.locator(f"{RESULTS} .title", has_text="What it is bad at")).to_be_visible()
    expect(started.locator(f"{RESULTS} .reliability svg")).to_be_hidden()
    started.locator(f"{RESULTS} summary", has_text="how sure it is").click()
    expect(started.locator(f"{RESULTS} .reliability svg")).to_be_visible()


def test_the_report_is_offered_as_page_and_as_json(started: Page) -> None:
    started.locator("#checkup-take").click()
    files = started.locator("#checkup-files")
    for name in ("report.html", "report.json"):
        expect(files).to_contain_text(name.split(".")[0], timeout=SLOW)
        expect(files.locator(f"a[href*='{name}']").first).to_be_attached()


def test_the_report_fits_and_is_accessible_by_day_and_by_night(started: Page) -> None:
    looks_well_by_day_and_by_night(started, [["#checkup"]])
