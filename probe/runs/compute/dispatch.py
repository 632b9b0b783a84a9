"""A run that computes on a cluster: its cells as tasks, and the event that stops them."""

import json
import secrets
from contextlib import suppress
from threading import Thread

from distributed import CancelledError, Client, Event, Future, KilledWorker, TimeoutError, Variable

from probe.runs.compute.cluster import UNREACHABLE
from probe.runs.compute.worker import CellTask, compute, inputs_variable
from probe.runs.experiment import Experiment, Result
from probe.runs.run import Json, RunCell, StoredRun

FETCH_SECONDS = 20.0
"""Seconds to wait for a result to be sent."""

Task = Future[Result | None]


class Dispatch:
    """A run's cells that have not ended (`waiting`), and those of them that have begun."""

    def __init__(
        self,
        client: Client,
        experiment: Experiment,
        run: StoredRun,
        inputs: Json,
        topic: str,
        report_interval: float,
    ) -> None:
        """Send the inputs; workers report on `topic`. Raises OSError where nothing answers.

        The scheduler holds the inputs: as a task that cells depend on they would draw all cells to
        the worker that has them.
        """
        self._client, self._run, self._run_cell = client, run, experiment.run_cell
        self._topic, self._report_interval = topic, report_interval
        self._worker = least_busy(client) if experiment.one_worker(run.plan) else None
        self._stop_event = Event(f"stop-{run.id}-{secrets.token_hex(4)}", client)
        self._inputs = Variable(inputs_variable(run.id), client)
        self._inputs.set(json.dumps(inputs))
        self.waiting: dict[int, Task] = {}
        self.begun: set[int] = set()
        self.stopping = False

    def start(self, cell: RunCell[Json, Json, Json]) -> Task:
        """Send a cell; what was sent first is computed first."""
        task = CellTask(
            self._run.id, self._run.plan, cell.number, cell.key,
            self._run.artefacts.get("model", ""), self._topic, self._stop_event.name,
            self._report_interval,
        )  # fmt: skip
        self.waiting[cell.number] = self._client.submit(
            compute, self._run_cell, task, pure=False, fifo_timeout=0,
            workers=self._worker, allow_other_workers=self._worker is not None,
        )  # fmt: skip
        return self.waiting[cell.number]

    def end(self, number: int) -> None:
        """Forget a cell."""
        del self.waiting[number]
        self.begun.discard(number)

    def close(self) -> None:
        """Let the scheduler forget the inputs."""
        if self._client.status == "running":
            with suppress(*UNREACHABLE):
                self._inputs.delete()

    def stop(self) -> None:
        """Drop the cells that wait and ask those that run to stop.

        On a cluster that does not answer there is nothing to stop: it takes its tasks with it.
        """
        self.stopping = True
        idle = [task for number, task in self.waiting.items() if number not in self.begun]
        if self._client.status == "running":
            with suppress(*UNREACHABLE):
                self._stop_event.set()
                self._client.cancel(idle)

    def force(self) -> None:
        """Restart the workers that still compute cells; returns at once."""
        tasks = list(self.waiting.values())
        if not tasks or self._client.status != "running":
            return
        keys = {task.key for task in tasks}
        processing = self._client.processing()
        busy = [worker for worker, theirs in processing.items() if keys & set(theirs)]
        self._client.cancel(tasks)
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
