"""The worker's side of a run: one cell, which dask tells to stop and which reports how far it is.

Imported by a spawned process, so it stays clear of gradio and of the run store. The function that
computes a cell comes by its module and name, so that a worker imports only what its cells need.
"""

import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from distributed import Event, Variable, Worker, WorkerPlugin, get_worker

from probe.runs.experiment import CellContext, Result, RunCell
from probe.runs.run import Json
from probe.stopping import Cancelled, hearing

STOP_INTERVAL = 0.5
"""Seconds between two questions to the scheduler whether to stop."""
REPORT_INTERVAL = 0.5
"""Seconds between two reports of a cell."""


class Subordinate(WorkerPlugin):
    """Makes a worker process give way to the app that it shares a machine with, and end with it."""

    name = "subordinate"

    def setup(self, worker: Worker) -> None:
        """Lower the process's priority, keep torch to one thread, and leave Ctrl-C to the app.

        A terminal sends that to all its processes, and the app ends its workers itself.
        """
        import torch  # after OMP_NUM_THREADS and OMP_WAIT_POLICY are set

        torch.set_num_threads(1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if hasattr(os, "nice"):  # not on Windows
            os.nice(10)


@dataclass(frozen=True)
class CellTask:
    """A cell to compute.

    `model` is the hash of the run's model, `topic` takes the reports, at most one in
    `report_interval` seconds, and as many with the `texts` answered since the cell's own last row.
    `inputs` names the variable in which the scheduler holds the run's plan and inputs as JSON text,
    `stop_event` the event that stops the cell.
    """

    run_id: str
    number: int
    key: Json
    model: str
    topic: str
    inputs: str
    stop_event: str
    report_interval: float
    part: bytes = b""


def compute(run_cell: RunCell, task: CellTask) -> Result | None:
    """Run a cell on a worker and return its result, None where it was stopped.

    Reports that it has begun, and later its progress. Raises whatever the cell does.
    """
    event, worker = Event(task.stop_event), get_worker()
    ask_again, report_again = _every(STOP_INTERVAL), _every(task.report_interval)
    count_again = _every(task.report_interval)  # of its own: a count keeps no row of the cell back

    def stop() -> bool:
        return ask_again() and bool(event.is_set())

    def report(progress: Json | None) -> None:
        news = {"run": task.run_id, "cell": task.number, "progress": progress}
        worker.log_event(task.topic, news)

    if stop():
        return None
    report(None)
    told, texts = Json(), 0

    def hear(count: int) -> None:
        nonlocal texts
        texts += count
        if count_again():
            report({**told, "texts": texts})

    try:
        work = _inputs(task.inputs)
        context = CellContext(task.model, stop, task.part)
        with hearing(hear):
            for row in run_cell(work["plan"], work["inputs"], task.key, context):
                if isinstance(row, Result):
                    return row
                told, texts = row.values, 0
                if report_again():
                    report(told)
    except Cancelled:
        pass
    return None


@lru_cache(maxsize=1)
def _inputs(variable: str) -> Json:
    inputs: Json = json.loads(Variable(variable).get(timeout=60))
    return inputs


def _every(seconds: float) -> Callable[[], bool]:
    """Return what says yes at once, and from then on no more often than every so many seconds."""
    last = -inf

    def due() -> bool:
        nonlocal last
        now = time.monotonic()
        if now - last < seconds:
            return False
        last = now
        return True

    return due
