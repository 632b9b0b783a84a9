"""Waits for what happens to a run, without a view on how long it may take."""

import time
from collections.abc import Callable

from probe.runs.run import AnyRun, StoredRun
from probe.runs.store import Store


def until(store: Store, run_id: str, reached: Callable[[StoredRun], bool]) -> StoredRun:
    """Wait until a run is as wanted, and return it."""
    end = time.monotonic() + 200
    while not reached(run := store.get(run_id)):
        assert time.monotonic() < end, f"still {run.state} {run.error}: {run.cells}"
        time.sleep(0.05)
    return run


def ended(run: AnyRun) -> bool:
    """Whether a run is done, cancelled or failed."""
    return run.state not in ("queued", "running")


def training(run: AnyRun) -> bool:
    """Whether the second cell is under way."""
    return run.cells[1].state == "running" and run.cells[1].progress is not None
