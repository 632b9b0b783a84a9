"""The app's own dask clusters: processes of this machine, or a thread of this process.

Whoever reaches a scheduler or a worker runs code in it, so the processes know each other by a
certificate that is made for one cluster and lies in its memory alone. The thread listens nowhere.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, Security, SpecCluster, Status, Worker
from distributed.deploy.cluster import Cluster

from probe.native_environment import NATIVE_ENVIRONMENT
from probe.runs.compute.worker import Subordinate

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
