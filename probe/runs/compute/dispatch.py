"""A run that computes on a cluster: its cells as tasks, and the event that stops them."""

import json
import secrets
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from threading import Thread

from distributed import CancelledError, Client, Event, Future, KilledWorker, TimeoutError, Variable

from probe.runs.compute.cluster import UNREACHABLE
from probe.runs.compute.worker import CellTask, compute
from probe.runs.experiment import Experiment, Result
from probe.runs.run import Json, RunCell, StoredRun

MAX_SENT = 200
"""Cells of a run that the scheduler has at a time: sending takes time, and so does taking back."""
FETCH_SECONDS = 20.0
"""Seconds to wait for a result to be sent."""

Task = Future[Result | None]


class Dispatch:
    """A run's cells that have not ended: those that were sent (`waiting`), and the rest.

    `places` says in which order cells are computed, of all runs together, lowest first.
    """

    def __init__(
        self,
        client: Client,
        experiment: Experiment,
        run: StoredRun,
        inputs: Json,
        topic: str,
        report_interval: float,
    ) -> None:
        """Send plan and inputs; workers report on `topic`. Raises OSError where nothing answers.

        The scheduler holds them: as a task that cells depend on they would draw all cells to the
        worker that has them.
        """
        self._client, self._run, self._experiment = client, run, experiment
        self._topic, self._report_interval = topic, report_interval
        self._worker = least_busy(client) if experiment.one_worker(run.plan) else None
        name = f"{run.id}-{secrets.token_hex(4)}"  # another engine may have sent this run too
        self._stop_event = Event(f"stop-{name}", client)
        self._inputs = Variable(f"inputs-{name}", client)
        self._inputs.set(json.dumps({"plan": run.plan, "inputs": inputs}))
        self._unsent: deque[RunCell[Json, Json, Json]] = deque()
        self.owner = run.owner
        self.places: dict[int, int] = {}
        self.waiting: dict[int, Task] = {}
        self.begun: set[int] = set()
        self.stopping = False

    def add(self, cells: Iterable[RunCell[Json, Json, Json]], places: Iterable[int]) -> None:
        """Add cells that are to be computed, each with its place."""
        for cell, place in zip(cells, places, strict=True):
            self._unsent.append(cell)
            self.places[cell.number] = place

    def sendable(self) -> Iterator[RunCell[Json, Json, Json]]:
        """Take the next cells to be sent, as long as not too many are."""
        while self._unsent and len(self.waiting) < MAX_SENT:
            yield self._unsent.popleft()

    def send(self, cell: RunCell[Json, Json, Json]) -> Task:
        """Send a cell. Raises FileError where its part is gone."""
        task = CellTask(
            self._run.id, cell.number, cell.key, self._run.artefacts.get("model", ""),
            self._topic, self._inputs.name, self._stop_event.name, self._report_interval,
            self._experiment.part(self._run.plan, cell.key),
        )  # fmt: skip
        self.waiting[cell.number] = self._client.submit(
            compute, self._experiment.run_cell, task,
            pure=False, priority=-self.places[cell.number],
            workers=self._worker, allow_other_workers=self._worker is not None,
        )  # fmt: skip
        return self.waiting[cell.number]

    def end(self, number: int) -> None:
        """Forget a cell."""
        del self.waiting[number]
        del self.places[number]
        self.begun.discard(number)

    def close(self) -> None:
        """Let the scheduler forget the inputs."""
        if self._client.status == "running":
            with suppress(*UNREACHABLE):
                self._inputs.delete()

    def stop(self) -> None:
        """Drop the cells that have not begun and ask those that run to stop.

        On a cluster that does not answer there is nothing to stop: it takes its tasks with it.
        """
        self.stopping = True
        self._unsent.clear()
        self.places = {number: self.places[number] for number in self.begun}
        idle = [self.waiting.pop(number) for number in [*self.waiting] if number not in self.begun]
        if self._client.status == "running":
            with suppress(*UNREACHABLE):
                self._stop_event.set()
                self._client.cancel(idle)

    def force(self) -> None:
        """Restart the workers that still compute cells; returns at once.

        A cluster that does not answer takes them with it, as in `stop`.
        """
        tasks = list(self.waiting.values())
        if not tasks or self._client.status != "running":
            return
        keys = {task.key for task in tasks}
        try:
            processing = self._client.processing()
            self._client.cancel(tasks)
        except UNREACHABLE:
            return
        busy = [worker for worker, theirs in processing.items() if keys & set(theirs)]
        Thread(target=self._restart, args=(busy,), daemon=True).start()

    def _restart(self, workers: list[str]) -> None:
        with suppress(*UNREACHABLE, ValueError):  # a thread of this process has no nanny
            self._client.restart_workers(workers, timeout=30, raise_for_error=False)


def least_busy(client: Client) -> str | None:
    """Return the worker with the least to do, None where there is no choice.

    A worker keeps what the cells of a run share, so that these had better go to one; a worker with
    nothing to do takes some of them all the same.
    """
    processing = client.processing()
    if len(processing) < 2:
        return None
    return str(min(processing, key=lambda worker: len(processing[worker])))


def fetch(task: Task) -> Result | None:
    """Return what an ended task came to, None where it failed, was stopped or lost.

    Raises TimeoutError where it has not ended after all: its worker died with the result, and
    dask computes it again.
    """
    if task.status in ("error", "cancelled"):
        return None
    try:
        return task.result(timeout=FETCH_SECONDS if task.status == "finished" else 0.1)
    except TimeoutError:
        raise
    except (CancelledError, OSError, KilledWorker):
        return None
