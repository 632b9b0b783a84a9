"""A dask cluster that is not the app's own: a scheduler and workers that can be killed."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psutil
from distributed import Client

from benchmarks.page.app_process import process
from tests.conftest import free_port


class DaskCluster:
    """A scheduler and workers on loopback, each a process of its own that can be killed."""

    def __init__(self, stack: ExitStack, protocol: str) -> None:
        self._stack, self._protocol, self._port = stack, protocol, str(free_port())
        self.address = f"{protocol}://127.0.0.1:{self._port}"

    def scheduler(self) -> psutil.Popen:
        """Start the scheduler, again at the same address."""
        place = "--protocol", self._protocol, "--port", self._port, "--no-show"
        return self._start("distributed.cli.dask_scheduler", *place)

    def worker(self) -> psutil.Popen:
        """Start a worker that nobody starts again when it dies."""
        own = "--nthreads", "1", "--no-nanny"
        return self._start("distributed.cli.dask_worker", self.address, *own)

    def _start(self, *words: str) -> psutil.Popen:
        command = "-m", *words, "--host", "127.0.0.1", "--no-dashboard"
        return self._stack.enter_context(process(*command))

    def wait_for(self, workers: int) -> None:
        """Wait until so many workers are there."""
        with Client(self.address, timeout=150, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=150)


@contextmanager
def dask_cluster(protocol: str = "tcp", started: bool = False) -> Iterator[DaskCluster]:
    """Give a cluster, of which a scheduler may have `started`; all of it is killed in the end."""
    with ExitStack() as stack:
        cluster = DaskCluster(stack, protocol)
        if started:
            cluster.scheduler()
        yield cluster
