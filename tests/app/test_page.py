"""The page around the tabs in a real browser, wide and narrow."""

import re

import pytest
from gradio_client import Client
from playwright.sync_api import Page, Request, expect

from app import TABS
from tests.conftest import App
from tests.support.pages.browser import (
    SETTLED,
    SLOW,
    far_away,
    fits_a_phone,
    hold_questions,
    open_tab,
    visit,
)

pytestmark = pytest.mark.browser


def test_the_page_keeps_its_place_from_tab_to_tab(page: Page) -> None:
    tabs, places = page.get_by_role("tab").all(), []
    for tab in tabs:
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        page.evaluate(SETTLED)
        places.append(page.locator(".masthead h1").bounding_box())
    assert len(tabs) > 2
    assert places == [places[0]] * len(tabs)


def test_no_tab_is_wider_than_a_phone(page: Page) -> None:
    for entry in TABS:
        open_tab(page, entry.title)
        fits_a_phone(page)


def test_a_page_asks_at_first_for_the_tab_in_front_alone(newcomer: Page, app: App) -> None:
    asked: list[int] = []
    newcomer.on("request", lambda request: asked.extend(questions(request)))
    visit(newcomer, app.url)
    expect(newcomer.locator("#answer .answer")).to_be_visible(timeout=SLOW)
    newcomer.evaluate(SETTLED)
    assert 0 < len(asked) < len(TABS)


def test_a_tab_that_is_opened_later_is_filled_for_the_task_that_was_chosen(newcomer: Page) -> None:
    newcomer.locator("#task").get_by_text("Paraphrase").click()
    open_tab(newcomer, "Generalise")
    model = newcomer.locator("#generalise-model input")
    expect(model).to_have_value(re.compile("Quora"), timeout=SLOW)
    open_tab(newcomer, "Catalogue")
    expect(newcomer.locator("#catalogue")).to_contain_text("copyone", timeout=SLOW)


@pytest.mark.parametrize("tab", ["Batch", "Generalise"])
def test_a_tab_asks_once_when_it_is_first_shown_and_again_when_it_is_shown_again(
    newcomer: Page, tab: str
) -> None:
    asked: list[int] = []
    newcomer.on("request", lambda request: asked.extend(questions(request)))
    for _ in ("first", "again"):
        all_asked(newcomer, asked)
        asked.clear()
        open_tab(newcomer, tab)
        all_asked(newcomer, asked)
        assert asked and len(asked) == len(set(asked))
        open_tab(newcomer, "Learn")


def all_asked(page: Page, asked: list[int]) -> None:
    """Wait until a page asks nothing more."""
    before = -1
    while before != len(asked):
        before = len(asked)
        page.wait_for_timeout(1500)


def questions(request: Request) -> list[int]:
    """Return which event a request asks the app to answer, if it does."""
    return [request.post_data_json["fn_index"]] if "/queue/join" in request.url else []


def test_probe_opened_after_another_tab_follows_the_task(newcomer: Page, app: App) -> None:
    visit(newcomer, f"{app.url}?tab=catalogue&task=sentiment")
    expect(newcomer.locator("#catalogue .entry").first).to_be_visible(timeout=SLOW)
    newcomer.locator("#task").get_by_text("Paraphrase").click()
    open_tab(newcomer, "Probe")
    expect(newcomer.locator("#question")).to_contain_text("same", timeout=SLOW)
    expect(newcomer.locator("#answer .answer")).to_contain_text("paraphrase", timeout=SLOW)
    newcomer.locator("#task").get_by_text("Inference").click()
    expect(newcomer.locator("#answer .answer")).to_contain_text("entailment", timeout=SLOW)


@pytest.mark.parametrize(
    ("tab", "selector", "answered"),
    [
        ("Probe", "#model", "#answer .answer"),
        ("Repair", "#repair-model", "#repair-results .picture"),
        ("Generalise", "#generalise-model", "#generalise-results .heat"),
    ],
)
def test_a_model_chosen_before_the_page_has_its_answers_stays(
    newcomer: Page, app: App, tab: str, selector: str, answered: str
) -> None:
    release = hold_questions(newcomer)
    visit(newcomer, app.url)
    open_tab(newcomer, tab)
    field = newcomer.locator(f"{selector} input")
    field.click()
    newcomer.get_by_role("option", name="Decomposable").first.click()
    chosen = field.input_value()
    assert "Decomposable" in chosen
    release()
    expect(newcomer.locator(answered).first).to_be_visible(timeout=SLOW)
    expect(field).to_have_value(chosen)


def test_an_event_that_takes_a_while_shows_it_on_what_it_changes(client: Client) -> None:
    events = [
        event for event in client.config["dependencies"] if event["show_progress"] == "minimal"
    ]
    assert len(events) > 1
    assert [event["api_name"] for event in events if event["show_progress_on"] == []] == []


def test_no_event_without_a_spinner_keeps_a_progress_for_what_it_changes(client: Client) -> None:
    events = [
        event
        for event in client.config["dependencies"]
        if event["backend_fn"]
        and event["api_visibility"] == "private"
        and event["show_progress"] == "hidden"
        and not str(event["api_name"]).startswith("load_example")  # gradio's own
    ]
    assert len(events) > 100
    assert [event["api_name"] for event in events if event["show_progress_on"] != []] == []


def test_choosing_tasks_quickly_asks_once_for_each(page: Page, app: App) -> None:
    visit(page, f"{app.url}?tab=batch")
    expect(page.locator("#upload")).to_be_visible(timeout=SLOW)
    page.wait_for_timeout(3000)
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url) if "queue/join" in sent.url else None)
    with far_away(page):
        for title in ("Paraphrase", "Inference"):
            page.get_by_role("radio", name=title).check()
            page.wait_for_timeout(500)
        page.wait_for_timeout(6000)
        before = len(asked)
        page.wait_for_timeout(3000)
    assert 2 <= before == len(asked) <= 20
