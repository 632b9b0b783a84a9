"""The Learn tab in a real browser: a lesson from its first step to its last."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from probe.tasks.nli import NLI
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.links import link_to_lesson
from tests.conftest import App
from tests.support.pages.browser import SLOW, WIDE, fits_a_phone, is_accessible, open_tab, visit

pytestmark = pytest.mark.browser
STEPS = WORD_SALAD.steps[NLI.name]
MODEL = "da"
"""The quickest of the bundled models."""
SHOWN_MODEL = "Decomposable Attention · da"
LONG = 300_000
"""Milliseconds for a step that scores hundreds of pairs on a busy machine."""


@pytest.fixture(scope="module")
def lesson(browser: Browser, app: App) -> Iterator[Page]:
    """A page of its own, opened by a link to the third step."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.set_default_timeout(SLOW)
    visit(page, app.url + link_to_lesson(WORD_SALAD.name, 3, NLI.name, MODEL))
    yield page
    context.close()


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


def test_a_link_opens_its_step_with_its_model(lesson: Page) -> None:
    at(lesson, 3)
    expect(lesson.locator("#learn-model input")).to_have_value(SHOWN_MODEL, timeout=SLOW)


def test_nothing_runs_before_a_guess(lesson: Page) -> None:
    lesson.locator("#learn-run").click()
    expect(lesson.locator("#learn-result [role=alert]")).to_contain_text(
        "First choose what you expect", timeout=SLOW
    )
    expect(lesson.locator("#learn-run")).to_be_enabled()


def test_a_lesson_leads_from_its_first_step_to_its_last(lesson: Page) -> None:
    lesson.locator('#learn-steps [data-cell="word_salad.1"]').click()
    for number, step in enumerate(STEPS, 1):
        at(lesson, number)
        if step.live:
            run(lesson, 0)
            expect(lesson.locator("#learn-result .badge")).to_be_visible(timeout=SLOW)
        if number < len(STEPS):
            lesson.locator("#learn-next").click()
    expect(lesson.locator(".questions summary").first).to_be_visible()
    assert "step=7" in lesson.url


def test_an_answer_is_folded_until_it_is_asked_for(lesson: Page) -> None:
    answer = lesson.get_by_text(STEPS[-1].questions[0].answer[:40])
    expect(answer).to_be_hidden()
    lesson.locator(".questions summary").first.click()
    expect(answer).to_be_visible()


def test_what_was_guessed_is_still_known_after_a_reload(lesson: Page) -> None:
    lesson.reload()
    at(lesson, 7)
    lesson.locator('#learn-steps [data-cell="word_salad.3"]').click()
    at(lesson, 3)
    expect(lesson.locator("#learn-guess input").first).to_be_checked(timeout=SLOW)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_step_is_accessible_and_fits_a_phone(lesson: Page, scheme: str) -> None:
    lesson.evaluate("dark => document.body.classList.toggle('dark', dark)", scheme == "dark")
    is_accessible(lesson, [["#learn"]])
    fits_a_phone(lesson)


def test_all_lessons_can_be_chosen_from(lesson: Page) -> None:
    lesson.locator('#learn-steps [data-cell="all"]').click()
    expect(lesson.locator(".lesson-card")).to_have_count(6, timeout=SLOW)
    is_accessible(lesson, [["#learn"]])


def test_the_app_opens_on_probe(newcomer: Page) -> None:
    expect(newcomer.get_by_role("tab", name="Probe")).to_have_attribute("aria-selected", "true")
    open_tab(newcomer, "Learn")
    expect(newcomer.locator(".lesson-card").first).to_be_visible(timeout=SLOW)
