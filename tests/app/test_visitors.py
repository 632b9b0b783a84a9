"""Visitors without a browser, as the benchmarks of the page send them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from benchmarks.page.load import VIEWS, Student, Tally, visit, web_client
from benchmarks.page.visitor import Visitor
from tests.conftest import App


def test_visitors_are_answered_whatever_they_do(app: App) -> None:
    with ThreadPoolExecutor(1) as other:  # this thread may have a browser's loop
        tally = other.submit(asyncio.run, acted(urlsplit(app.url).port or 0)).result()
    assert not tally.errors and not tally.foreign
    assert {role: len(took) for role, took in tally.seconds.items()} == {
        "change": 2, "open": 2, "look": len(VIEWS)
    }  # fmt: skip


async def acted(port: int) -> Tally:
    """Return what came of a visitor of each role."""
    tally = Tally()
    async with web_client(port) as http:
        await visit(http, 0)
        for number, turns in ((0, 2), (1, 2), (3, len(VIEWS))):
            student = Student(Visitor(http), number, tally)
            await student.visitor.open()
            for turn in range(turns):
                await student.act(turn)
            await student.visitor.close()
    return tally
