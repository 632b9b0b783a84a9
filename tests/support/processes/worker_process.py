"""An engine whose only worker is a process of its own, which can be killed."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from distributed import Client

from probe.runs.engine import Engine
from probe.runs.store import Store


@contextmanager
def one_worker(home: Path) -> Iterator[tuple[Store, Engine]]:
    """Yield a store in a folder and an engine with one worker: it takes long to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NLI_CLINIC_HOME", str(home))
        patch.setenv("NLI_CLINIC_WORKERS", "1")
        patch.delenv("NLI_CLINIC_DATABASE", raising=False)
        patch.delenv("ENGINE", raising=False)
        store = Store(patience=0.1)
        engine = Engine(store)
        yield store, engine
        engine.close()


def connected(engine: Engine) -> Client:
    """Return the engine's own client: no other one has the certificate."""
    client = engine.cluster.connect()
    assert client is not None
    return client


def worker_pid(engine: Engine, after: int = 0) -> int:
    """Return the process of the only worker, once it is there and another than the one before."""
    end = time.monotonic() + 150
    client = connected(engine)
    while time.monotonic() < end:
        client.wait_for_workers(1, timeout=150)
        pids = list(client.run(os.getpid, on_error="ignore").values())
        if len(pids) == 1 and pids != [after]:
            return int(pids[0])
    raise AssertionError("no new worker came")
