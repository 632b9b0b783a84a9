"""How long the app takes until its first page, beside what importing gradio alone takes.

    python -m benchmarks.page.start [--rounds 7] [--root CHECKOUT]

Each round starts `import gradio` in a fresh process, then the app until its page has been answered
over HTTP, so that both see the same machine. Beside the seconds by the clock stand those of the
processor, which other programs disturb less. `--root` measures another checkout of the app.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Annotated
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import typer

from benchmarks.page.app_process import ROOT

POLL = 0.02
"""Seconds between two attempts to fetch the page."""
PATIENCE = 300.0
"""Seconds after which the app counts as one that does not start."""
Seconds = tuple[float, float]
"""By the clock, and of the processor."""


def spent(process: psutil.Popen, began: float) -> Seconds:
    """Return the seconds since then, and those of the processor by one process."""
    used = process.cpu_times()
    return time.perf_counter() - began, used.user + used.system


def start(arguments: Sequence[str], root: Path, **variables: str) -> psutil.Popen:
    """Start this Python in a checkout, with one thread for torch."""
    quiet, environment = subprocess.DEVNULL, {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    return psutil.Popen(
        [sys.executable, *arguments], cwd=root, env=environment, stdout=quiet, stderr=quiet
    )


def time_gradio(root: Path) -> Seconds:
    """Return what a fresh process takes to import gradio."""
    began = time.perf_counter()
    child = os.wait4(start(["-c", "import gradio"], root).pid, 0)[2]
    return time.perf_counter() - began, child.ru_utime + child.ru_stime


def time_app(root: Path, port: int) -> Seconds:
    """Return what the app takes until its first page has been read."""
    with tempfile.TemporaryDirectory() as home:
        began = time.perf_counter()
        app = start(["app.py"], root, NLI_CLINIC_HOME=home, GRADIO_SERVER_PORT=str(port))
        try:
            while not answers(port):
                if app.poll() is not None or time.perf_counter() - began > PATIENCE:
                    raise RuntimeError("the app did not start")
                time.sleep(POLL)
            return spent(app, began)
        finally:
            for one in [*app.children(recursive=True), app]:
                one.kill()
            app.wait()


def answers(port: int) -> bool:
    """Whether the page comes."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE) as answer:
            return bool(answer.read())
    except (URLError, ConnectionError):
        return False


def main(
    rounds: int = 7,
    root: Annotated[Path, typer.Option(help="A checkout of the app.")] = ROOT,
    port: int = 7898,
) -> None:
    """Print the medians of both and their ratio."""
    gradio, app = list[Seconds](), list[Seconds]()
    for _ in range(rounds):
        gradio.append(time_gradio(root))
        app.append(time_app(root, port))
    for place, clock in enumerate(("by the clock", "of the processor")):
        alone, page = (median(one[place] for one in times) for times in (gradio, app))
        print(
            f"{clock:16}  import gradio {alone:5.2f} s   first page {page:5.2f} s   "
            f"ratio {page / alone:.2f}"
        )
    print(f"medians of {rounds} rounds")


if __name__ == "__main__":
    typer.run(main)
