"""What the browser tests do with a page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, Route, expect

SLOW = 60_000
"""Milliseconds: the machine may be busy."""
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 800}
QUESTIONS = "**/queue/join*"
"""The addresses at which gradio is asked for answers of events."""
BAD = ("serious", "critical")
"""Of the faults that axe tells apart."""
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
FADED = """() => Promise.all(document.getAnimations()
  .filter(one => one.effect.getComputedTiming().endTime !== Infinity)
  .map(one => one.finished.catch(() => {})))"""
"""Waits for transitions and animations that end."""
OVERLAPPING = """() => {
  const inSight = part => {  // what a list that scrolls hides is not there
    let { left, top, right, bottom } = part.getBoundingClientRect();
    for (let around = part.parentElement; around; around = around.parentElement)
      if (getComputedStyle(around).overflowY.match(/auto|scroll/)) {
        const box = around.getBoundingClientRect();
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
        [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      }
    return { left, top, right, bottom, width: right - left, height: bottom - top };
  };
  const parts = "main :is(button, input, select, textarea, summary, a[href])";
  const seen = [...document.querySelectorAll(parts)]
    .filter(part => !part.closest("#header"))  // it stays over what is scrolled
    .map(part => part.matches("input[type=radio], input[type=checkbox]")
      ? part.closest("label") ?? part : part)
    .filter(part => part.tabIndex >= 0 || part.matches("label"))
    .filter(part => part.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
    .map(part => [part, inSight(part)])
    .filter(([, box]) => box.width > 2 && box.height > 2);
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const found = [];
  seen.forEach(([a, first], at) => seen.slice(at + 1).forEach(([b, second]) => {
    if (!a.contains(b) && !b.contains(a) && meet(first, second))
      found.push([a.outerHTML.slice(0, 120), b.outerHTML.slice(0, 120)]);
  }));
  return found;
}"""
"""Pairs of controls that lie over one another: links of one line of text may touch by a hair."""


HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter(part => part.checkVisibility())
  .map(part => [Number(part.tagName[1]), part.innerText])"""


def visit(page: Page, url: str = "./") -> None:
    """Open an address, of the app where it is relative, in a page that may still be busy.

    A page that notes its state in the address bar at that moment ends the visit, so one more is
    tried.
    """
    try:
        page.goto(url)
    except PlaywrightError as error:
        if "net::ERR_ABORTED" not in str(error):
            raise
        page.goto(url)


def hold_questions(page: Page) -> Callable[[], None]:
    """Hold whatever the page asks from now on; return what lets it all be answered."""
    held: list[Route] = []
    page.route(QUESTIONS, lambda question: held.append(question))  # playwright marks its handlers

    def release() -> None:
        page.route(QUESTIONS, lambda question: question.continue_())
        for question in held:
            question.continue_()

    return release


def open_view(page: Page, title: str) -> None:
    """Open another view of a place and wait until it is the one that is shown."""
    page.get_by_role("tab", name=title, exact=True).click()
    view_is(page, title)


def view_is(page: Page, title: str) -> None:
    """Wait until a view of a place is shown."""
    shown = page.get_by_role("tab", name=title, exact=True)
    expect(shown).to_have_attribute("aria-selected", "true", timeout=SLOW)


def task_is(page: Page, title: str) -> None:
    """Wait until the head of the page marks a task."""
    expect(page.locator("#task [aria-current]")).to_have_text(title, timeout=SLOW)


def are_in_sight(page: Page, *parts: str, height: int = 800) -> None:
    """Check that parts of a page end on the first screen of 1280 pixels by so many."""
    page.set_viewport_size({"width": 1280, "height": height})
    for part in parts:
        box = page.locator(part).first.bounding_box()
        assert box and box["y"] + box["height"] <= height, (part, box)


def stand_in_turn_on_a_phone(page: Page, above: str, below: str) -> None:
    """Check that one part of a page ends above another one on a phone."""
    page.set_viewport_size(PHONE)
    first, second = (page.locator(part).bounding_box() for part in (above, below))
    assert first and second and first["y"] + first["height"] <= second["y"]


def show_examples(page: Page, *sizes: str) -> None:
    """Choose numbers of examples in Train, in place of those that are chosen."""
    field = page.locator("#train-sizes")
    expect(field.locator(".token").first).to_be_visible(timeout=SLOW)
    while field.locator(".token").count():
        field.locator(".token-remove").first.click()
    for size in sizes:
        field.locator("input").fill(size)
        field.locator("input").press("Enter")
    page.keyboard.press("Escape")


def fits(page: Page) -> None:
    """Check that nothing makes the page scroll sideways."""
    page.evaluate(SETTLED)
    page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth")


def fits_a_phone(page: Page) -> None:
    """Check that nothing makes the page scroll sideways on a phone."""
    page.set_viewport_size(PHONE)
    fits(page)
    page.set_viewport_size(WIDE)


def controls_keep_apart(page: Page) -> None:
    """Check that no two controls that are seen lie over one another, unless one holds the other."""
    page.evaluate(SETTLED)
    assert page.evaluate(OVERLAPPING) == []


def headings_are_in_order(page: Page) -> None:
    """Check that the first heading is the page's, and that none leaves out a level."""
    before = 0
    for level, words in page.evaluate(HEADINGS):
        assert level <= before + 1, f"h{level} “{words}” comes after h{before}"
        before = level


def is_accessible(page: Page, parts: list[list[str]]) -> None:
    """Check that axe finds no serious fault in these parts of the page, once colours have faded."""
    page.evaluate(FADED)
    checked = Axe().run(page, context={"include": parts})
    serious = [fault for fault in checked.response["violations"] if fault["impact"] in BAD]
    assert not serious, [(fault["id"], [n["html"] for n in fault["nodes"]]) for fault in serious]


def looks_well_by_day_and_by_night(page: Page, parts: list[list[str]]) -> None:
    """Check parts for accessibility in both themes, and the page's places on a phone and wide."""
    for dark in (False, True):
        page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
        is_accessible(page, parts)
    page.evaluate("document.body.classList.remove('dark')")
    for size in (PHONE, WIDE):
        page.set_viewport_size(size)
        fits(page)
        controls_keep_apart(page)


@contextmanager
def far_away(page: Page) -> Iterator[None]:
    """Let each request of a page take 0.7 s."""
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    slow = {"latency": 700, "downloadThroughput": -1, "uploadThroughput": -1}
    line.send("Network.emulateNetworkConditions", {"offline": False, **slow})
    yield
    line.detach()
