"""The places in a real browser: their addresses, the head of each page, and what a page asks."""

import json
import re
from time import monotonic

import httpx
import pytest
from playwright.sync_api import Page, Request, expect

from app import PLACES
from probe.ui.links import MOVED
from tests.conftest import App
from tests.support.pages.browser import (
    SETTLED,
    SLOW,
    WIDE,
    fits,
    fits_a_phone,
    hold_questions,
    is_accessible,
    open_view,
    task_is,
    view_is,
    visit,
)

pytestmark = pytest.mark.browser
CUT = """() => [...document.querySelectorAll("#header a, #header summary, [role=tab]")]
  .filter(part => part.checkVisibility() && !part.matches(".skip"))
  .filter(part => part.scrollWidth > part.clientWidth
    || part.getBoundingClientRect().right > window.innerWidth)
  .map(part => part.innerText)"""
"""Which names in the head of a page, and of its views, are cut."""
DENIED = """Object.defineProperty(window, "localStorage", {
  configurable: true, get() { throw new DOMException("denied", "SecurityError"); },
});"""
"""What a frame finds in a browser that keeps nothing of other sites."""


def link_to(page: Page, title: str) -> None:
    """Follow a link in the head of the page."""
    page.locator("#header").get_by_role("link", name=title, exact=True).click()


def test_a_page_is_sent_its_own_components_alone_and_an_older_link_leads_to_one(
    app: App,
) -> None:
    sizes = {}
    for place in PLACES:
        sent = httpx.get(app.url + place.path, timeout=SLOW).text
        config = json.loads(re.findall(r"window\.gradio_config = (.*?);</script>", sent)[0])
        assert config["current_page"] == place.path
        sizes[place.path] = len(config["components"])
    whole = httpx.get(f"{app.url}config", timeout=SLOW).json()
    assert sizes == {path: len(whole["page"][path]["components"]) for path in sizes}
    for tab, (path, _) in MOVED.items():
        moved = httpx.get(f"{app.url}?tab={tab}&seed=3", timeout=SLOW, follow_redirects=True)
        assert moved.url.path == f"/{path}" and moved.url.params["seed"] == "3"
        assert moved.status_code == (404 if tab == "admin" else 200)


def test_every_view_keeps_the_head_of_the_page_in_place_and_fits_a_phone(page: Page) -> None:
    heads = []
    for place in PLACES:
        visit(page, place.path or "./")
        for view in place.views:
            if len(place.views) > 1:
                open_view(page, view.title)
            page.evaluate(SETTLED)
            heads.append(page.locator(".masthead h1").bounding_box())
            fits_a_phone(page)
        named = re.compile(rf"^{place.title}\s*\d*$")  # Mine counts what a lesson has kept, too
        expect(page.locator("#header [aria-current=page]")).to_have_text(named, timeout=SLOW)
    assert heads == [heads[0]] * len(heads)


def test_the_names_of_places_tasks_and_views_are_whole_at_every_width_and_twice_as_large(
    page: Page,
) -> None:
    for place in PLACES:
        visit(page, f"{place.path or './'}?task=paraphrase")
        expect(page.locator("#header [aria-current]").first).to_be_attached(timeout=SLOW)
        for width in (640, 780, 1000, 1280):  # 640: a screen of 1,280 pixels at 200 %
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(CUT) == [], (place.title, width)
            fits(page)
    is_accessible(page, [["#header"]])
    page.set_viewport_size({"width": 640, "height": 800})
    page.locator("#task-menu summary").click()
    page.locator("#task-menu").get_by_role("link", name="Reading").click()
    expect(page).to_have_url(re.compile(r"/mine\?task=reading"), timeout=SLOW)
    page.set_viewport_size(WIDE)


def test_links_of_the_head_keep_the_task_and_those_of_the_task_the_view(page: Page) -> None:
    visit(page, "?tab=repair&task=sentiment")  # as it was called before there were places
    for task in ("Sentiment", "Paraphrase"):
        if task != "Sentiment":
            link_to(page, task)
        task_is(page, task)
        expect(page.locator("#train-aim .selected")).to_contain_text("Repair", timeout=SLOW)
    link_to(page, "Learn")
    task_is(page, "Paraphrase")
    expect(page.locator("#look-up")).to_contain_text("copyone", timeout=SLOW)
    page.go_back()
    expect(page.locator("#train-aim .selected")).to_contain_text("Repair", timeout=SLOW)
    task_is(page, "Paraphrase")


def test_keys_lead_to_the_content_and_between_places_and_views(page: Page) -> None:
    visit(page, "measure")
    view_is(page, "Score")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()
    page.locator("#places a").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#places a").nth(1)).to_be_focused()
    page.get_by_role("tab", name="Score").focus()
    page.keyboard.press("ArrowRight")
    view_is(page, "Compare")


def test_a_page_is_shown_where_the_browser_keeps_nothing_and_mine_says_so(newcomer: Page) -> None:
    newcomer.add_init_script(DENIED)
    visit(newcomer)
    expect(newcomer.locator("#text-1 textarea")).to_be_visible(timeout=SLOW)
    visit(newcomer, "mine")
    expect(newcomer.locator("#not-kept")).to_be_visible(timeout=SLOW)


def test_a_view_asks_once_when_it_is_shown_and_not_where_its_results_stand(
    newcomer: Page,
) -> None:
    asked: list[int] = []
    newcomer.on("request", lambda request: asked.extend(questions(request)))
    visit(newcomer, "measure")
    first = newcomer.get_by_role("tab").first.inner_text()
    view_is(newcomer, first)
    all_asked(newcomer, asked)
    assert len(asked) == len(set(asked))
    for shown, asks in (("Ask people", True), (first, False), ("Ask people", True)):
        asked.clear()
        open_view(newcomer, shown)
        if not asks:  # its results stand as they were
            newcomer.wait_for_timeout(1500)
            assert not asked
            continue
        all_asked(newcomer, asked)
        assert asked and len(asked) == len(set(asked))


def all_asked(page: Page, asked: list[int]) -> None:
    """Wait until a page has asked something, and asks nothing more."""
    until, before = monotonic() + SLOW / 1000, -1
    while before != len(asked) or (not asked and monotonic() < until):
        before = len(asked)
        page.wait_for_timeout(1500)


def questions(request: Request) -> list[int]:
    """Return which event a request asks the app to answer, if it does."""
    return [request.post_data_json["fn_index"]] if "/queue/join" in request.url else []


@pytest.mark.parametrize(
    ("address", "selector", "answered"),
    [
        ("./", "#model", "#answer .answer"),
    ],
)
def test_a_model_chosen_before_the_page_has_its_answers_stays(
    newcomer: Page, address: str, selector: str, answered: str
) -> None:
    release = hold_questions(newcomer)
    visit(newcomer, address)
    field = newcomer.locator(f"{selector} input")
    field.click()
    newcomer.get_by_role("option", name="Decomposable").first.click()
    chosen = field.input_value()
    assert "Decomposable" in chosen
    release()
    expect(newcomer.locator(answered).first).to_be_visible(timeout=SLOW)
    expect(field).to_have_value(chosen)
