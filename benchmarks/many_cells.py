"""Runs of many cells: storing, listing, beginning and stopping them, and who waits meanwhile.

    python -m benchmarks.many_cells [CELLS...]

The cells of the runs do nothing until they are stopped. While a large run is being stopped another
visitor starts a run of one cell and cancels it; the time until that is noted is the last column.
"""

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from probe.runs.database import RunRow
from probe.runs.engine import Engine
from probe.runs.experiment import CellContext, Experiment, Progress, Result, register
from probe.runs.run import Json, RunRequest
from probe.runs.store import Store
from probe.stopping import raise_if_stopped

COUNTS = (100, 1000, 20_000)
PAUSE = 0.1
"""Seconds between two questions whether to stop."""
MIDST = 0.5
"""Seconds after the wish to stop until the other visitor comes."""


def wait_to_be_stopped(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Compute nothing until somebody says stop."""
    yield Progress({"waiting": True})
    while True:
        raise_if_stopped(context.stop)
        time.sleep(PAUSE)


WAITING = Experiment(
    kind="waiting",
    cells=lambda plan: [{"seed": seed} for seed in plan["seeds"]],
    run_cell=wait_to_be_stopped,
    title=lambda plan: f"{len(plan['seeds'])} waiting cells",
    brief=lambda result: {},
)


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Watch:
    """Reads how runs are with a connection of its own, which costs the engine nothing."""

    def __init__(self, home: str) -> None:
        self._connection = sqlite3.connect(Path(home) / "runs.sqlite")

    def until(self, run_id: str, state: str) -> None:
        """Wait until a run is in a state."""
        query = "SELECT state FROM run WHERE id = ?"
        while self._connection.execute(query, (run_id,)).fetchone() != (state,):
            time.sleep(0.01)

    def begun(self, run_id: str) -> None:
        """Wait until a cell of a run has reported."""
        query = "SELECT count(*) FROM cell WHERE run = ? AND state = 'running' AND progress != '{}'"
        while self._connection.execute(query, (run_id,)).fetchone() == (0,):
            time.sleep(0.01)


def measure(store: Store, engine: Engine, watch: Watch, count: int) -> tuple[float, ...]:
    """Return the seconds of each step for a run of so many cells."""

    def create(owner: str, cells: int) -> str:
        request = RunRequest("waiting", {"seeds": list(range(cells))}, {})
        return store.create(owner, request).id

    ids: list[str] = []
    created = seconds(lambda: ids.append(create("me", count)))
    listed = seconds(lambda: store.runs_where(RunRow.owner == "me", with_cells=False))

    def begin() -> None:
        engine.submit(ids[0])
        watch.begun(ids[0])

    began = seconds(begin)
    start = time.perf_counter()
    engine.cancel(ids[0])
    time.sleep(MIDST)
    other = create("you", 1)
    asked = time.perf_counter()
    engine.submit(other)
    engine.cancel(other)
    watch.until(other, "cancelled")
    waited = time.perf_counter() - asked
    watch.until(ids[0], "cancelled")
    return created, listed, began, time.perf_counter() - start, waited


def main() -> None:
    """Print a row for each number of cells."""
    register(WAITING)
    print("| cells | stored | listed | first cell begun | all stopped | another visitor waits |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(NLI_CLINIC_HOME=home, NLI_CLINIC_WORKERS="1")
        store = Store()
        engine, watch = Engine(store), Watch(home)
        measure(store, engine, watch, 1)  # starts the cluster
        for count in [int(word) for word in sys.argv[1:]] or COUNTS:
            row = measure(store, engine, watch, count)
            print(f"| {count:,} |", " | ".join(f"{each:.2f} s" for each in row), "|", flush=True)
        engine.close()


if __name__ == "__main__":
    main()
