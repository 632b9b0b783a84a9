"""Ask people in a real browser: a teacher makes a set, somebody else answers it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import App
from tests.support.pages.browser import (
    PHONE,
    SLOW,
    WIDE,
    is_accessible,
    looks_well_by_day_and_by_night,
    visit,
)
from tests.support.processes.running_app import drop_sessions

pytestmark = pytest.mark.browser


def test_a_set_is_made_answered_behind_its_link_and_counted(
    newcomer: Page, other: Page, app: App
) -> None:
    visit(newcomer, "measure?view=people&task=sentiment")
    expect(newcomer.locator("#annotate-make")).to_be_enabled(timeout=SLOW)
    is_accessible(newcomer, [["#choice"], ["#annotate-form"], ["#annotate-one"]])
    newcomer.locator("#annotate-each input").fill("1")
    newcomer.locator("#annotate-make").click()
    expect(newcomer.locator("#annotate-trouble [role=progressbar]")).to_be_visible(timeout=SLOW)
    link = newcomer.locator("#annotate-one .share input")
    expect(link).to_be_visible(timeout=SLOW)
    expect(newcomer).to_have_url(re.compile("set=[2-9A-Z]{8}"))
    looks_well_by_day_and_by_night(newcomer, [["#annotate-one"], ["#annotate-sets"]])
    newcomer.set_viewport_size(PHONE)
    expect(newcomer.locator("#annotate-form")).to_be_hidden()  # the set is in sight
    newcomer.get_by_role("button", name="Change").click()
    expect(newcomer.locator("#annotate-form")).to_be_visible()
    newcomer.set_viewport_size(WIDE)
    expect(link).to_have_value(re.compile(f"^{re.escape(app.url)}set"))  # whole as it stands
    visit(other, link.input_value())
    expect(other.locator("#annotate-batch")).to_contain_text("Text 1 of 5", timeout=SLOW)
    expect(other.locator("#places")).to_have_count(0)
    expect(other.locator("#annotate-send")).to_contain_text("5 texts left")
    looks_well_by_day_and_by_night(other, [["#annotate-answer"]])
    other.locator("#annotate-nickname :is(input, textarea)").fill("fox")
    other.locator("#annotate-answer-1").get_by_text("invalid", exact=True).click()
    expect(other.locator("#annotate-send")).to_contain_text("4 texts left")
    other.reload()  # as a phone does on its own
    expect(other.locator("#annotate-send")).to_contain_text("4 texts left", timeout=SLOW)
    expect(other.locator("#annotate-nickname :is(input, textarea)")).to_have_value("fox")
    send = other.get_by_role("button", name="Send")
    send.click()
    expect(other.locator("#annotate-told")).to_contain_text("still open", timeout=SLOW)
    for number in range(1, 6):
        other.locator(f"#annotate-answer-{number}").get_by_text("invalid", exact=True).click()
    send.click()
    expect(other.locator("#annotate-told")).to_contain_text("1 batch sent", timeout=SLOW)
    drop_sessions(app)
    newcomer.get_by_role("button", name="Count anew").click()
    expect(newcomer.locator("#annotate-one")).to_contain_text(
        "opened by 1; batches sent: 1, of which", timeout=SLOW
    )
    newcomer.reload()
    expect(link).to_be_visible(timeout=SLOW)
