"""What a run says while its cluster has no worker: once when that begins, once when it ends."""

from collections.abc import Iterator

import pytest
from distributed import LocalCluster
from sqlalchemy import text

from probe.runs.engine import NO_WORKER, Engine
from probe.runs.run import ended
from probe.runs.store import Store
from tests.support.runs.logged_cells import Log
from tests.support.waiting import until

COUNTED = (
    "CREATE TABLE note (run TEXT, error TEXT)",
    "CREATE TRIGGER noted AFTER UPDATE OF error ON run "
    "BEGIN INSERT INTO note VALUES (NEW.id, NEW.error); END",
)


@pytest.fixture
def store(log: Log) -> Store:
    """A store whose database writes down what is noted of what a run waits for."""
    store = Store()
    store.database.write(*map(text, COUNTED))
    return store


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    """A cluster that has no worker yet."""
    where = {"host": "tcp://127.0.0.1", "dashboard_address": None}
    with LocalCluster(n_workers=0, threads_per_worker=1, processes=False, **where) as cluster:
        yield cluster


@pytest.fixture
def engine(
    store: Store, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Engine]:
    """An engine that looks around often."""
    monkeypatch.setattr("probe.runs.engine.UPKEEP_INTERVAL", 0.05)
    engine = Engine(store, cluster.scheduler_address)
    yield engine
    engine.close()


def notes(store: Store, run_id: str) -> list[str]:
    """Return what was noted of a run, in order."""
    query = text("SELECT error FROM note WHERE run = :run ORDER BY rowid")
    with store.database.session() as session:
        return list(session.scalars(query, {"run": run_id}))


def look_around(store: Store, run_id: str, times: int) -> None:
    """Wait until the engine has renewed its lease so often."""
    query = text("SELECT seen FROM run WHERE id = :run")
    seen = set[float]()
    while len(seen) <= times:
        with store.database.session() as session:
            seen.add(session.scalars(query, {"run": run_id}).one())


def test_waiting_for_a_worker_is_noted_when_it_begins_and_when_it_ends(
    store: Store, engine: Engine, cluster: LocalCluster, log: Log
) -> None:
    words = NO_WORKER.format(address=cluster.scheduler_address)
    first, second = (store.create("me", log.request(name, 1)).id for name in "ab")
    for run_id in (first, second):
        engine.submit(run_id)
        until(store, run_id, lambda run: run.error == words)
    look_around(store, second, 5)
    assert (notes(store, first), notes(store, second)) == ([words], [words])
    cluster.scale(1)
    until(store, first, lambda run: run.state == "running")
    waits = until(store, second, lambda run: run.error != words)  # for the first, not for a worker
    assert (waits.state, waits.error) == ("queued", "")
    log.gate.touch()
    for run_id in (first, second):
        assert until(store, run_id, ended).state == "done"
    assert notes(store, first)[0] == words
    assert words not in notes(store, first)[1:] + notes(store, second)[1:]


def test_a_run_whose_cluster_answers_again_waits_for_its_turn_alone(
    store: Store, one_worker: Engine, log: Log
) -> None:
    first, second = (store.create("me", log.request(name, 1)).id for name in "ab")
    one_worker.submit(first)
    until(store, first, lambda run: run.state == "running")
    store.requeue(second, "the cluster does not answer")
    one_worker.submit(second)
    assert until(store, second, lambda run: run.error == "").state == "queued"
    log.gate.touch()
    until(store, second, ended)
