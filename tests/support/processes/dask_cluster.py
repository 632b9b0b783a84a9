"""A dask cluster that is not the app's own: a scheduler and workers that can be killed."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psutil
from distributed import Client

from benchmarks.page.app_process import process
from tests.conftest import free_port


class DaskCluster:
    """A scheduler and workers on loopback, each a process of its own that can be killed."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._port = free_port()
        self.address = f"tcp://127.0.0.1:{self._port}"

    def scheduler(self) -> psutil.Popen:
        """Start the scheduler, again at the same address."""
        where = "--host", "127.0.0.1", "--port", str(self._port)
        command = "-m", "distributed.cli.dask_scheduler", *where, "--no-dashboard", "--no-show"
        return self._stack.enter_context(process(*command))

    def worker(self) -> psutil.Popen:
        """Start a worker that nobody starts again when it dies."""
        own = "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"
        return self._stack.enter_context(
            process("-m", "distributed.cli.dask_worker", self.address, *own)
        )

    def wait_for(self, workers: int) -> None:
        """Wait until so many workers are there."""
        with Client(self.address, timeout=150, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=150)


@contextmanager
def dask_cluster() -> Iterator[DaskCluster]:
    """Give a cluster that nothing of has started yet; all of it is killed in the end."""
    with ExitStack() as stack:
        yield DaskCluster(stack)
