"""Waits for what happens to a run, without a view on how long it may take."""

import time
from collections.abc import Callable

from probe.runs.store import Run, Store


def until(store: Store, run_id: str, reached: Callable[[Run], bool]) -> Run:
    """Wait until a run is as wanted, and return it."""
    end = time.monotonic() + 200
    while not reached(run := store.get(run_id)):
        assert time.monotonic() < end, f"still {run.state} {run.error}: {run.cells}"
        time.sleep(0.05)
    return run


def ended(run: Run) -> bool:
    """Whether a run is done, cancelled or failed."""
    return run.state not in ("queued", "running")


def training(run: Run) -> bool:
    """Whether the second cell is under way."""
    return run.cells[1].state == "running" and run.cells[1].epoch is not None
