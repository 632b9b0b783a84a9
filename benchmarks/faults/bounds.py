"""What one request may cost: the difference of two texts, occlusion, and callers who have left.

    python -m benchmarks.faults.bounds differences
    python -m benchmarks.faults.bounds occlusion
    python -m benchmarks.faults.bounds abandoned [--root CHECKOUT]

Seconds of processor time for the first two, of waiting for the last: a plain pair, alone and right
after heavy requests whose callers have left. `--root` measures another checkout of the app.
"""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import httpx
import typer

from benchmarks.page.app_process import ROOT
from benchmarks.page.idle import start
from probe.analysis.importance import attribute
from probe.models.library import load
from probe.tasks.nli import Pair
from probe.text.difference import edits

LENGTHS = (500, 1000, 2000, 4000, 8000)
OCCLUDED = (50, 100, 200, 400)
SENTENCE = "The old man walked slowly to the green house near"
HEAVY = {
    "premise": " ".join([SENTENCE] * 20),
    "hypothesis": "The man is old.",
    "method": "occlusion",
}
PLAIN = {"premise": "A man walks.", "hypothesis": "He is old."}
MAX_SECONDS = 600
commands = typer.Typer()


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


@commands.command()
def differences() -> None:
    """Print the seconds of comparing two texts of so many words."""
    rng = random.Random(0)
    for length in LENGTHS:
        prose = [f"word{int(rng.paretovariate(0.6))}" for _ in range(length)]
        half = [word for word in prose if rng.random() < 0.5]
        two, three = ["the", "cat"] * (length // 2), ["the", "cat", "sat"] * (length // 3)
        pairs = {"equal": (two, two), "half of it": (prose, half), "repeated": (two, three)}
        shown = [
            f"{name} {cpu_seconds(lambda: edits(' '.join(old), ' '.join(new))):.3f}"  # noqa: B023
            for name, (old, new) in pairs.items()
        ]
        print(f"{length:5} words: {'   '.join(shown)}", flush=True)


@commands.command()
def occlusion() -> None:
    """Print the seconds of an occlusion of so many words."""
    classifier = load("minilm")
    for length in OCCLUDED:
        pair = Pair(" ".join([SENTENCE] * (length // 10)), "He is old.")
        taken = cpu_seconds(lambda: attribute(classifier, [pair], ["neutral"], "occlusion"))  # noqa: B023
        print(f"{length:4} words: {taken:.1f}", flush=True)


@commands.command()
def abandoned(
    root: Annotated[Path, typer.Option(help="A checkout with its environment.")] = ROOT,
    port: int = 7898,
    heavy: int = 5,
) -> None:
    """Print the seconds of a plain pair, alone and after heavy requests nobody waits for."""
    with tempfile.TemporaryDirectory() as home:
        app = start(root, home, port)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}/gradio_api/call/") as client:
                answered(client, PLAIN)  # the model is loaded
                print(f"alone: {answered(client, PLAIN):.2f} s", flush=True)
                for _ in range(heavy):
                    leave(client, HEAVY)
                print(f"after {heavy} abandoned: {answered(client, PLAIN):.2f} s", flush=True)
        finally:
            for one in [*app.children(recursive=True), app]:
                one.kill()
            app.wait()


def asked(client: httpx.Client, question: dict[str, str]) -> str:
    """Ask about a pair; return the address of the answer."""
    event = client.post("v2/probe", json=question, timeout=MAX_SECONDS).raise_for_status()
    return f"probe/{event.json()['event_id']}"


def answered(client: httpx.Client, question: dict[str, str]) -> float:
    """Return the seconds until a pair is answered."""
    start = time.monotonic()
    client.get(asked(client, question), timeout=MAX_SECONDS).raise_for_status()
    return time.monotonic() - start


def leave(client: httpx.Client, question: dict[str, str]) -> None:
    """Ask, wait a second for the answer and go away."""
    try:
        client.get(asked(client, question), timeout=1.0)
    except httpx.ReadTimeout:
        return


if __name__ == "__main__":
    commands()
