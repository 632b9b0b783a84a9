"""A run that computes on a cluster: its cells as tasks, and the bell that stops them."""

import json
import secrets
from contextlib import suppress
from dataclasses import asdict
from threading import Thread

from distributed import CancelledError, Client, Event, Future, KilledWorker, TimeoutError, Variable

from finetune.experiments.inoculation.plan import Cell
from finetune.experiments.inoculation.sets import Sets
from probe.runs.cluster import UNREACHABLE
from probe.runs.store import Run
from probe.runs.worker import Computed, compute, variable

FETCH = 20.0
"""Seconds to wait for a result to be sent."""

Task = Future[Computed | None]


class Dispatch:
    """A run's cells that have not ended (`waiting`), and those of them that have begun."""

    def __init__(self, client: Client, run: Run, sets: Sets, topic: str) -> None:
        """Send the sets; workers report on `topic`. Raises OSError where nothing answers.

        The scheduler holds the sets: as a task that cells depend on they would draw all cells to
        the worker that has them.
        """
        self._client, self._run, self._topic = client, run, topic
        self._home = home(client) if run.plan.mode == "fast" else None
        self._stop_event = Event(f"stop-{run.id}-{secrets.token_hex(4)}", client)
        self._sets = Variable(variable(run.id), client)
        self._sets.set(json.dumps(asdict(sets)))
        self.waiting: dict[Cell, Task] = {}
        self.begun: set[Cell] = set()
        self.stopping = False

    def start(self, cell: Cell) -> Task:
        """Send a cell; what was sent first is computed first."""
        self.waiting[cell] = self._client.submit(
            compute, self._run.id, self._run.plan, self._run.artefacts["model"], cell,
            self._topic, self._stop_event.name, pure=False, fifo_timeout=0,
            workers=self._home, allow_other_workers=self._home is not None,
        )  # fmt: skip
        return self.waiting[cell]

    def end(self, cell: Cell) -> None:
        """Forget a cell."""
        del self.waiting[cell]
        self.begun.discard(cell)

    def close(self) -> None:
        """Let the scheduler forget the sets."""
        if self._client.status == "running":
            with suppress(*UNREACHABLE):
                self._sets.delete()

    def stop(self) -> None:
        """Drop the cells that wait and ask those that run to stop.

        On a cluster that does not answer there is nothing to stop: it takes its tasks with it.
        """
        self.stopping = True
        idle = [task for cell, task in self.waiting.items() if cell not in self.begun]
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
        held = self._client.processing()
        busy = [worker for worker, theirs in held.items() if keys & set(theirs)]
        self._client.cancel(tasks)
        Thread(target=self._restart, args=(busy,), daemon=True).start()

    def _restart(self, workers: list[str]) -> None:
        with suppress(*UNREACHABLE):
            self._client.restart_workers(workers, timeout=30, raise_for_error=False)


def home(client: Client) -> str | None:
    """Return the worker with the least to do, None where there is no choice.

    What the lower layers say is kept by the worker that computed it, so that a run's cells in fast
    mode had better go to one; a worker with nothing to do takes some of them all the same.
    """
    held = client.processing()
    return min(held, key=lambda worker: len(held[worker])) if len(held) > 1 else None


def fetch(task: Task) -> Computed | None:
    """Return what an ended task came to, None where it failed, was stopped or lost.

    Raises TimeoutError where it has not ended after all: its worker died with the result, and
    dask computes it again.
    """
    if task.status in ("error", "cancelled"):
        return None
    try:
        return task.result(timeout=FETCH if task.status == "finished" else 0.1)
    except TimeoutError:
        raise
    except (CancelledError, OSError, KilledWorker):
        return None
