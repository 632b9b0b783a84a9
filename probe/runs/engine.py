"""Where cells execute: on dask, in processes of the app's own or on a cluster by its address.

Dask forgets everything at a restart, so the store remembers: a run is resumed with the cells it
lacks. All bookkeeping happens on one thread, in the order in which news arrives; what the store
cannot take waits there, and dask holds the results.
"""

import logging
import secrets
from contextlib import suppress
from functools import partial

from distributed import KilledWorker, TimeoutError

from finetune.experiments.inoculation.plan import Cell
from probe.errors import ExperimentError, ModelError
from probe.models.hashes import model_hash
from probe.models.library import locate
from probe.runs.cluster import UNREACHABLE, Cluster
from probe.runs.completion import finish, keep
from probe.runs.dispatch import Dispatch, Task, fetch
from probe.runs.event_queue import EventQueue
from probe.runs.failures import sentence
from probe.runs.lease import Lease
from probe.runs.serialise import Json, epoch_from
from probe.runs.store import OPEN, Run, Store
from probe.runs.worker import Computed
from probe.settings import settings

log = logging.getLogger(__name__)
FORCE_AFTER = 4.0
"""Seconds a cell may take to stop by itself before its worker is restarted."""
PULSE = 5.0
"""Seconds between two looks for runs that wait for the cluster or were left by another engine."""


class Engine:
    """Runs the cells of stored runs, first come first served, one cell at a time on a worker."""

    def __init__(self, store: Store, address: str | None = None) -> None:
        """Start nothing yet; `address` of a cluster, or ENGINE, instead of processes of ours."""
        self._store = store
        self._lease = Lease(store.database)
        self._cluster = Cluster(address or settings().engine or None)
        self._topic = f"inoculation-{secrets.token_hex(4)}"
        self._events = EventQueue(self._broken)
        self._dispatches: dict[str, Dispatch] = {}

    @property
    def address(self) -> str | None:
        """Where the cluster is; None before our own has started."""
        return self._cluster.address

    def submit(self, run_id: str) -> None:
        """Run the cells that a run lacks; returns at once."""
        self._events.pulse(PULSE, self._look_round)
        self._events.later(run_id, partial(self._submit, run_id))

    def resume(self) -> None:
        """Take up the runs that an earlier engine left; returns at once."""
        for run in self._store.unfinished():
            self.submit(run.id)

    def again(self, run_id: str) -> None:
        """Take up a failed or cancelled run with the cells it lacks; returns at once.

        Raises StoreError where that cannot be noted.
        """
        self._store.reopen(run_id)
        self.submit(run_id)

    def cancel(self, run_id: str) -> None:
        """Stop a run; returns at once. Raises StoreError where that cannot be noted.

        Cells that wait are dropped and the one that runs is asked to stop, which takes it about
        a second; if it does not, its worker is restarted.
        """
        self._store.request_cancel(run_id)
        self._events.later(run_id, partial(self._cancel, run_id))

    def close(self) -> None:
        """Stop working; what is not finished stays open in the store, for `resume`."""
        self._events.close()
        with suppress(ExperimentError):
            self._lease.leave()
        for dispatch in self._dispatches.values():
            dispatch.stop()
        self._cluster.close()

    def _look_round(self) -> None:
        """Give a sign of life, take up what was left, hear of wishes that others have stored."""
        self._lease.renew()
        left = [run_id for run_id in self._lease.left() if run_id not in self._dispatches]
        for run_id in left if left and self._cluster.connect() else ():
            self.submit(run_id)
        for run_id, dispatch in self._dispatches.items():
            if not dispatch.stopping and self._store.get(run_id).cancelling:
                self._events.later(run_id, partial(self._cancel, run_id))

    def _submit(self, run_id: str) -> None:
        run = self._store.get(run_id)
        if run.state not in OPEN or run_id in self._dispatches or not self._lease.take(run_id):
            return
        lacking = [state.cell for state in run.cells if state.state in OPEN]
        if run.cancelling or not lacking:
            self._finish(run_id)
            return
        self._identify(run)
        for cell in lacking:  # an engine that died may have left one running
            self._store.turn(run_id, cell, "queued")
        dispatch = self._dispatch(run_id)
        if dispatch is None:
            self._wait(run_id)
            return
        self._dispatches[run_id] = dispatch
        for cell in lacking:
            self._await(run_id, cell, dispatch.start(cell))

    def _dispatch(self, run_id: str) -> Dispatch | None:
        run, sets = self._store.get(run_id), self._store.sets(run_id)
        if client := self._cluster.connect():
            with suppress(*UNREACHABLE):
                client.subscribe_topic(self._topic, self._hear)  # each time: it may be a new one
                return Dispatch(client, run, sets, self._topic)
        return None

    def _identify(self, run: Run) -> None:
        """Store the model's hash, or see that the model is still the one that was begun with."""
        found = model_hash(locate(run.plan.model)[0])
        if run.artefacts.get("model", found) != found:
            raise ExperimentError(
                f"the model {run.plan.model!r} has changed since this run began; start a new run"
            )
        self._store.describe(run.id, {"model": found})

    def _wait(self, run_id: str) -> None:
        """Leave a run to a later look round."""
        cluster = f"the cluster at {self.address} does not answer"
        self._store.wait(run_id, f"{cluster}; the run goes on when it does")

    def _await(self, run_id: str, cell: Cell, task: Task) -> None:
        """Settle a cell when it ends one way or another; dask calls back on a thread of its own."""
        settle = partial(self._settle, run_id, cell, task)
        task.add_done_callback(lambda done: self._events.later(run_id, settle))

    def _hear(self, news: tuple[float, Json]) -> None:
        """Take a worker's report; runs on the client's event loop."""
        told = news[1]
        self._events.later(told["run"], partial(self._told, told["run"], told))

    def _told(self, run_id: str, news: Json) -> None:
        row = news.get("epoch")
        cell = Cell(**(row or news)["cell"])
        dispatch = self._dispatches.get(run_id)
        if dispatch is None or cell not in dispatch.waiting:
            return
        if row:
            self._store.progress(run_id, epoch_from(row))
            return
        dispatch.begun.add(cell)
        self._store.mark(run_id, "running")
        self._store.turn(run_id, cell, "running")

    def _settle(self, run_id: str, cell: Cell, task: Task) -> None:
        try:
            computed = fetch(task)
        except TimeoutError:
            self._await(run_id, cell, task)
        else:
            self._events.later(run_id, partial(self._book, run_id, cell, task, computed))

    def _book(self, run_id: str, cell: Cell, task: Task, computed: Computed | None) -> None:
        """Book a cell that has ended. May be done again, so memory changes after the store."""
        dispatch = self._dispatches.get(run_id)
        if dispatch is None or dispatch.waiting.get(cell) is not task:
            return
        if computed:
            error = keep(self._store, run_id, computed.point, computed.files)
            self._store.point(run_id, computed.point, error)
        elif self._store.get(run_id).cancelling:
            self._store.turn(run_id, cell, "cancelled")
        elif task.status != "error":
            self._lost(run_id, dispatch)
            return
        elif isinstance(task.exception(), KilledWorker) and cell not in dispatch.begun:
            # it only waited for a process that another cell killed
            self._await(run_id, cell, dispatch.start(cell))
            return
        else:
            problem = task.exception()
            log.error("run %s, %s failed", run_id, cell, exc_info=problem)
            self._store.turn(run_id, cell, "failed", sentence(problem))
        dispatch.end(cell)
        if not dispatch.waiting:
            self._events.later(run_id, partial(self._finish, run_id))

    def _lost(self, run_id: str, dispatch: Dispatch) -> None:
        """Queue the cells of a run that the cluster took with it, and wait for the cluster."""
        for cell in dispatch.waiting:
            self._store.turn(run_id, cell, "queued")
        self._wait(run_id)
        del self._dispatches[run_id]

    def _finish(self, run_id: str) -> None:
        finish(self._store, run_id)
        if dispatch := self._dispatches.pop(run_id, None):
            dispatch.close()

    def _cancel(self, run_id: str) -> None:
        dispatch = self._dispatches.get(run_id)
        if dispatch:
            dispatch.stop()
            self._events.after(FORCE_AFTER, run_id, dispatch.force)
        elif self._store.get(run_id).state in OPEN and self._lease.take(run_id):
            self._finish(run_id)

    def _broken(self, run_id: str, problem: Exception) -> None:
        """Fail a run that the bookkeeping itself came to grief over."""
        told = isinstance(problem, (ExperimentError, ModelError))
        error = str(problem) if told else f"the engine failed: {problem}"
        self._store.mark(run_id, "failed", error)
        if dispatch := self._dispatches.pop(run_id, None):
            dispatch.stop()
            dispatch.close()
