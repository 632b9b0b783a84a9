"""The app's own dask cluster: one spawned process that gives way to the app."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from distributed import Client, LocalCluster, Nanny, Status

from finetune.worker import LowPriority

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",  # waiting threads would take the core from the app
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


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
    bare.__dict__.update({name: it for name, it in vars(main).items() if name not in hidden})
    sys.modules["__main__"] = bare
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def embedded() -> LocalCluster:
    """Start a cluster of one process with one thread, reachable from this machine only."""
    cluster = LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        silence_logs=logging.ERROR,
        worker_class=BareNanny,
        env=ENVIRONMENT,
        memory_limit=0,  # dask would kill the worker where the app is what fills the memory
    )
    with Client(cluster, set_as_default=False) as client:
        client.register_plugin(LowPriority())
    return cluster
