"""The Learn tab in a real browser: a lesson from its first step to its last."""

import pytest
from playwright.sync_api import Page, expect

from probe.tasks.nli import NLI
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.links import link_to_lesson
from tests.support.pages.browser import SLOW, fits_a_phone, is_accessible, visit

pytestmark = pytest.mark.browser
STEPS = WORD_SALAD.steps[NLI.name]
MODEL = "da"
"""The quickest of the bundled models."""
SHOWN_MODEL = "Decomposable Attention · da"
LONG = 300_000
"""Milliseconds for a step that scores hundreds of pairs on a busy machine."""


def at(page: Page, number: int) -> None:
    """Check that a step is shown, in the list of the steps too."""
    expect(page.locator("#learn-text h2")).to_have_text(STEPS[number - 1].title, timeout=LONG)
    expect(page.locator('#learn-steps [aria-current="step"]')).to_contain_text(str(number))


def run(page: Page, choice: int) -> None:
    """Guess, run, and wait for what it came to."""
    page.locator("#learn-guess label").nth(choice).click()
    page.locator("#learn-run").click()
    expect(page.locator("#learn-result .found")).to_be_visible(timeout=LONG)
    expect(page.locator("#learn-run")).to_be_enabled()


def test_a_link_opens_its_step_with_its_model(page: Page) -> None:
    visit(page, link_to_lesson(WORD_SALAD.name, 3, NLI.name, MODEL))
    at(page, 3)
    expect(page.locator("#learn-model input")).to_have_value(SHOWN_MODEL, timeout=SLOW)


def test_nothing_runs_before_a_guess(page: Page) -> None:
    page.locator("#learn-run").click()
    expect(page.locator("#learn-result [role=alert]")).to_contain_text(
        "First choose what you expect", timeout=SLOW
    )
    expect(page.locator("#learn-run")).to_be_enabled()


def test_a_lesson_leads_from_its_first_step_to_its_last(page: Page) -> None:
    page.locator('#learn-steps [data-cell="word_salad.1"]').click()
    for number, step in enumerate(STEPS, 1):
        at(page, number)
        if step.live:
            run(page, 0)
            expect(page.locator("#learn-result .badge")).to_be_visible(timeout=SLOW)
        if number < len(STEPS):
            page.locator("#learn-next").click()
    expect(page.locator(".questions summary").first).to_be_visible()
    assert "step=7" in page.url


def test_an_answer_is_folded_until_it_is_asked_for(page: Page) -> None:
    answer = page.get_by_text(STEPS[-1].questions[0].answer[:40])
    expect(answer).to_be_hidden()
    page.locator(".questions summary").first.click()
    expect(answer).to_be_visible()


def test_what_was_guessed_is_still_known_after_a_reload(page: Page) -> None:
    page.reload()
    at(page, 7)
    page.locator('#learn-steps [data-cell="word_salad.3"]').click()
    at(page, 3)
    expect(page.locator("#learn-guess input").first).to_be_checked(timeout=SLOW)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_step_is_accessible_and_fits_a_phone(page: Page, scheme: str) -> None:
    page.evaluate("dark => document.body.classList.toggle('dark', dark)", scheme == "dark")
    is_accessible(page, [["#learn"]])
    fits_a_phone(page)


def test_all_lessons_can_be_chosen_from(page: Page) -> None:
    page.locator('#learn-steps [data-cell="all"]').click()
    expect(page.locator(".lesson-card")).to_have_count(6, timeout=SLOW)
    is_accessible(page, [["#learn"]])
