"""The dask cluster that computes: processes or a thread of the app's own, or one by its address."""

import asyncio
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType

import dask
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster, Nanny, Status

from probe.runs.compute.worker import LowPriority
from probe.settings import settings

WORKER_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",  # waiting threads would take the core from the app
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
MALLOC_TRIM_SETTING = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
"""With dask's setting every tensor's memory goes back to the system at once, and training takes
half as long again."""
ALLOWED_DEATHS = 2
"""How often the process of a cell may die before the cell fails: memory may be short."""
CONNECT_SECONDS = 5.0
"""Seconds to wait for a cluster to answer."""
IDLE_SECONDS = 120.0
"""Seconds without a run after which our own cluster ends: idle it takes a twentieth of a core."""
UNREACHABLE = (OSError, asyncio.TimeoutError)  # on Python 3.10 the second is no OSError


class Cluster:
    """The cluster at an address, or one of our own that starts when it is needed first."""

    def __init__(self, address: str | None, in_process: bool = False) -> None:
        """Start nothing yet; without an address and `in_process` it is processes of our own.

        Raises SettingsError where NLI_CLINIC_WORKERS is no number.
        """
        self._address = address
        self._processes = 0 if address or in_process else worker_count()
        self._own: LocalCluster | None = None
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
            own.close()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(*UNREACHABLE):
                client.close(timeout=CONNECT_SECONDS)


class BareNanny(Nanny):
    """Starts its worker, also after a crash, without the app's main module."""

    async def instantiate(self) -> Status:
        """Start the worker process."""
        with without_main():
            return await super().instantiate()


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


def worker_count() -> int:
    """Return how many processes compute: NLI_CLINIC_WORKERS, or one for every two cores.

    Raises SettingsError where that is no number above 0.
    """
    return settings().workers or max(1, CPU_COUNT // 2)


def local_processes(count: int) -> LocalCluster:
    """Start a cluster of processes with one thread each, reachable from this machine only."""
    with dask.config.set({MALLOC_TRIM_SETTING: None}):
        cluster = LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
            worker_class=BareNanny,
            scheduler_kwargs={"allowed_failures": ALLOWED_DEATHS},
            env=WORKER_ENVIRONMENT,
            memory_limit=0,  # dask would kill the worker where the app is what fills the memory
        )
    with Client(cluster, set_as_default=False) as client:
        client.register_plugin(LowPriority())
    return cluster


def local_thread() -> LocalCluster:
    """Start a cluster of one thread in this process, which can be stopped but not killed."""
    return LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        silence_logs=logging.ERROR,
        memory_limit=0,
    )
