"""What a browser takes to open the page and to follow a person who types, of one or two checkouts.

    python -m benchmarks.page.speed [--rounds 5] [--against CHECKOUT]

Each round opens the page of each checkout in turn, in a window of its own, and waits until whatever
it asks the app is answered; then it puts another hypothesis into the Probe tab and waits for the
results. Beside the seconds by the clock stand those that the browser's main thread was at work, in
which a person can press nothing; the app's own are not among them.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from playwright.sync_api import Browser, CDPSession, Page, expect

from benchmarks.page.app_process import ROOT
from benchmarks.page.browser import SLOW, chromium
from benchmarks.page.load import SETTLING_SECONDS, served

SIZE = {"width": 1280, "height": 800}
TYPED = "Nobody in that village has ever seen a boat of round {}."
IDLE_SECONDS = 1.0
Seconds = tuple[float, float]
"""By the clock, and at work on the browser's main thread."""


def at_work(metrics: CDPSession) -> float:
    """Return the seconds that the page's main thread has worked."""
    values = metrics.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in values if one["name"] == "TaskDuration"))


def opened(page: Page, metrics: CDPSession, url: str) -> Seconds:
    """Open the page and wait until all that it asks is answered, and shown."""
    began = time.perf_counter()
    page.goto(url)
    expect(page.locator("#rows .result").first).to_be_visible(timeout=SLOW)
    return _until_idle(page, metrics) - began, at_work(metrics)


def typed(page: Page, metrics: CDPSession, text: str) -> Seconds:
    """Put a hypothesis into its field and wait for the results of its transforms."""
    before, began = at_work(metrics), time.perf_counter()
    page.locator("#text-2 textarea").fill(text)
    expect(page.locator("#rows .result").first).to_contain_text("village", timeout=SLOW)
    expect(page.locator("#rows.stale, #answer.stale")).to_have_count(0, timeout=SLOW)
    return _until_idle(page, metrics) - began, at_work(metrics) - before


def _until_idle(page: Page, metrics: CDPSession) -> float:
    """Wait until the main thread has hardly anything to do; return when that began."""
    while True:
        began, before = time.perf_counter(), at_work(metrics)
        page.wait_for_timeout(IDLE_SECONDS * 1000)
        if at_work(metrics) - before < IDLE_SECONDS / 10:
            return began


def visit(browser: Browser, url: str, number: int) -> tuple[Seconds, Seconds]:
    """Return what opening a page took, and following one change of a text."""
    context = browser.new_context(viewport=SIZE)
    try:
        page = context.new_page()
        metrics = context.new_cdp_session(page)
        metrics.send("Performance.enable")
        return opened(page, metrics, url), typed(page, metrics, TYPED.format(number))
    finally:
        context.close()


def line(title: str, times: Sequence[Seconds]) -> str:
    """Return the medians of one thing's times."""
    clock, busy = (median(one[place] for one in times) for place in (0, 1))
    return f"{title:8}  by the clock {clock:6.2f} s   main thread at work {busy:6.2f} s"


def main(
    rounds: int = 5,
    against: Annotated[Path | None, typer.Option(help="Another checkout of the app.")] = None,
) -> None:
    """Print the medians of each checkout."""
    roots = [ROOT, *([against] if against else [])]
    with ExitStack() as stack:
        urls = [f"http://127.0.0.1:{stack.enter_context(served(root))[1]}" for root in roots]
        time.sleep(SETTLING_SECONDS * len(roots))
        browser = stack.enter_context(chromium())
        visits = [[visit(browser, url, number) for url in urls] for number in range(rounds + 1)]
    for place, root in enumerate(roots):
        print("this checkout" if root == ROOT else "the other")
        kept = [one[place] for one in visits[1:]]  # the first loads the models
        print(line("opened", [one[0] for one in kept]))
        print(line("typed", [one[1] for one in kept]))
    print(f"medians of {rounds} rounds after a first one")


if __name__ == "__main__":
    typer.run(main)
