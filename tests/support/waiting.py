"""Waiting for the state of a run, with a bound for tests that hang."""

import time
from collections.abc import Callable

from probe.runs.run import AnyRun, StoredRun
from probe.runs.store import Store

MAX_SECONDS = 200


def until(store: Store, run_id: str, condition: Callable[[StoredRun], bool]) -> StoredRun:
    """Wait until a run fulfils a condition, and return it."""
    deadline = time.monotonic() + MAX_SECONDS
    while not condition(run := store.get(run_id)):
        assert time.monotonic() < deadline, f"still {run.state} {run.error}: {run.cells}"
        time.sleep(0.05)
    return run


def training(run: AnyRun) -> bool:
    """Whether the first cell is stored and the second has reported progress."""
    first, second = run.cells[:2]
    return first.state == "done" and second.state == "running" and second.progress is not None
