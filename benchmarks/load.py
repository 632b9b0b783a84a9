"""Many visitors at once, and many in turn, of the real app in a process of its own.

    python -m benchmarks.load class [--visitors 50] [--minutes 2] [--beside-training]
    python -m benchmarks.load visits [--counts 0,100,600,1000]

The first lets visitors act every ten seconds and prints errors, answers that were another
visitor's, and how long answers took; the second prints the app's memory after so many visits.
"""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import httpx
import psutil
import typer

from benchmarks.app_process import ROOT
from benchmarks.idle import start
from benchmarks.visitor import Visitor
from probe.tasks.examples import random_pair

commands = typer.Typer(help=__doc__, add_completion=False)
SETTLING_SECONDS = 15.0
"""Seconds after the start until the models are loaded."""


@contextmanager
def served(root: Path, port: int) -> Iterator[psutil.Popen]:
    """Run the app with an empty home."""
    with tempfile.TemporaryDirectory() as home:
        app = start(root, home, port)
        try:
            yield app
        finally:
            for one in [*app.children(recursive=True), app]:
                one.kill()
            app.wait()


def client(port: int) -> httpx.AsyncClient:
    """Return a client without a bound on connections, as so many browsers have none."""
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=300, limits=limits)


async def visit(http: httpx.AsyncClient, number: int) -> None:
    """Open the page, ask about a pair, look at a tab, leave."""
    visitor, pair = Visitor(http), random_pair(number)
    await visitor.open()
    visitor.set("premise", pair.premise)
    visitor.set("hypothesis", pair.hypothesis)
    await visitor.trigger("premise", "change")
    await visitor.trigger("tab:inoculate", "select")
    await visitor.close()


@commands.callback()
def both() -> None:
    """Many visitors, at once or in turn."""


@commands.command()
def visits(
    counts: str = "0,100,600,1000",
    root: Annotated[Path, typer.Option(help="A checkout with its environment.")] = ROOT,
    port: int = 7898,
) -> None:
    """Print the megabytes of the app's memory after so many visits."""
    with served(root, port) as app:
        asyncio.run(_visits([int(count) for count in counts.split(",")], app, port))


async def _visits(counts: list[int], app: psutil.Popen, port: int) -> None:
    await asyncio.sleep(SETTLING_SECONDS)
    done = 0
    async with client(port) as http:
        for count in counts:
            for number in range(done, count):
                await visit(http, number)
            done = count
            print(f"{done:5} visits: {app.memory_info().rss / 2**20:6.0f} MB", flush=True)


if __name__ == "__main__":
    commands()
