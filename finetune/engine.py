"""Where cells execute: on dask, in a process of the app's own or on a cluster by its address.

Dask forgets everything at a restart, so the store remembers: a run is resumed with the cells it
lacks. All bookkeeping happens on one thread, in the order in which news arrives.
"""

import json
import logging
import os
import secrets
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from threading import Timer
from typing import Any

from distributed import Client, Event, Future, KilledWorker, LocalCluster

from finetune.cluster import embedded
from finetune.inoculate import Point
from finetune.outcomes import judge, verdict_json
from finetune.plan import BASE, Cell, kept_name
from finetune.record import Json, epoch_from
from finetune.runs import OPEN, Run, Store
from finetune.worker import Computed, compute, read_sets
from probe.models.catalogue import home

log = logging.getLogger(__name__)
FORCE_AFTER = 6.0
"""Seconds a cell may take to stop by itself before its worker is restarted."""


class Engine:
    """Runs the cells of stored runs, first come first served, one cell at a time on a worker."""

    def __init__(self, store: Store, address: str | None = None) -> None:
        """Start nothing yet; `address` of a cluster, or ENGINE, instead of a process of ours."""
        self._store = store
        self._address = address or os.environ.get("ENGINE")
        self._token = secrets.token_hex(4)
        self._topic = f"inoculation-{self._token}"
        self._desk = ThreadPoolExecutor(1, "inoculation")
        self._cluster: LocalCluster | None = None
        self._client: Client | None = None
        self._flights: dict[str, dict[Cell, Future[Computed | None]]] = {}
        self._begun: set[tuple[str, Cell]] = set()
        self._closed = False

    @property
    def address(self) -> str | None:
        """Where the cluster is; None before our own has started."""
        return str(self._cluster.scheduler_address) if self._cluster else self._address

    def submit(self, run_id: str) -> None:
        """Run the cells that a run lacks; returns at once."""
        self._later(self._submit, run_id)

    def resume(self) -> None:
        """Take up the runs that an earlier engine left; returns at once."""
        for run in self._store.unfinished():
            self._later(self._submit, run.id)

    def cancel(self, run_id: str) -> None:
        """Stop a run; returns at once.

        Cells that wait are dropped and the one that runs is asked to stop, which takes it about
        a second; if it does not, its worker is restarted.
        """
        self._store.request_cancel(run_id)
        self._later(self._cancel, run_id)

    def close(self) -> None:
        """Stop working; what is not finished stays open in the store, for `resume`."""
        self._closed = True
        self._desk.shutdown(wait=True, cancel_futures=True)
        if self._client is not None:
            with suppress(OSError, TimeoutError):
                for run_id in self._flights:
                    self._bell(run_id).set()
            self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _later(self, work: Callable[..., None], run_id: str, *news: Any) -> None:  # Any: for `work`
        with suppress(RuntimeError):  # closed
            self._desk.submit(self._do, work, run_id, *news)

    def _do(self, work: Callable[..., None], run_id: str, *news: Any) -> None:  # Any: for `work`
        if self._closed:
            return
        try:
            work(run_id, *news)
        except Exception as problem:  # the outermost frame of this thread
            log.exception("run %s: %s", run_id, work.__name__)
            self._store.mark(run_id, "failed", f"the engine failed: {problem}")

    def _connect(self) -> Client:
        if self._client is None:
            if not self._address and self._cluster is None:
                self._cluster = embedded()
            self._client = Client(self._cluster or self._address, set_as_default=False)
            self._client.subscribe_topic(self._topic, self._hear)
        return self._client

    def _bell(self, run_id: str) -> Event:
        return Event(f"stop-{self._token}-{run_id}", self._client)

    def _submit(self, run_id: str) -> None:
        run = self._store.get(run_id)
        if run.state not in OPEN or run_id in self._flights:
            return
        missing = [state.cell for state in run.cells if state.point is None]
        if run.cancelling or not missing:
            self._finish(run_id)
            return
        for cell in missing:  # an engine that died may have left one running
            self._store.turn(run_id, cell, "queued")
        client = self._connect()
        # a task rather than scattered data: when a worker dies dask can make it again
        sets = client.submit(read_sets, json.dumps(asdict(self._store.sets(run_id))), pure=False)
        self._flights[run_id] = {
            cell: client.submit(
                compute, run_id, run.plan, sets, cell, self._topic, self._bell(run_id).name,
                pure=False, fifo_timeout=0,
            )
            for cell in missing
        }  # fmt: skip
        for cell, future in list(self._flights[run_id].items()):
            future.add_done_callback(lambda done, cell=cell: self._landed(run_id, cell, done))

    def _hear(self, news: tuple[float, Json]) -> None:
        """Take a worker's report; runs on the client's event loop."""
        self._later(self._told, news[1]["run"], news[1])

    def _told(self, run_id: str, news: Json) -> None:
        if run_id not in self._flights:
            return
        if "epoch" in news:
            self._store.progress(run_id, epoch_from(news["epoch"]))
            return
        cell = Cell(**news["cell"])
        self._begun.add((run_id, cell))
        self._store.mark(run_id, "running")
        self._store.turn(run_id, cell, "running")

    def _landed(self, run_id: str, cell: Cell, future: Future[Computed | None]) -> None:
        """Take a cell that ended one way or another; runs on dask's callback thread."""
        self._later(self._settle, run_id, cell, future)

    def _settle(self, run_id: str, cell: Cell, future: Future[Computed | None]) -> None:
        waiting = self._flights.get(run_id, {})
        if waiting.pop(cell, None) is None:
            return
        self._begun.discard((run_id, cell))
        computed = future.result() if future.status == "finished" else None
        if computed:
            self._store.point(run_id, computed.point)
            if computed.files:
                self._keep(run_id, computed.point, computed.files)
        elif self._store.get(run_id).cancelling:
            self._store.turn(run_id, cell, "cancelled")
        else:
            self._fail(run_id, cell, future)
        if not waiting:
            del self._flights[run_id]
            self._finish(run_id)

    def _fail(self, run_id: str, cell: Cell, future: Future[Computed | None]) -> None:
        problem = future.exception() if future.status == "error" else None
        log.error("run %s, %s failed", run_id, cell, exc_info=problem)
        if isinstance(problem, KilledWorker):
            sentence = "the process that computed this died again and again; is memory short?"
        else:
            sentence = str(problem or "the cluster lost this cell; is it still there?")
        self._store.turn(run_id, cell, "failed", sentence)

    def _finish(self, run_id: str) -> None:
        run = self._store.get(run_id)
        _conclude(self._store, run)
        errors = [state.error for state in run.cells if state.state == "failed"]
        if run.cancelling:
            for state in run.cells:
                if state.state in OPEN:
                    self._store.turn(run_id, state.cell, "cancelled")
            self._store.mark(run_id, "cancelled")
        elif errors:
            self._store.mark(run_id, "failed", errors[0])
        else:
            self._store.mark(run_id, "done")

    def _keep(self, run_id: str, point: Point, files: dict[str, bytes]) -> None:
        """Keep the model of the largest size; of several the one with the best original dev."""
        run = self._store.get(run_id)
        rivals = [other.dev for other in run.points if other.cell.size == point.cell.size]
        if run.kept and point.dev < max(rivals):
            return
        name = kept_name(run.plan, run_id)
        _put(files, name)
        self._store.keep(run_id, name)

    def _cancel(self, run_id: str) -> None:
        waiting = self._flights.get(run_id)
        if not waiting or self._client is None:
            if self._store.get(run_id).state in OPEN:
                self._finish(run_id)
            return
        self._bell(run_id).set()
        idle = [future for cell, future in waiting.items() if (run_id, cell) not in self._begun]
        self._client.cancel(idle)
        timer = Timer(FORCE_AFTER, self._later, (self._force, run_id))
        timer.daemon = True
        timer.start()

    def _force(self, run_id: str) -> None:
        """Restart the workers that still compute a cancelled run."""
        waiting = list(self._flights.get(run_id, {}).values())
        if not waiting or self._client is None:
            return
        keys = {future.key for future in waiting}
        busy = [worker for worker, held in self._client.processing().items() if keys & set(held)]
        self._client.cancel(waiting)
        self._client.restart_workers(busy, timeout=10, raise_for_error=False)


def _conclude(store: Store, run: Run) -> None:
    """Judge what there is, if the largest size is among it."""
    base = next((point for point in run.points if point.cell == BASE), None)
    trained = [point for point in run.points if point.cell != BASE]
    if base and any(point.cell.size == max(run.plan.sizes) for point in trained):
        sets = store.sets(run.id)
        store.conclude(run.id, verdict_json(judge(base, trained, sets.majority, sets.paired)))


def _put(files: dict[str, bytes], name: str) -> None:
    """Write a model's folder beside the others at one stroke, so that none sees half of it."""
    half, whole = home() / f"{name}.half", home() / "models" / name
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    whole.parent.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (half / file).write_bytes(content)
    shutil.rmtree(whole, ignore_errors=True)
    half.rename(whole)
