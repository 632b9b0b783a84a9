"""Where cells execute: on dask, in processes of the app's own or on a cluster by its address.

Dask forgets everything at a restart, so the store remembers: a run is resumed with the cells it
lacks. All changes are made on one thread, in the order in which events arrive; what the store
cannot take waits there, and dask holds the results.
"""

import asyncio
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain, repeat
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]  # has no types
from sqlalchemy import or_, select, update

from probe.errors import ExperimentError, StoreError, UserError, library_words, public_words
from probe.models.weights import model_hash
from probe.runs.database import Database, RunRow
from probe.runs.experiment import Progress, Result, experiment_of
from probe.runs.fair_order import FairOrder
from probe.runs.models import named_model_hash, save_model_files
from probe.runs.run import OPEN, Json, RunCell, State
from probe.runs.store import IS_OPEN, Store, renew
from probe.settings import settings

if TYPE_CHECKING:  # dask is slow to load, and neither the page nor a command's help waits for it
    from probe.runs.dispatch import Dispatch, Task, Workers

MEMORY_SENTENCE = (
    "memory ran out while this was computed; a smaller batch or a smaller model needs less"
)
DISK_SENTENCE = "the disk is full"
SENTENCES = {
    "can't allocate memory": MEMORY_SENTENCE,
    "not enough memory": MEMORY_SENTENCE,
    "out of memory": MEMORY_SENTENCE,
    "No space left on device": DISK_SENTENCE,
}
"""Parts of the messages of torch, safetensors and the system, and what people are told."""


def sentence(problem: BaseException | None) -> str:
    """Return what a run failed of, in words that its page may show.

    A problem that is not known speaks for itself.
    """
    if _killed(problem):
        return "the process that computed this died again and again; is memory short?"
    if isinstance(problem, MemoryError):
        return MEMORY_SENTENCE
    if isinstance(problem, UserError):
        return public_words(problem)
    known = (words for part, words in SENTENCES.items() if part in str(problem))
    return next(known, library_words(problem or RuntimeError()))


def _killed(problem: BaseException | None) -> bool:
    """Whether a cell's process died, again and again."""
    from distributed import KilledWorker

    return isinstance(problem, KilledWorker)


def keep_model(store: Store, run_id: str, result: Result) -> str:
    """Keep a result's model where the run's experiment wants it kept.

    To be called before the result is stored. Returns why it could not be kept, or nothing.
    """
    run = store.get(run_id)
    name = experiment_of(run.kind).keep(run, result.values) if result.model else None
    if name is None:
        return ""
    store.set_kept(run_id, name)  # before it is there: a model that is no run's is everybody's
    try:
        folder = save_model_files(result.model, name)
    except OSError as problem:
        store.set_kept(run_id, run.kept)
        return f"the resulting model could not be kept: {sentence(problem)}"
    store.add_artefacts(run_id, {"kept": model_hash(folder)})
    return ""


log = logging.getLogger(__name__)
RETRY_SECONDS = (0.5, 1.0, 2.0, 5.0)
"""Seconds until something is tried again that could not be stored; the last of them goes on."""

Work = Callable[[], None]


class EventQueue:
    """Handles one event after another; what could not be stored is tried again until it can.

    So nothing that arrives later overtakes it: results wait in memory meanwhile.
    """

    def __init__(self, on_error: Callable[[str, Exception], None]) -> None:
        """Start; `on_error` takes the run and what went wrong with it, other than storing."""
        self._on_error = on_error
        self._closed = Event()
        self._thread = ThreadPoolExecutor(1, "run-events")
        self._periodic: Thread | None = None

    def put(self, run_id: str, work: Work) -> None:
        """Do this after all that waits; nothing once closed."""
        with suppress(RuntimeError):  # closed
            self._thread.submit(self._handle, run_id, work)

    def repeat(self, seconds: float, work: Work) -> None:
        """Do this again and again, every so many seconds; only the first call counts."""

        def put_repeatedly() -> None:
            while not self._closed.wait(seconds):
                self.put("", work)

        if self._periodic is None:
            self._periodic = Thread(target=put_repeatedly, daemon=True)
            self._periodic.start()

    def close(self) -> None:
        """End what is being done and drop what waits."""
        self._closed.set()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _handle(self, run_id: str, work: Work) -> None:
        try:
            self._retry(work)
        except Exception as problem:  # the outermost frame of this thread
            log.exception("run %s", run_id)
            self._retry(partial(self._on_error, run_id, problem))

    def _retry(self, work: Work) -> None:
        for pause in chain(RETRY_SECONDS, repeat(RETRY_SECONDS[-1])):
            if self._closed.is_set():
                return
            try:
                work()
                return
            except StoreError as problem:
                log.warning("%s; trying again", problem)
                self._closed.wait(pause)


LEASE_SECONDS = 30.0
"""Seconds without a renewal after which anybody may take a run."""


class Lease:
    """The runs that one engine holds. Raises StoreError where the database cannot be used."""

    def __init__(self, database: Database) -> None:
        """Hold nothing yet, under a name of machine, process, when that began, and chance."""
        born = psutil.Process().create_time()
        self.name = f"{socket.gethostname()} {os.getpid()} {born} {secrets.token_hex(4)}"
        self._database = database

    def acquire(self, run_id: str) -> bool:
        """Hold a run; False where another engine does that lives."""
        with self._database.session() as session:
            holder = session.scalar(select(RunRow.holder).where(RunRow.id == run_id)) or ""
        free = ["", self.name, *([holder] if _has_ended(holder) else [])]
        expired = RunRow.seen < time.time() - LEASE_SECONDS
        query = update(RunRow).where(RunRow.id == run_id, or_(RunRow.holder.in_(free), expired))
        return self._database.write(query.values(holder=self.name, seen=time.time())) == 1

    def available(self) -> tuple[str, ...]:
        """Return the open runs that this engine holds, or one that has ended or gone silent.

        Also those that nobody began to compute: their app ended too early.
        """
        silent = time.time() - LEASE_SECONDS
        columns = RunRow.id, RunRow.holder, RunRow.seen, RunRow.created
        with self._database.session() as session:
            rows = session.execute(select(*columns).where(IS_OPEN)).all()
        return tuple(
            run_id
            for run_id, holder, seen, created in rows
            if holder == self.name or (seen if holder else created) < silent or _has_ended(holder)
        )

    def renew(self, seen: float | None = None) -> None:
        """Note that this engine lives, or lived until then: 0 leaves what it holds to the next."""
        seen = time.time() if seen is None else seen
        mine = update(RunRow).where(RunRow.holder == self.name, IS_OPEN)
        self._database.write(mine.values(seen=seen))


def _has_ended(holder: str) -> bool:
    """Whether that engine's process has ended; of another machine's nothing is known."""
    host, process, born, _ = holder.split(" ") if holder else ("", "", "", "")
    if host != socket.gethostname():
        return False
    try:
        return bool(psutil.Process(int(process)).create_time() != float(born))
    except psutil.NoSuchProcess:
        return True


FORCE_AFTER = 4.0
"""Seconds a cell may take to stop by itself before its worker is restarted."""
UPKEEP_INTERVAL = 5.0
"""Seconds between two looks for runs that wait for the cluster or were left by another engine."""
NO_WORKER = (
    "the cluster at {address} has no worker; the run goes on when there is one that has this "
    "program and its packages"
)

CANCELLING = (IS_OPEN, RunRow.cancelling.is_(True))
"""The conditions of the runs that somebody wants to stop."""
Listener = Callable[[str, int, Progress | Result], None]
"""Takes the run, the number of the cell and what it reports or comes to."""


class Engine:
    """Runs the cells of stored runs, in turn for their owners, one cell at a time on a worker."""

    def __init__(
        self,
        store: Store,
        address: str | None = None,
        in_process: bool = False,
        listener: Listener | None = None,
    ) -> None:
        """Start nothing yet; `address` of a cluster, or ENGINE, instead of processes of ours.

        `in_process` computes on a thread of this process. With a `listener`, which takes every
        progress and result on the engine's thread, only runs that are submitted here are computed.
        """
        self._store = store
        self._lease = Lease(store.database)
        self.in_process = in_process
        self._place = None if in_process else address or settings().engine
        if self._place:
            self._place = self.cluster.address  # what is wrong with it is said at once
        self._topic = f"runs-{secrets.token_hex(4)}"
        self._events = EventQueue(self._fail)
        self._dispatches: dict[str, Dispatch] = {}
        self._order = FairOrder()
        self._submitted: set[str] = set()
        self._listener = listener

    @cached_property
    def cluster(self) -> "Workers":
        """Where the cells are computed; loads dask."""
        from probe.runs.dispatch import Workers

        return Workers(self._place, self.in_process)

    @property
    def address(self) -> str | None:
        """Where the cluster is; None before our own has started."""
        return self.cluster.address if "cluster" in vars(self) else None

    def submit(self, run_id: str) -> None:
        """Run the cells that a run lacks; returns at once."""
        self._submitted.add(run_id)
        self._events.repeat(UPKEEP_INTERVAL, self._upkeep)
        self._events.put(run_id, partial(self._start, run_id))

    def resume(self) -> None:
        """Take up the runs that an earlier engine left, or another one will; returns at once."""
        self._events.repeat(UPKEEP_INTERVAL, self._upkeep)
        for run_id in self._store.ids(IS_OPEN):
            self.submit(run_id)

    def reopen(self, run_id: str) -> None:
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
        self._events.put(run_id, partial(self._cancel, run_id))

    def close(self) -> None:
        """Stop working; what is not finished stays open in the store, for `resume`."""
        self._events.close()
        with suppress(UserError):
            self._lease.renew(0.0)
        for dispatch in self._dispatches.values():
            dispatch.stop()
        if "cluster" in vars(self):
            self.cluster.close()

    def _upkeep(self) -> None:
        """Renew the lease, take up what was left, cancel what others want cancelled, and rest.

        A run that another engine has taken, since this one was silent, is left to that.
        """
        self._lease.renew()
        held = self._store.ids(IS_OPEN, RunRow.holder == self._lease.name)
        for run_id in self._dispatches.keys() - set(held):
            log.warning("run %s is another engine's now", run_id)
            self._dispatches[run_id].stop()
            self._forget(run_id)
        waiting = [
            run_id
            for run_id in self._lease.available()
            if run_id not in self._dispatches
            and (self._listener is None or run_id in self._submitted)
        ]
        for run_id in waiting if waiting and self.cluster.connect() else ():
            self.submit(run_id)
        for run_id in self._dispatches.keys() & set(self._store.ids(*CANCELLING)):
            if not self._dispatches[run_id].stopping:
                self._events.put(run_id, partial(self._cancel, run_id))
        if runs := self._dispatches.keys():  # that begin to wait for a worker, or do so no longer
            words = NO_WORKER.format(address=self.address)
            lacking = runs if self.cluster.lacks_workers() else set[str]()
            noted = runs & set(self._store.ids(IS_OPEN, RunRow.error == words))
            for run_id in lacking ^ noted:
                self._store.requeue(run_id, words if run_id in lacking else "")
        if "cluster" in vars(self):
            self.cluster.rest(busy=bool(runs))

    def _start(self, run_id: str) -> None:
        from probe.runs.dispatch import UNREACHABLE, Dispatch
        from probe.runs.worker import REPORT_INTERVAL

        run = self._store.get(run_id)
        if run.state not in OPEN or run_id in self._dispatches or not self._lease.acquire(run_id):
            return
        if not run.cancelling:
            run = renew(self._store, run)
        lacking = [cell for cell in run.cells if cell.state in OPEN]
        if run.cancelling or not lacking:
            self._finish(run_id)
            return
        name = experiment_of(run.kind).model(run.plan)
        if name is not None:
            current = named_model_hash(name)
            if run.artefacts.get("model", current) != current:
                raise ExperimentError(
                    f"the model {name!r} has changed since this run began; start a new run"
                )
            self._store.add_artefacts(run.id, {"model": current})
        self._store.queue_cells(run_id)  # an engine that died may have left one running
        dispatch = None
        if client := self.cluster.connect():
            with suppress(*UNREACHABLE):
                client.subscribe_topic(self._topic, self._receive)  # the client may be a new one
                dispatch = Dispatch(
                    client, experiment_of(run.kind), self._store.get(run_id),
                    self._store.inputs(run_id), self._topic,
                    REPORT_INTERVAL if self._listener is None else 0.0,
                )  # fmt: skip
        if dispatch is None:
            self._requeue(run_id)
            return
        if run.error:  # it waited for the cluster, which answers now
            self._store.requeue(run_id, "")
        own = [each for each in self._dispatches.values() if each.owner == run.owner]
        waiting = (place for each in own for place in each.places.values())
        dispatch.add(lacking, self._order.places(len(lacking), waiting))
        self._dispatches[run_id] = dispatch
        self._send_more(run_id, dispatch)

    def _send_more(self, run_id: str, dispatch: "Dispatch") -> None:
        for cell in dispatch.sendable():
            self._await(run_id, cell, dispatch.send(cell))

    def _requeue(self, run_id: str) -> None:
        """Leave a run until the cluster answers."""
        cluster = f"the cluster at {self.address} does not answer"
        self._store.requeue(run_id, f"{cluster}; the run goes on when it does")

    def _await(self, run_id: str, cell: RunCell[Json, Json, Json], task: "Task") -> None:
        """Fetch a cell's result when it ends; dask calls back on a thread of its own."""
        work = partial(self._fetch, run_id, cell, task)
        task.add_done_callback(lambda done: self._events.put(run_id, work))

    def _receive(self, event: tuple[float, Json]) -> None:
        """Take a worker's report; runs on the client's event loop."""
        report = event[1]
        self._events.put(report["run"], partial(self._report, report))

    def _report(self, report: Json) -> None:
        run_id, number, progress = report["run"], report["cell"], report["progress"]
        dispatch = self._dispatches.get(run_id)
        if dispatch is None or number not in dispatch.waiting:
            return
        if progress is not None:
            self._store.set_cell(run_id, number, "running", progress=progress)
            if self._listener:
                self._listener(run_id, number, Progress(progress))
            return
        dispatch.begun.add(number)
        self._order.begin(dispatch.places[number])
        self._store.set_state(run_id, "running")
        self._store.set_cell(run_id, number, "running")

    def _fetch(self, run_id: str, cell: RunCell[Json, Json, Json], task: "Task") -> None:
        from probe.runs.dispatch import fetch

        try:
            result = fetch(task)
        except asyncio.TimeoutError:
            self._await(run_id, cell, task)
        else:
            self._events.put(run_id, partial(self._end_cell, run_id, cell, task, result))

    def _end_cell(
        self, run_id: str, cell: RunCell[Json, Json, Json], task: "Task", result: Result | None
    ) -> None:
        """Store how a cell ended. May be done again, so memory changes after the store."""
        dispatch, number = self._dispatches.get(run_id), cell.number
        if dispatch is None or dispatch.waiting.get(number) is not task:
            return
        if result:
            if result.content:
                run = self._store.get(run_id)
                experiment_of(run.kind).store_content(run.plan, cell.key, result.content)
            error = keep_model(self._store, run_id, result)
            self._store.set_result(run_id, number, result.values, error)
            if self._listener:
                self._listener(run_id, number, result)
        elif self._store.ids(*CANCELLING, RunRow.id == run_id):
            self._store.set_cell(run_id, number, "cancelled")
        elif task.status != "error":  # the cluster took the run's cells with it, or some of them
            dispatch.stop()  # those that it has not lost: they are all sent again
            if self._lease.acquire(run_id):
                self._store.queue_cells(run_id)
                self._requeue(run_id)
            self._forget(run_id)
            return
        elif _killed(task.exception()) and number not in dispatch.begun:
            # it only waited for a process that another cell killed
            self._await(run_id, cell, dispatch.send(cell))
            return
        else:
            problem = task.exception()
            log.error("run %s, %s failed", run_id, cell.key, exc_info=problem)
            self._store.set_cell(run_id, number, "failed", error=sentence(problem))
        dispatch.end(number)
        self._send_more(run_id, dispatch)
        if not dispatch.waiting:
            self._events.put(run_id, partial(self._finish, run_id))

    def _finish(self, run_id: str) -> None:
        """Store the verdict, where there are enough results for one, and how the run ended."""
        if self._lease.acquire(run_id):
            run = self._store.get(run_id)
            verdict = experiment_of(run.kind).conclude(run, self._store.inputs(run_id))
            if verdict is not None:
                self._store.update(run_id, verdict=verdict)
            errors = [cell.error for cell in run.cells if cell.error]
            if run.cancelling:
                self._store.cancel_cells(run_id)
            state: State = "cancelled" if run.cancelling else "failed" if errors else "done"
            self._store.set_state(run_id, state, errors[0] if state == "failed" else "")
        self._forget(run_id)

    def _forget(self, run_id: str) -> None:
        if dispatch := self._dispatches.pop(run_id, None):
            dispatch.close()

    def _cancel(self, run_id: str) -> None:
        dispatch = self._dispatches.get(run_id)
        if dispatch is None:
            if self._store.ids(*CANCELLING, RunRow.id == run_id):
                self._finish(run_id)
            return
        self._store.cancel_cells(run_id, dispatch.begun)
        dispatch.stop()
        timer = Timer(FORCE_AFTER, self._events.put, (run_id, dispatch.force))
        timer.daemon = True
        timer.start()
        if not dispatch.waiting:
            self._events.put(run_id, partial(self._finish, run_id))

    def _fail(self, run_id: str, problem: Exception) -> None:
        """Fail a run that an event could not be handled of."""
        known = isinstance(problem, UserError)
        error = public_words(problem) if known else f"the engine failed: {library_words(problem)}"
        if self._lease.acquire(run_id):
            self._store.set_state(run_id, "failed", error)
        if dispatch := self._dispatches.get(run_id):
            dispatch.stop()
        self._forget(run_id)
