"""Many visitors at once, and many in turn, of the real app in a process of its own.

    python -m benchmarks.page.load class [--visitors 50] [--minutes 2] [--beside-training]
    python -m benchmarks.page.load visits [--counts 0,100,600,1000]
    python -m benchmarks.page.load greedy [--visitors 4] [--changes 20]

The first lets visitors act every ten seconds and prints errors, answers that were another
visitor's, and how long answers took; the second prints the app's memory after so many visits; the
third how long one visitor waits, alone and beside some who ask for seconds of work all the time.
"""

import asyncio
import os
import random
import re
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle, islice
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated

import httpx
import psutil
import typer
from gradio_client import Client

from benchmarks.page.app_process import ROOT
from benchmarks.page.idle import cpu_seconds, start
from benchmarks.page.visitor import EventError, Visitor
from probe.tasks.examples import random_example
from probe.tasks.nli import NLI

commands = typer.Typer(help=__doc__, add_completion=False)
SETTLING_SECONDS = 15.0
"""Seconds after the start until the models are loaded."""
ACT_SECONDS = 10.0
ROLES = ("change", "open", "change", "look", "open", "change")
"""What visitors do, in turn: half of them change something, a third open pairs, others look."""
SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su")
VIEWS = ("train", "learn", "compare", "score")
WORDS = 60
"""Words of the premise of which greedy visitors ask what each of its tokens is for."""


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def served(root: Path) -> Iterator[tuple[psutil.Popen, int]]:
    """Run the app with an empty home on a free port; yield its process and the port."""
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        app = start(root, home, port)
        try:
            yield app, port
        finally:
            for one in [*app.children(recursive=True), app]:
                one.kill()
            app.wait()


def web_client(port: int) -> httpx.AsyncClient:
    """Return a client without a bound on connections, as so many browsers have none."""
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=300, limits=limits)


@commands.command()
def visits(
    counts: str = "0,100,600,1000",
    root: Annotated[Path, typer.Option(help="A checkout with its environment.")] = ROOT,
) -> None:
    """Print the megabytes of the app's memory after so many visits."""
    with served(root) as (app, port):
        asyncio.run(_visits([int(count) for count in counts.split(",")], app, port))


async def _visits(counts: list[int], app: psutil.Popen, port: int) -> None:
    await asyncio.sleep(SETTLING_SECONDS)
    done = 0
    async with web_client(port) as http:
        for count in counts:
            for number in range(done, count):
                await visit(http, number)
            done = count
            print(f"{done:5} visits: {app.memory_info().rss / 2**20:6.0f} MB", flush=True)


async def visit(http: httpx.AsyncClient, number: int) -> None:
    """Open the page, ask about a pair, look at a view, leave."""
    visitor, pair = Visitor(http), random_example(NLI, number)
    await visitor.open()
    visitor.set("text-1", pair.premise)
    visitor.set("text-2", pair.hypothesis)
    await visitor.trigger("text-1", "change")
    await visitor.look("train")
    await visitor.close()


@dataclass
class Tally:
    """What came of all actions: seconds by role, errors, and answers with another's word."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    foreign: int = 0

    def add(self, role: str, seconds: float) -> None:
        """Note an action that was answered."""
        self.seconds.setdefault(role, []).append(seconds)

    def report(self) -> Iterator[str]:
        """Yield a line for each role and one for all."""
        everything = [took for each in self.seconds.values() for took in each]
        yield f"{sum(self.errors.values())} errors, {self.foreign} answers of another visitor"
        for role, took in [*self.seconds.items(), ("all", everything)]:
            p95 = quantiles(took, n=20)[-1] if len(took) > 1 else took[0]
            yield (
                f"{role:6} {len(took):5} answers, median {median(took):5.2f} s, "
                f"95th percentile {p95:5.2f} s, longest {max(took):5.2f} s"
            )
        for error, times in self.errors.most_common(5):
            yield f"{times} x {error}"


def own_word(number: int) -> str:
    """Return a word that is no other visitor's."""
    size = len(SYLLABLES)
    return "z" + "".join(SYLLABLES[number // size**place % size] for place in range(3)) + "x"


@dataclass
class Student:
    """A visitor with a word of their own in each text, and what came of it."""

    visitor: Visitor
    number: int
    tally: Tally

    @property
    def role(self) -> str:
        """What this visitor does."""
        return ROLES[self.number % len(ROLES)]

    async def act(self, turn: int) -> None:
        """Do what the role says, once."""
        began = time.perf_counter()
        try:
            await self._do(turn)
        except (EventError, httpx.HTTPError) as problem:
            self.tally.errors[f"{type(problem).__name__}: {problem}"[:200]] += 1
            return
        self.tally.add(self.role, time.perf_counter() - began)

    async def _do(self, turn: int) -> None:
        if self.role == "look":
            await self.visitor.look(VIEWS[turn % len(VIEWS)])
            return
        opens = self.role == "open"
        pair = random_example(NLI, 1000 * self.number + (turn if opens else 0))
        self.visitor.set("text-1", pair.premise)
        self.visitor.set("text-2", f"{pair.hypothesis} {turn} {own_word(self.number)}.")
        if self.role == "change" and turn % 2:
            await self.visitor.trigger("gold", "input")
        else:
            await self.visitor.trigger("text-1", "change")
        self._check()

    def _check(self) -> None:
        """Count an answer without the visitor's word, or with another's."""
        # the words are shown in pieces, with numbers between
        shown = re.sub("[^a-z]", "", self.visitor.text("answer").lower())
        others = (own_word(other) for other in range(200) if other != self.number)
        if own_word(self.number) not in shown or any(word in shown for word in others):
            self.tally.foreign += 1


@commands.command("class")
def class_command(
    visitors: int = 50,
    minutes: float = 2.0,
    beside_training: Annotated[bool, typer.Option(help="While a model is fine-tuned.")] = False,
    root: Annotated[Path, typer.Option(help="A checkout with its environment.")] = ROOT,
) -> None:
    """Let a class use the app, and print errors, mistaken answers and how long they took."""
    with served(root) as (app, port):
        time.sleep(SETTLING_SECONDS)
        stop = train(port) if beside_training else None
        before = cpu_seconds(app)
        tally = asyncio.run(_class(visitors, minutes, port))
        for line in tally.report():
            print(line)
        own = sum(psutil.Process(os.getpid()).cpu_times()[:2])
        spent = cpu_seconds(app) - before
        print(
            f"processor seconds: {spent:.0f} of the app and its workers, {own:.0f} of the visitors"
        )
        if stop:
            print(f"the fine-tune at the end: {stop()}")


def train(port: int) -> Callable[[], str]:
    """Start a fine-tune of all weights; return what stops it and says its state."""
    client = Client(f"http://127.0.0.1:{port}/", verbose=False)
    run = client.predict(
        "minilm", "negation", "all", "2e-5", "0,1,2,3", "full", api_name="/inoculate"
    )
    while not any(
        cell["state"] == "running"
        for cell in client.predict(run["run"], run["owner"], api_name="/run")["cells"]
    ):
        time.sleep(0.5)
    return lambda: client.predict(run["run"], run["owner"], api_name="/run")["state"]


async def _class(visitors: int, minutes: float, port: int) -> Tally:
    tally = Tally()
    async with web_client(port) as http:
        students = [Student(Visitor(http), number, tally) for number in range(visitors)]
        began = time.perf_counter()
        for student in students:
            await student.visitor.open()
        for view in VIEWS:  # the first look at a view draws what all later ones show
            await students[0].visitor.look(view)
        print(f"{visitors} pages opened in turn in {time.perf_counter() - began:.0f} s", flush=True)
        until = time.perf_counter() + 60 * minutes
        await asyncio.gather(*(_stay(student, until) for student in students))
        for student in students:
            await student.visitor.close()
    return tally


async def _stay(student: Student, until: float) -> None:
    """Act every 5 to 15 seconds, as chance has it, so that some press at once as in a class."""
    rng, turn = random.Random(student.number), 0
    due = time.perf_counter() + ACT_SECONDS * rng.random()
    while due < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await student.act(turn)
        turn, due = turn + 1, due + ACT_SECONDS * rng.uniform(0.5, 1.5)


@commands.command()
def greedy(
    visitors: int = 4,
    changes: int = 20,
    root: Annotated[Path, typer.Option(help="A checkout with its environment.")] = ROOT,
) -> None:
    """Let one visitor change a pair again and again, alone and beside greedy ones."""
    with served(root) as (_, port):
        time.sleep(SETTLING_SECONDS)
        asyncio.run(_beside_greedy(visitors, changes, port))


async def _beside_greedy(visitors: int, changes: int, port: int) -> None:
    async with web_client(port) as http:
        student = Student(Visitor(http), 0, Tally())
        await student.visitor.open()
        await _change(student, changes, "alone")
        served = list[int]()
        others = [asyncio.create_task(_ask_on(http, number, served)) for number in range(visitors)]
        await asyncio.sleep(ACT_SECONDS)
        before, began = len(served), time.perf_counter()
        await _change(student, changes, f"beside {visitors}")
        passed = time.perf_counter() - began
        for other in others:
            other.cancel()
        await student.visitor.close()
    print(f"the greedy ones had {len(served) - before} answers in {passed:.0f} s")


async def _change(student: Student, times: int, words: str) -> None:
    """Change a pair so often, a second after each answer, and print what it took."""
    student.tally = Tally()
    for turn in range(0, 2 * times, 2):  # the even turns change the text
        await student.act(turn)
        await asyncio.sleep(1)
    for line in list(student.tally.report())[:2]:
        print(f"{words}: {line}", flush=True)


async def _ask_on(http: httpx.AsyncClient, number: int, served: list[int]) -> None:
    """Ask for the importance of each token of a long pair, over and over; note each answer."""
    for turn in count():
        pair = random_example(NLI, 1000 * number + turn)
        premise = " ".join(islice(cycle(pair.premise.split()), WORDS))
        asked = {"premise": premise, "hypothesis": pair.hypothesis, "method": "occlusion"}
        event = (await http.post("/gradio_api/call/v2/probe", json=asked)).raise_for_status()
        await http.get(f"/gradio_api/call/probe/{event.json()['event_id']}")
        served.append(turn)


if __name__ == "__main__":
    commands()
