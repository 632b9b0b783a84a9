"""A class at a lesson in a real browser: the teacher's link, a student's guess, one histogram."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app.conftest import opened
from tests.conftest import App
from tests.support.pages.browser import SLOW, fits_a_phone, is_accessible, visit

pytestmark = pytest.mark.browser
STEP = "?tab=learn&lesson=word_salad&step=2&task=nli&model=minilm"


@pytest.fixture
def student(browser: Browser, app: App) -> Iterator[Page]:
    """The page of somebody else."""
    yield from opened(browser, app)


def test_a_students_guess_appears_on_the_teachers_page(
    newcomer: Page, student: Page, app: App
) -> None:
    visit(newcomer, f"{app.url}{STEP}")
    newcomer.locator("#learn-class-begin").click(timeout=SLOW)
    link = newcomer.locator("#learn-class-link input")
    expect(link).to_be_visible(timeout=SLOW)
    expect(link).to_have_value(re.compile(f"^{re.escape(app.url)}"))  # whole as it stands
    visit(student, link.input_value())
    theirs = student.locator("#learn-guessed")
    expect(theirs).to_contain_text("once you have guessed", timeout=SLOW)
    student.locator("#learn-guess label").nth(1).click()
    student.locator("#learn-run").click()
    expect(theirs).to_contain_text("1 of 1", timeout=SLOW)
    expect(newcomer.locator("#learn-guessed")).to_contain_text("1 of 1", timeout=SLOW)
    is_accessible(newcomer, [["#learn-class"]])
    fits_a_phone(student)
