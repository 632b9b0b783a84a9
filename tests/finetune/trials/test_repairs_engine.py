"""Repairs through store and engine: cancelled and taken up again, and with a worker killed."""

import os
import signal
from collections.abc import Iterator

import pytest

from probe.runs.engine import Engine
from probe.runs.run import Json, StoredRun, ended
from probe.runs.store import Store
from tests.support.processes.worker_process import one_worker, worker_pid
from tests.support.runs.repair_requests import REQUESTS
from tests.support.waiting import training, until


@pytest.fixture
def engine(store: Store) -> Iterator[Engine]:
    """An engine in this process."""
    engine = Engine(store, in_process=True)
    yield engine
    engine.close()


@pytest.fixture
def store(home: object) -> Store:
    """An empty store."""
    return Store()


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Engine]]:
    """A store and an engine with one worker process, which all kinds share."""
    with one_worker(tmp_path_factory.mktemp("home")) as both:
        yield both


def figures(run: StoredRun) -> list[Json]:
    """Return the results without the seconds that they took."""
    return [{**result, "seconds": 0} for result in run.results]


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_cancelled_repair_goes_on_with_what_it_lacks_and_comes_to_the_same(
    kind: str, store: Store, engine: Engine, model: str
) -> None:
    request = REQUESTS[kind](model)
    whole, stopped = (store.create("me", request).id for _ in range(2))
    engine.submit(stopped)
    until(store, stopped, training)
    engine.cancel(stopped)
    before = until(store, stopped, ended)
    assert before.state == "cancelled"
    assert 1 <= len(before.results) < len(before.cells)
    engine.reopen(stopped)
    run = until(store, stopped, ended)
    engine.submit(whole)
    other = until(store, whole, ended)
    assert (run.state, run.error) == (other.state, other.error) == ("done", "")
    assert run.results[: len(before.results)] == before.results  # seconds too: not done again
    assert figures(run) == figures(other)
    assert len(run.results) == len(run.cells)
    assert run.verdict == other.verdict != {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", REQUESTS)
def test_a_killed_worker_loses_and_doubles_no_cell_of_a_repair(
    kind: str, workplace: tuple[Store, Engine], model: str
) -> None:
    store, engine = workplace
    run_id = store.create("me", REQUESTS[kind](model)).id
    engine.submit(run_id)
    before = until(store, run_id, training)
    os.kill(worker_pid(engine), signal.SIGKILL)
    run = until(store, run_id, ended)
    assert (run.state, run.error) == ("done", "")
    assert run.results[0] == before.results[0]  # seconds too: it was not computed again
    assert [cell.key for cell in run.cells if cell.result] == [cell.key for cell in before.cells]
    assert bool(run.kept) is (kind != "transfer")
