"""A class that judges a set of texts at once, in the real app in a process of its own.

    python -m benchmarks.page.annotation [--people 30] [--each 20]

A teacher makes a set on the page; so many visitors open its link at the same moment and answer, by
chance, until nothing is left for them. Prints how long their presses took, and whether the set has
every answer that they sent.
"""

import asyncio
import random
import re
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated

import httpx
import typer

from benchmarks.page.app_process import ROOT
from benchmarks.page.load import SETTLING_SECONDS, served, web_client
from benchmarks.page.visitor import Visitor

SET = re.compile(r"set\?([\w-]+)")
COUNTED = re.compile(r"([\d,]+) have opened the link and sent ([\d,]+) batches")
BATCH = re.compile(r'data-cell="(\d+)"')
TRANSFORMS = ["sort", "shuffle", "reverse"]


def main(
    people: int = 30,
    each: Annotated[int, typer.Option(help="Texts of each of three transforms.")] = 20,
    root: Annotated[Path, typer.Option(help="A checkout with its environment.")] = ROOT,
) -> None:
    """Print the seconds of the presses, and what was sent and counted."""
    with served(root) as (_, port):
        time.sleep(SETTLING_SECONDS)
        asyncio.run(_class(people, each, port))


async def _class(people: int, each: int, port: int) -> None:
    async with web_client(port) as http:
        teacher = Visitor(http)
        await teacher.open()
        await teacher.look("people")
        teacher.set("annotate-transforms", TRANSFORMS)
        teacher.set("annotate-each", each)
        await teacher.trigger("annotate-make", "click")
        found = SET.search(str(teacher.values[teacher.part("annotate-one")]))
        if not found:
            raise SystemExit(f"no set was made: {teacher.text('annotate-trouble')}")
        began = time.perf_counter()
        answers = await asyncio.gather(
            *(_answer(port, number, found.group(1)) for number in range(people))
        )
        passed = time.perf_counter() - began
        await teacher.trigger("annotate-one", "click", f"count|{found.group(1)}||")
        counted = COUNTED.search(teacher.text("annotate-one"))
        await teacher.close()
    seconds = [second for those in answers for second in those]
    sent = sum(len(those) for those in answers)
    print(f"{people} people at once sent {sent} batches of five in {passed:.0f} s")
    print(f"the page says: {counted.group(0) if counted else 'nothing'}")
    slowest = f"95th percentile {quantiles(seconds, n=20)[-1]:.2f} s, longest {max(seconds):.2f} s"
    print(f"a press on Send: median {median(seconds):.2f} s, {slowest}")


async def _answer(port: int, number: int, which: str) -> list[float]:
    """Open the link and answer until nothing is left; return the seconds of each press on Send."""
    chance, seconds = random.Random(number), list[float]()
    link = httpx.QueryParams({which: ""})
    async with web_client(port) as http:
        http.params = link
        visitor = Visitor(http)
        await visitor.open()
        await visitor.look("set")
        visitor.set("annotate-nickname", f"visitor {number}")
        while "Nothing is left" not in visitor.text("annotate-told"):
            for place in range(1, 6):
                visitor.set(f"annotate-answer-{place}", chance.randrange(2))
            (batch,) = BATCH.findall(str(visitor.values[visitor.part("annotate-send")]))
            seconds.append(await visitor.trigger("annotate-send", "click", batch))
        await visitor.close()
    return seconds


if __name__ == "__main__":
    typer.run(main)
