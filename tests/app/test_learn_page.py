"""Learn in a real browser: a lesson from its first step to its last, a class at it, Look up."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from probe.tasks.nli import NLI
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.links import link_to_lesson
from tests.conftest import App
from tests.support.pages.browser import SLOW, fits_a_phone, is_accessible, visit

pytestmark = pytest.mark.browser
STEPS = WORD_SALAD.steps[NLI.name]
MODEL = "da"
"""The quickest of the bundled models."""
LONG = 300_000
"""Milliseconds for a step that scores hundreds of pairs on a busy machine."""


def at(page: Page, number: int) -> None:
    """Check that a step is shown, in the list of the steps and in the address too."""
    expect(page.locator("#learn-text h2")).to_have_text(STEPS[number - 1].title, timeout=LONG)
    expect(page.locator('#learn-steps [aria-current="step"]')).to_contain_text(str(number))
    expect(page).to_have_url(re.compile(rf"lesson=word-salad&step={number}\b"), timeout=SLOW)


def came_out(page: Page) -> Locator:
    """Wait for what a step came to, and return it."""
    found = page.locator("#learn-result .found")
    expect(found.locator(".badge")).to_be_visible(timeout=LONG)
    expect(page.locator("#learn-run")).to_be_enabled(timeout=SLOW)
    return found


def test_a_lesson_leads_from_its_first_step_to_its_last_and_back_with_its_results(
    page: Page,
) -> None:
    visit(page, link_to_lesson("word_salad", 2, NLI.name, MODEL))
    at(page, 2)
    page.locator("#learn-run").click()
    alert = page.locator("#learn-result [role=alert]")
    expect(alert).to_contain_text("First choose what you expect", timeout=SLOW)
    for number, step in enumerate(STEPS[1:], 2):
        at(page, number)
        if step.live:
            page.locator("#learn-guess label").nth(0).click()
            page.locator("#learn-run").click()
            expect(page.locator("#learn-result [role=progressbar], .found")).to_be_visible()
            said = came_out(page).inner_text()
        if number < len(STEPS):
            page.locator("#learn-moves .onward").click()
    answer = page.get_by_text(STEPS[-1].questions[0][1][:40])
    expect(answer).to_be_hidden()
    page.locator(".questions summary").first.click()
    expect(answer).to_be_visible()
    page.go_back()
    at(page, 6)
    assert came_out(page).inner_text() == said
    page.reload()
    at(page, 6)
    assert came_out(page).inner_text() == said
    expect(page.locator("#learn-guess input").first).to_be_checked()
    page.go_forward()
    at(page, 7)
    for dark in (False, True):
        page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
        is_accessible(page, [["#learn"]])
    fits_a_phone(page)
    page.locator('#learn-steps [data-cell="all"]').click()
    expect(page.locator(".lesson-card")).to_have_count(8, timeout=SLOW)
    expect(page.locator(".lesson-card").first).to_contain_text("step 7 of 7 · ")
    expect(page.locator(".entry:visible").first).to_be_visible(timeout=LONG)
    is_accessible(page, [["#learn"], ["#look-up"]])
    fits_a_phone(page)


def test_what_runs_can_be_stopped_and_a_lesson_is_printed_alone(page: Page) -> None:
    visit(page, "learn?lesson=attribution&step=3&model=minilm")
    page.locator("#learn-guess label").nth(0).click(timeout=SLOW)
    page.locator("#learn-run").click()
    page.locator("#learn-stop").click(timeout=SLOW)
    expect(page.locator("#learn-result")).to_contain_text("Stopped", timeout=SLOW)
    expect(page.locator("#learn-run")).to_be_enabled(timeout=SLOW)
    expect(page.locator("#learn-stop")).to_be_hidden()
    page.evaluate("void (window.print = () => { window.printed = true; })")
    page.get_by_role("button", name="Print with answers").click()
    page.wait_for_function("window.printed")
    page.emulate_media(media="print")
    expect(page.locator("#learn-paper")).to_contain_text("Answer.")
    for part in ("#learn-paper h1", "#learn", "#header"):
        expect(page.locator(part)).to_be_visible(visible=part == "#learn-paper h1")
    page.emulate_media(media="screen")


def test_a_students_guess_appears_on_the_teachers_page_which_a_reload_keeps(
    newcomer: Page, other: Page, app: App
) -> None:
    visit(newcomer, "learn?lesson=word_salad&step=2&task=nli&model=minilm")
    newcomer.get_by_role("button", name="Teach this to a class").click(timeout=SLOW)
    teacher, student = newcomer.locator("#learn-guessed"), other.locator("#learn-guessed")
    link = teacher.locator("[data-copy]").get_attribute("data-copy", timeout=SLOW) or ""
    assert re.fullmatch(rf"{re.escape(app.url)}/?class\?\w{{8}}", link)
    assert "class=" in newcomer.url
    visit(other, link)
    expect(student).to_contain_text("once you have guessed", timeout=SLOW)
    expect(other.locator("#places, #learn-steps nav")).to_have_count(0)
    other.locator("#learn-guess label").nth(2).click()
    other.locator("#learn-run").click()
    expect(student).to_contain_text("1 of 1 foresaw it", timeout=LONG)
    newcomer.reload()
    expect(teacher).to_contain_text("1 of 1 foresaw it", timeout=SLOW)
    with newcomer.expect_download() as taken:
        teacher.get_by_role("button", name="Guesses as a file").click()
    assert "came out,foreseen" in taken.value.path().read_text()
    teacher.get_by_role("button", name="Next step").click()
    expect(teacher).to_contain_text("Step 3, Break the text", timeout=SLOW)
    is_accessible(newcomer, [["#learn-class"]])
    for page in (newcomer, other):
        fits_a_phone(page)


def test_an_address_or_a_search_looks_something_up_and_an_entry_shows_its_code(page: Page) -> None:
    for address, shown in {
        "learn?view=look-up#term-agreement": ["agreement"],
        "learn?look=letters+swap": ["spelling_swap", "spelling"],
        "learn?look=gradient+times+input": ["gradient_x_input", "embedding_gradient_x_input"],
        "learn?look=word-order&task=sentiment": ["sort", "reverse", "shuffle"],
        "learn?look=reverse&task=nli": ["reverse"],
    }.items():
        visit(page, address)
        entries = page.locator(".entry:visible")
        expect(entries).to_have_count(len(shown), timeout=SLOW)
        assert [each.get_attribute("id") for each in entries.all()] == [f"term-{x}" for x in shown]
        expect(entries.first).to_be_in_viewport(timeout=SLOW)
    reverse, search = page.locator("#term-reverse"), page.get_by_label("Search")
    expect(reverse).to_contain_text("hall large the filled success her and", timeout=LONG)
    reverse.get_by_text("code: probe/transforms/families/lexical.py").click()
    expect(reverse.locator("pre")).to_contain_text('"Reverse the words"')
    word = reverse.get_by_role("button", name="No label is right: The text")
    content = "element => getComputedStyle(element, '::after').content"
    word.focus()
    assert "no gold label is defined" in word.evaluate(content)
    page.keyboard.press("Escape")
    assert word.evaluate(content) == "none"
    search.fill("no such thing at all")
    expect(page.locator(".look-up [role=status]")).to_contain_text("try fewer or other words")
    expect(page).to_have_url(re.compile("look=no"))
