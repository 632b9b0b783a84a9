"""Ask people in a real browser: a teacher makes a set, somebody else answers it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import App
from tests.support.pages.browser import SLOW, fits_a_phone, is_accessible, visit

pytestmark = pytest.mark.browser


def test_a_set_is_made_answered_behind_its_link_and_counted(
    newcomer: Page, other: Page, app: App
) -> None:
    visit(newcomer, "measure?view=people&task=sentiment")
    expect(newcomer.locator("#annotate-columns")).to_be_visible(timeout=SLOW)
    is_accessible(newcomer, [["#choice"], ["#annotate-columns"]])
    newcomer.locator("#annotate-each input").fill("1")
    newcomer.locator("#annotate-make").click()
    link = newcomer.locator("#annotate-link input")
    expect(link).to_be_visible(timeout=SLOW)
    is_accessible(newcomer, [["#annotate-one"]])
    expect(link).to_have_value(re.compile(f"^{re.escape(app.url)}"))  # whole as it stands
    visit(other, link.input_value())
    other.locator("#annotate-nickname input, #annotate-nickname textarea").first.fill("fox")
    other.locator("#annotate-begin").click()
    expect(other.locator("#annotate-batch")).to_contain_text("1 of 5", timeout=SLOW)
    is_accessible(other, [["#annotate-answer"]])
    other.locator("#annotate-send").click()
    expect(other.locator("#annotate-told")).to_contain_text("still open", timeout=SLOW)
    for number in range(1, 6):
        other.locator(f"#annotate-answer-{number}").get_by_text("invalid", exact=True).click()
    other.locator("#annotate-send").click()
    expect(other.locator("#annotate-told")).to_contain_text("1 batch sent", timeout=SLOW)
    fits_a_phone(other)
    newcomer.locator("#annotate-refresh").click()
    expect(newcomer.locator("#annotate-set")).to_contain_text(
        "1 people have opened the link and sent 1 batches", timeout=SLOW
    )
    fits_a_phone(newcomer)
