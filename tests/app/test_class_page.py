"""A class at a lesson in a real browser: the teacher's link, a student's guess, one histogram."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import App
from tests.support.pages.browser import SLOW, fits_a_phone, is_accessible, visit

pytestmark = pytest.mark.browser
STEP = "learn?lesson=word_salad&step=2&task=nli&model=minilm"


def test_a_students_guess_appears_on_the_teachers_page(
    newcomer: Page, other: Page, app: App
) -> None:
    visit(newcomer, STEP)
    newcomer.locator("#learn-class-begin").click(timeout=SLOW)
    link = newcomer.locator("#learn-class-link input")
    expect(link).to_be_visible(timeout=SLOW)
    expect(link).to_have_value(re.compile(f"^{re.escape(app.url)}"))  # whole as it stands
    visit(other, link.input_value())
    theirs = other.locator("#learn-guessed")
    expect(theirs).to_contain_text("once you have guessed", timeout=SLOW)
    other.locator("#learn-guess label").nth(1).click()
    other.locator("#learn-run").click()
    expect(theirs).to_contain_text("1 of 1", timeout=SLOW)
    expect(newcomer.locator("#learn-guessed")).to_contain_text("1 of 1", timeout=SLOW)
    is_accessible(newcomer, [["#learn-class"]])
    fits_a_phone(other)
