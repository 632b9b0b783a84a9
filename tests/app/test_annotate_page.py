"""Ask people in a real browser: a teacher makes a set, somebody else answers it."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import App
from tests.support.pages.browser import (
    PHONE,
    SLOW,
    WIDE,
    fits_a_phone,
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


def test_one_fools_the_model_two_others_confirm_it_and_the_board_counts(
    newcomer: Page, browser: Browser, app: App
) -> None:
    visit(newcomer, "measure?view=people&task=sentiment")
    expect(newcomer.locator("#annotate-make")).to_be_enabled(timeout=SLOW)
    newcomer.locator("#annotate-mode").get_by_text("Fool the model").click()
    expect(newcomer.locator("#annotate-transforms")).to_be_hidden()
    expect(newcomer.locator("#annotate-one")).to_contain_text("who see neither", timeout=SLOW)
    newcomer.locator("#annotate-make").click()
    board = newcomer.locator("#annotate-one .classroom")
    link = board.locator("[data-copy]").get_attribute("data-copy", timeout=SLOW) or ""
    assert re.fullmatch(rf"{re.escape(app.url)}/?fool\?\w{{8}}", link)
    contexts = [browser.new_context(viewport=WIDE, base_url=app.url) for _ in range(3)]
    author, *others = (context.new_page() for context in contexts)
    visit(author, link)
    expect(author.locator("#fool-form")).to_be_visible(timeout=SLOW)
    expect(author.locator("#places")).to_have_count(0)
    author.locator("#fool-nickname :is(input, textarea)").fill("<b>fox")
    author.locator("#fool-text-1 textarea").fill("A <i>fine</i> film.")
    author.locator("#fool-label").get_by_text("negative", exact=True).click()
    author.wait_for_function("localStorage.getItem('nli-clinic-answers')?.includes('film')")
    author.reload()  # as a phone does on its own
    expect(author.locator("#fool-label .selected")).to_have_text("negative", timeout=SLOW)
    text = author.locator("#fool-text-1 textarea")
    expect(text).to_have_value("A <i>fine</i> film.", timeout=SLOW)
    author.locator("#fool-ask").click()
    expect(author.locator("#fool-result")).to_contain_text("You fooled", timeout=SLOW)
    expect(author.locator("#fool-confirm")).to_contain_text("Nothing of others waits")
    for other in others:
        visit(other, link)
        waiting = other.locator("#fool-confirm")
        expect(waiting).to_contain_text("A <i>fine</i> film.", timeout=SLOW)
        is_accessible(other, [["#fool"]])
        waiting.get_by_role("button", name="negative", exact=True).click()
        expect(waiting).to_contain_text("Nothing of others waits", timeout=SLOW)
    expect(board.locator(".board")).to_contain_text("<b>fox", timeout=SLOW)
    expect(board).to_contain_text("1 of 1 decided by others", timeout=SLOW)  # by itself
    expect(author.locator("#fool-board")).to_contain_text("1 confirmed", timeout=SLOW)
    board.get_by_role("button", name="Train on 1 confirmed").click()
    expect(newcomer.locator("#annotate-trouble")).to_contain_text("here are 1", timeout=SLOW)
    looks_well_by_day_and_by_night(newcomer, [["#annotate-form"], ["#annotate-one"]])
    looks_well_by_day_and_by_night(author, [["#fool"]])
    for page in (newcomer, author):
        fits_a_phone(page)
    newcomer.get_by_role("button", name="End", exact=True).click()
    expect(author.locator("#fool-form")).to_be_hidden(timeout=SLOW)
    for context in contexts:
        context.close()
