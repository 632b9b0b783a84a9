"""The app's own cluster of processes, whose worker dies."""

import os
import signal
from pathlib import Path

import dask
import pytest

from tests.support.processes.worker_process import one_worker, worker_pid


@pytest.mark.slow
def test_a_worker_that_is_dead_when_dask_looks_for_it_comes_back(tmp_path: Path) -> None:
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "0 s"}),
        one_worker(tmp_path) as (_, engine),
    ):
        pid = worker_pid(engine)
        os.kill(pid, signal.SIGKILL)
        assert worker_pid(engine, after=pid) != pid
