"""The app without its page, and processes that can be killed; the tests kill them as well.

`python -m benchmarks.page.app_process` takes up what is in the store, until its input ends.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
APP = ("-m", "benchmarks.page.app_process")
"""The arguments of Python that start the app without its page."""


@contextmanager
def process(*arguments: str, quiet: bool = False) -> Iterator[psutil.Popen]:
    """Run Python in a process of its own, and kill it with all its children in the end."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    output = subprocess.DEVNULL if quiet else None
    started = psutil.Popen(
        [sys.executable, *arguments],
        env=environment,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
    )
    try:
        yield started
    finally:
        family = [*started.children(recursive=True), started] if started.is_running() else []
        for each in family:
            each.kill()
        started.wait()


def main() -> None:
    """Go on with the runs of the store."""
    from finetune.trials.planning import register_experiments
    from probe.runs.engine import Engine
    from probe.runs.store import Store

    register_experiments()
    Engine(Store()).resume()
    sys.stdin.read()


if __name__ == "__main__":
    main()
