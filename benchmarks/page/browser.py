"""A browser without a window, and pages that are looked at once they are still."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic

from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
SLOW = 240_000
"""Milliseconds that a step may take: models are loaded, files scored."""
CALM = 300
"""Milliseconds without an open question after which a page has opened."""
ALIVE = "/heartbeat/"
"""In the address of the stream by which a page tells that it is there; it never ends."""
ANSWERS, PATIENCE = "/queue/data", 5.0
"""In the address of the stream that brings answers, and the seconds that one may take.

An answer that comes before the page knows its number leaves such a stream open, with none to come.
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser without a window."""
    with sync_playwright() as driver:
        path = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def open_calmly(page: Page, address: str) -> None:
    """Open an address in a fresh page and wait until every question of the page is answered."""
    asked = dict[Request, float]()
    page.on("request", lambda one: None if ALIVE in one.url else asked.update({one: monotonic()}))
    page.on("requestfinished", lambda one: asked.pop(one, None))
    page.on("requestfailed", lambda one: asked.pop(one, None))
    page.goto(address)
    expect(page.locator("#header")).to_be_visible(timeout=SLOW)
    _settle(page, asked)


def _settle(page: Page, asked: Mapping[Request, float]) -> None:
    """Wait until no question is open, and none was `CALM` before, at most `SLOW`.

    `asked` are the open ones, each with the moment at which it was asked.
    """
    calm = False
    for _ in range(SLOW // CALM):
        page.wait_for_timeout(CALM)
        late = monotonic() - PATIENCE
        before, calm = calm, all(ANSWERS in one.url and at < late for one, at in asked.items())
        if before and calm:
            return
