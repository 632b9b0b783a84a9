"""Killed in mid-run: the app, a worker of a cluster, the cluster. Nothing lost, nothing doubled."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from distributed import Client

from benchmarks.page.app_process import APP, process
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan, Point, cells, inoculation_run, run_request
from finetune.trials.inoculation_trial import run_cell
from probe.models.library import load
from probe.runs import dispatch
from probe.runs.database import RunRow
from probe.runs.engine import Engine
from probe.runs.run import StoredRun, ended
from probe.runs.store import Store
from tests.support.processes.dask_cluster import DaskCluster, dask_cluster
from tests.support.waiting import training, until

pytestmark = pytest.mark.slow
LONG = {"max_epochs": 40, "patience": 40, "batch": 4, "precision": "fp32"}


@pytest.fixture
def plan(model: str) -> Plan:
    """A plan whose cells take seconds, so that there is time to kill something."""
    return Plan(model, "negation", (6, 12), (1e-3,), (0,), **LONG)


def plainly(plan: Plan, sets: Sets) -> list[Point]:
    """Return the points of a plan, computed one after another in this process."""
    rows = [row for cell in cells(plan) for row in run_cell(plan, sets, cell, load(plan.model))]
    return [row for row in rows if isinstance(row, Point)]


def same(run: StoredRun, expected: Sequence[Point]) -> bool:
    """Whether a run's points agree with others in all but the time they took."""
    return [replace(point, seconds=0) for point in inoculation_run(run).results] == [
        replace(point, seconds=0) for point in expected
    ]


def test_a_killed_app_goes_on_where_it_was(home: Path, plan: Plan, sets: Sets) -> None:
    store = Store()
    run_id = store.create("me", run_request(plan, sets)).id
    with process(*APP) as app:
        before = until(store, run_id, training)
        children = app.children(recursive=True)
        app.kill()
        _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    left = store.get(run_id)
    assert (left.state, left.cells[1].state) == ("running", "running")
    with process(*APP):
        run = until(store, run_id, ended)
    assert (run.state, run.error) == ("done", "")
    assert run.results[0] == before.results[0]  # seconds too: it was not computed again
    assert same(run, plainly(plan, sets))
    assert [path.name for path in (home / "models").iterdir()] == [run.kept]


def holder(store: Store, run_id: str) -> int:
    """Return the process that computes a run."""
    with store.database.session() as session:
        return int(str(session.get_one(RunRow, run_id).holder).split()[1])


def test_another_app_goes_on_with_what_a_killed_one_held(
    home: Path, plan: Plan, sets: Sets
) -> None:
    store = Store()
    run_id = store.create("me", run_request(plan, sets)).id
    with process(*APP) as first, process(*APP) as second:
        before = until(store, run_id, training)
        died = holder(store, run_id)
        next(app for app in (first, second) if app.pid == died).kill()
        run = until(store, run_id, ended)
        assert holder(store, run_id) == ({first.pid, second.pid} - {died}).pop()
    assert (run.state, run.error) == ("done", "")
    assert run.results[0] == before.results[0]  # seconds too: it was not computed again
    assert same(run, plainly(plan, sets))


@pytest.fixture
def dask() -> Iterator[DaskCluster]:
    """A cluster that nothing of has started yet."""
    with dask_cluster() as cluster:
        yield cluster


@contextmanager
def engine_on(store: Store, address: str) -> Iterator[Engine]:
    """An engine that computes on a cluster."""
    engine = Engine(store, address)
    yield engine
    engine.close()


def at_once(run: StoredRun) -> bool:
    """Whether two cells are under way at the same time."""
    busy = [cell for cell in run.cells if cell.state == "running" and cell.progress]
    return len(busy) == 2


def test_a_cluster_that_loses_a_worker_computes_what_one_process_does(
    home: Path, dask: DaskCluster, plan: Plan, sets: Sets
) -> None:
    store, wide = Store(), replace(plan, sizes=(6, 12, 18))
    dask.scheduler()
    workers = [dask.worker(), dask.worker()]
    dask.wait_for(2)
    run_id = store.create("me", run_request(wide, sets)).id
    with engine_on(store, dask.address) as engine:
        engine.submit(run_id)
        before = until(store, run_id, at_once)
        workers[0].kill()
        run = until(store, run_id, ended)
    assert (run.state, run.error) == ("done", "")
    assert all(
        result in run.results for result in before.results
    )  # seconds too: none was computed again
    assert same(run, plainly(wide, sets))


def computing(run: StoredRun) -> bool:
    """Whether a cell is stored and another one is under way."""
    return run.cells[0].state == "done" and any(
        cell.state == "running" and cell.progress for cell in run.cells
    )


def test_runs_in_fast_mode_share_the_workers_out_and_outlive_one(
    home: Path, dask: DaskCluster, plan: Plan, sets: Sets
) -> None:
    long = {"max_epochs": 150, "patience": 150}  # each run is to last longer than a worker's start
    store, fast = Store(), replace(plan, mode="fast", sizes=(6, 12, 18), **long)
    dask.scheduler()
    workers = [dask.worker()]
    ids = [store.create("me", run_request(fast, sets)).id for _ in range(2)]
    with Client(dask.address, set_as_default=False) as client, ExitStack() as stack:
        client.wait_for_workers(1, timeout=150)
        assert dispatch.least_busy(client) is None
        workers.append(dask.worker())
        client.wait_for_workers(2, timeout=150)
        engine = stack.enter_context(engine_on(store, dask.address))
        for run_id in ids:
            engine.submit(run_id)
        for run_id in ids:
            until(store, run_id, computing)
        busy = [set(keys) for keys in client.processing().values()]
        assert len(busy) == 2
        assert all(busy)
        workers[0].kill()
        runs = [until(store, run_id, ended) for run_id in ids]
    for run in runs:
        assert (run.state, run.error) == ("done", "")
        assert same(run, plainly(fast, sets))


def test_a_run_waits_for_its_cluster_to_come_and_to_come_back(
    home: Path, dask: DaskCluster, plan: Plan, sets: Sets
) -> None:
    store = Store()
    run_id = store.create("me", run_request(plan, sets)).id
    silent = f"the cluster at {dask.address} does not answer; the run goes on when it does"
    with engine_on(store, dask.address) as engine:
        engine.submit(run_id)
        waiting = until(store, run_id, lambda run: bool(run.error))
        assert (waiting.state, waiting.error) == ("queued", silent)
        died = dask.scheduler(), dask.worker()
        before = until(store, run_id, training)
        assert before.error == ""
        for one in died:
            one.kill()
        waiting = until(store, run_id, lambda run: bool(run.error))
        assert (waiting.state, waiting.error) == ("queued", silent)
        assert waiting.results == before.results
        dask.scheduler()
        dask.worker()
        run = until(store, run_id, ended)
    assert (run.state, run.error) == ("done", "")
    assert run.results[0] == before.results[0]  # seconds too: it was not computed again
    assert same(run, plainly(plan, sets))
