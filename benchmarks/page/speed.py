"""What a browser takes to open the page and to follow a person who types, of one or two checkouts.

    python -m benchmarks.page.speed [--rounds 5] [--against CHECKOUT]

Each round opens the page of each checkout in turn, in a window of its own, and waits until whatever
it asks the app is answered; then it puts another hypothesis into Probe and waits for the
results. Beside the seconds by the clock stand those that the browser's main thread was at work, in
which a person can press nothing; the app's own are not among them. Last it prints what each first
load asks for and is sent, beside a gradio page with a field, a button and a result.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from playwright.sync_api import Browser, CDPSession, Page, expect

from benchmarks.page.app_process import ROOT
from benchmarks.page.browser import SLOW, chromium
from benchmarks.page.load import SETTLING_SECONDS, free_port, served
from benchmarks.page.start import POLL, answers

SIZE = {"width": 1280, "height": 800}
TYPED = "Nobody in that village has ever seen a boat of round {}."
IDLE_SECONDS = 1.0
BARE = """
import gradio as gr
with gr.Blocks() as page:
    text, button, shown = gr.Textbox(), gr.Button(), gr.HTML()
    button.click(lambda text: text, text, shown)
page.launch(quiet=True)
input()
"""
"""A gradio page without anything of ours."""
LOADED_SECONDS = 8.0
"""Within these a page has asked for whatever it opens with."""
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


@contextmanager
def bare() -> Iterator[str]:
    """Serve a gradio page without anything of ours; yield its address."""
    port = free_port()
    started = subprocess.Popen(
        [sys.executable, "-c", BARE],
        stdin=subprocess.PIPE,
        env={**os.environ, "GRADIO_SERVER_PORT": str(port)},
    )
    try:
        while not answers(port):
            time.sleep(POLL)
        yield f"http://127.0.0.1:{port}"
    finally:
        started.kill()
        started.wait()


def first_load(browser: Browser, url: str) -> tuple[int, int]:
    """Return how many requests a newcomer's page asks, and the bytes that it is sent."""
    context = browser.new_context(viewport=SIZE)
    asked, sent = set[str](), Counter[str]()
    try:
        page = context.new_page()
        network = context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.requestWillBeSent", lambda it: asked.add(it["requestId"]))
        network.on(
            "Network.loadingFinished",
            lambda it: sent.update({it["requestId"]: int(it["encodedDataLength"])}),
        )
        page.goto(url)
        page.wait_for_timeout(LOADED_SECONDS * 1000)
        return len(asked), sent.total()
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
        plain = stack.enter_context(bare())
        visits = [[visit(browser, url, number) for url in urls] for number in range(rounds + 1)]
        loads = [first_load(browser, url) for url in urls]
        requests, sent = first_load(browser, plain)
    for place, root in enumerate(roots):
        print("this checkout" if root == ROOT else "the other")
        kept = [one[place] for one in visits[1:]]  # the first loads the models
        print(line("opened", [one[0] for one in kept]))
        print(line("typed", [one[1] for one in kept]))
        asked, came = loads[place]
        print(
            f"first load  {asked} requests, {asked / requests:.2f} of a bare page's {requests}; "
            f"{came:,} bytes, {came / sent:.2f} of its {sent:,}"
        )
    print(f"medians of {rounds} rounds after a first one")


if __name__ == "__main__":
    typer.run(main)
