"""A run that computes on a cluster: its cells as tasks, and the event that stops them."""

import asyncio
import json
import logging
import re
import secrets
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from types import ModuleType
from typing import Any

import dask
from dask.system import CPU_COUNT
from distributed import (
    CancelledError,
    Client,
    Event,
    Future,
    KilledWorker,
    Nanny,
    Scheduler,
    Security,
    SpecCluster,
    Status,
    TimeoutError,
    Variable,
    Worker,
)
from distributed.deploy.cluster import Cluster

from probe.errors import SettingsError
from probe.native_environment import NATIVE_ENVIRONMENT
from probe.runs.experiment import Experiment, Result
from probe.runs.run import Json, RunCell, StoredRun
from probe.runs.worker import CellTask, Subordinate, compute
from probe.settings import settings

WORKER_ENVIRONMENT = {
    **NATIVE_ENVIRONMENT,
    "OMP_NUM_THREADS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
MALLOC_TRIM_SETTING = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
"""With dask's setting every tensor's memory goes back to the system at once, and training takes
half as long again."""
ALLOWED_DEATHS = 2
"""How often the process of a cell may die before the cell fails: memory may be short."""


class PagelessScheduler(Scheduler):
    """A scheduler without dask's web page, which asks nobody who they are."""

    def start_http_server(self, *arguments: object, **options: object) -> None:
        """Serve no page: dask has no setting for that."""


class PagelessWorker(Worker):
    """A worker without dask's web page."""

    def start_http_server(self, *arguments: object, **options: object) -> None:
        """Serve no page."""


class BareNanny(Nanny):
    """Starts its worker, also after a crash, without the app's main module."""

    async def instantiate(self) -> Status:
        """Start the worker process."""
        with without_main():
            return await super().instantiate()


class LastingCluster(SpecCluster):
    """A cluster that gives no worker up, since each nanny starts its own again.

    Dask's looks at a lost worker again after a while and closes its nanny if none of that name is
    there just then, as when it died a second time: the cluster would be left without workers.
    """

    def _update_worker_status(self, op: str, msg: Any) -> None:  # Any: an address, or facts
        Cluster._update_worker_status(self, op, msg)


@contextmanager
def without_main() -> Iterator[None]:
    """Hide where the main module lies: a spawned process imports it again, and gradio with it."""
    main, bare = sys.modules["__main__"], ModuleType("__main__")
    hidden = ("__file__", "__spec__")
    shown = {name: value for name, value in vars(main).items() if name not in hidden}
    bare.__dict__.update(shown)
    sys.modules["__main__"] = bare
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def local_processes(count: int) -> SpecCluster:
    """Start a cluster of processes with one thread each, which knows its own by certificate."""
    security = Security.temporary()
    here: dict[str, Any] = {"protocol": "tls://", "host": "127.0.0.1", "security": security}
    worker = {
        "cls": BareNanny,
        "options": {
            **here,
            "worker_class": PagelessWorker,
            "nthreads": 1,
            "env": WORKER_ENVIRONMENT,
            "silence_logs": logging.ERROR,
            "memory_limit": 0,  # dask would kill the worker where the app is what fills the memory
        },
    }
    with dask.config.set({MALLOC_TRIM_SETTING: None}):
        cluster = LastingCluster(  # type: ignore[no-untyped-call]  # dask's is untyped
            scheduler=_scheduler(**here, port=0, allowed_failures=ALLOWED_DEATHS),
            workers=dict.fromkeys(range(count), worker),
            security=security,
            silence_logs=logging.ERROR,
        )
    with Client(cluster, set_as_default=False) as client:
        client.register_plugin(Subordinate())
    return cluster


def local_thread() -> SpecCluster:
    """Start a cluster of one thread in this process, which can be stopped but not killed."""
    options = {"protocol": "inproc://", "nthreads": 1, "memory_limit": 0}
    return SpecCluster(
        scheduler=_scheduler(protocol="inproc://"),
        workers={0: {"cls": PagelessWorker, "options": options}},
        silence_logs=logging.ERROR,
    )


def _scheduler(**options: object) -> dict[str, Any]:
    return {"cls": PagelessScheduler, "options": {"dashboard": False, **options}}


TLS, TLS_SETTINGS = "distributed.comm.tls", ("ca-file", "client.cert", "client.key")
"""Dask's own settings, without which no encrypted cluster answers."""
CONNECT_SECONDS = 5.0
"""Seconds to wait for a cluster to answer."""
IDLE_SECONDS = 120.0
"""Seconds without a run after which our own cluster ends: idle it takes a twentieth of a core."""
UNREACHABLE = (OSError, asyncio.TimeoutError)  # on Python 3.10 the second is no OSError


class Workers:
    """The cluster at an address, or one of our own that starts when it is needed first."""

    def __init__(self, address: str | None, in_process: bool = False) -> None:
        """Start nothing yet; without an address and `in_process` it is processes of our own.

        Raises SettingsError where NLI_CLINIC_WORKERS is no number, or an encrypted cluster is
        named without the certificates.
        """
        lacks = [name for name in TLS_SETTINGS if not dask.config.get(f"{TLS}.{name}")]
        if lacks and (address or "").startswith("tls://"):
            names = [re.sub(r"\W", "_", name.replace(".", "__")).upper() for name in lacks]
            variables = " and ".join(f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in names)
            raise SettingsError(f"ENGINE is {address!r}: set {variables} to files of your cluster")
        self._address = address
        self._processes = 0 if address or in_process else worker_count()
        self._own: SpecCluster | None = None
        self._client: Client | None = None
        self._used = time.monotonic()

    @property
    def address(self) -> str | None:
        """Where the scheduler is; None before our own has started."""
        return str(self._own.scheduler_address) if self._own else self._address

    def connect(self) -> Client | None:
        """Return a client that is connected, None where nothing answers."""
        if self._client is not None and self._client.status != "running":
            self._disconnect()
        if self._client is None:
            if not self._address and self._own is None:
                self._own = local_processes(self._processes) if self._processes else local_thread()
            with suppress(*UNREACHABLE):
                self._client = Client(
                    self._own or self._address, timeout=CONNECT_SECONDS, set_as_default=False
                )
        return self._client

    def lacks_workers(self) -> bool:
        """Whether a cluster that is not our own answers and has nobody to compute."""
        if not self._address or self._client is None or self._client.status != "running":
            return False
        with suppress(*UNREACHABLE):
            return not self._client.nthreads()
        return False

    def rest(self, busy: bool) -> None:
        """End our own cluster where it was not busy for a while; `connect` starts another."""
        if busy or self._own is None:
            self._used = time.monotonic()
        elif time.monotonic() - self._used >= IDLE_SECONDS:
            self.close()

    def close(self) -> None:
        """Leave the cluster; our own ends."""
        self._disconnect()
        own, self._own = self._own, None
        if own is not None:
            with suppress(*UNREACHABLE):  # a thread of dask's own that does not end in time
                own.close()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(*UNREACHABLE):
                client.close(timeout=CONNECT_SECONDS)


def worker_count() -> int:
    """Return how many processes compute, by default one for two cores. Raises SettingsError."""
    return settings().workers or max(1, CPU_COUNT // 2)


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
        # a worker keeps what the cells of a run share: they had better go to the least busy one,
        # though a worker with nothing to do takes some of them all the same
        tasks = client.processing() if experiment.one_worker(run.plan) else {}
        busy = min(tasks, key=lambda worker: len(tasks[worker]), default=None)
        self._worker = str(busy) if len(tasks) > 1 else None
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

        def restart() -> None:
            with suppress(*UNREACHABLE, ValueError):  # a thread of this process has no nanny
                self._client.restart_workers(busy, timeout=30, raise_for_error=False)

        Thread(target=restart, daemon=True).start()


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
