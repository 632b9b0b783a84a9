"""What the browser tests do with a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

SLOW = 60_000
"""Milliseconds: the machine may be busy."""
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 800}
BAD = ("serious", "critical")
"""Of the faults that axe tells apart."""
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def open_tab(page: Page, name: str) -> None:
    """Open a tab and wait until it is the one that is shown."""
    tab = page.get_by_role("tab", name=name)
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")


def show_examples(page: Page, *sizes: str) -> None:
    """Choose numbers of examples in the Inoculate tab, in place of those that are chosen."""
    field = page.locator("#sizes")
    expect(field.locator(".token").first).to_be_visible(timeout=SLOW)
    while field.locator(".token").count():
        field.locator(".token-remove").first.click()
    for size in sizes:
        field.locator("input").fill(size)
        field.locator("input").press("Enter")
    page.keyboard.press("Escape")


def fits_a_phone(page: Page) -> None:
    """Check that nothing makes the page scroll sideways on a phone."""
    page.set_viewport_size(PHONE)
    page.evaluate(SETTLED)
    page.wait_for_function(
        "width => document.documentElement.scrollWidth <= width", arg=PHONE["width"]
    )
    page.set_viewport_size(WIDE)


def is_accessible(page: Page, parts: list[list[str]]) -> None:
    """Check that axe finds no serious fault in these parts of the page."""
    checked = Axe().run(page, context={"include": parts})
    serious = [fault for fault in checked.response["violations"] if fault["impact"] in BAD]
    assert not serious, [(fault["id"], [n["html"] for n in fault["nodes"]]) for fault in serious]
