"""Wrong arguments to every endpoint and every event of the page's own, by the thousand.

    python -m benchmarks.faults.bad_arguments [--n 4000] [--seed 0] [--root CHECKOUT]

Starts the app as its own process and prints how many calls came to which outcome, and what its log
holds. Only "result" and "sentence" are as they should be. `--root` measures another checkout.
"""

import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import psutil
import typer

from benchmarks.faults.wrong_calls import Answer, calls, send
from benchmarks.page.app_process import ROOT

ERROR = re.compile(r"^(\w[\w.]*(?:Error|Exception)\b.*)$", re.MULTILINE)
"""The last line of a traceback."""


@contextmanager
def running(root: Path, home: Path, port: int) -> Iterator[psutil.Popen]:
    """Run the app of a checkout until the block ends; its log is in its home."""
    environment = os.environ | {
        "NLI_CLINIC_HOME": str(home),
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_TEMP_DIR": str(home / "gradio"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    with (home / "app.log").open("w") as log:
        python = str(root / ".venv" / "bin" / "python")
        app = psutil.Popen([python, "app.py"], cwd=root, env=environment, stdout=log, stderr=log)
        try:
            while not any(it.status == psutil.CONN_LISTEN for it in app.net_connections()):
                if app.poll() is not None:
                    raise RuntimeError(f"the app ended at its start: {log.name}")
                time.sleep(0.5)
            yield app
        finally:
            for one in [*app.children(recursive=True), app]:
                one.kill()
            app.wait()


def main(
    n: int = 4000,
    seed: int = 0,
    at_once: int = 8,
    root: Annotated[Path, typer.Option(help="A checkout with its environment.")] = ROOT,
    port: int = 7898,
    examples: Annotated[int, typer.Option(help="Bad answers that are printed.")] = 10,
) -> None:
    """Send the calls and print the counts by endpoint and outcome."""
    url = f"http://127.0.0.1:{port}/"
    with tempfile.TemporaryDirectory() as home, running(root, Path(home), port) as app:
        began = time.monotonic()
        with ThreadPoolExecutor(at_once) as pool:
            answers = list(pool.map(lambda call: send(url, call), calls(url, n, seed)))
        seconds, memory = time.monotonic() - began, app.memory_info().rss / 2**20
        log = (Path(home) / "app.log").read_text(encoding="utf-8", errors="replace")
    table(answers)
    for answer in [one for one in answers if one.outcome not in ("result", "sentence")][:examples]:
        print(f"  {answer.call.name}: {answer.outcome}: {answer.words[:150]!r}")
    bare = log.count("Traceback (most recent call last)")
    print(f"{len(answers)} calls in {seconds:.0f} s; {bare} tracebacks and {len(log):,} characters")
    print(f"in the log; {memory:.0f} MB afterwards")
    for error, times in Counter(ERROR.findall(log)).most_common(examples):
        print(f"  {times} times {error[:150]}")


def table(answers: list[Answer]) -> None:
    """Print how many calls of each name came to which outcome."""
    outcomes = sorted({answer.outcome for answer in answers}, key="result sentence".find)
    print(f"{'':30}" + "".join(f"{outcome:>14}" for outcome in outcomes))
    rows: dict[str, Counter[str]] = {}
    for answer in answers:
        kind = "the page's own events" if answer.call.name.startswith("event") else answer.call.name
        rows.setdefault(kind, Counter())[answer.outcome] += 1
    total = sum(rows.values(), Counter[str]())
    for name, counts in [*sorted(rows.items()), ("all", total)]:
        print(f"{name:30}" + "".join(f"{counts[outcome]:14}" for outcome in outcomes))


if __name__ == "__main__":
    typer.run(main)
