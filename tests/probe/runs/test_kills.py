"""Killed in mid-run: the app, a worker of a cluster, the cluster. Nothing lost, nothing doubled."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from distributed import Client

from benchmarks.page.app_process import APP, process
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, Point, cells, inoculation_run, run_request
from finetune.trials.trial import run_cell
from probe.models.library import load
from probe.runs.database import RunRow
from probe.runs.engine import Engine
from probe.runs.run import StoredRun, ended
from probe.runs.store import Store
from tests.support.processes.dask_cluster import DaskCluster, dask_cluster
from tests.support.waiting import training, until

pytestmark = pytest.mark.slow


@pytest.fixture
def plan(model: str) -> Plan:
    """A plan whose cells take seconds, so that there is time to kill something."""
    long = {"max_epochs": 40, "patience": 40, "batch": 4, "precision": "fp32"}
    return Plan(model, "negation", (6, 12), (1e-3,), (0,), **long)


def require_whole(run: StoredRun, plan: Plan, sets: Sets, before: Sequence[object]) -> None:
    """Hold a run to what it came to before, seconds too, and to one that nothing was killed of."""
    rows = [row for cell in cells(plan) for row in run_cell(plan, sets, cell, load(plan.model))]
    plainly = [replace(row, seconds=0) for row in rows if isinstance(row, Point)]
    assert (run.state, run.error) == ("done", "")
    assert all(result in run.results for result in before), "a result was computed again"
    assert [replace(point, seconds=0) for point in inoculation_run(run).results] == plainly


def holder(store: Store, run_id: str) -> int:
    """Return the process that computes a run."""
    with store.database.session() as session:
        return int(str(session.get_one(RunRow, run_id).holder).split()[1])


def test_another_app_goes_on_with_what_a_killed_one_held(
    home: Path, plan: Plan, sets: Sets
) -> None:
    store = Store()
    run_id = store.create("me", run_request(plan, sets)).id
    with process(*APP) as first:
        before = until(store, run_id, training)
        assert holder(store, run_id) == first.pid
        children = first.children(recursive=True)
        first.kill()
        _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    left = store.get(run_id)
    assert (left.state, left.cells[1].state) == ("running", "running")
    with process(*APP) as second:
        run = until(store, run_id, ended)
        assert holder(store, run_id) == second.pid
    require_whole(run, plan, sets, before.results[:1])
    assert [path.name for path in (home / "models").iterdir()] == [run.kept]


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


def test_runs_share_the_workers_of_a_cluster_out_and_outlive_one(
    home: Path, dask: DaskCluster, plan: Plan, sets: Sets
) -> None:
    fast = replace(plan, mode="fast", max_epochs=150, patience=150)  # whose epochs take no time
    store, plans = Store(), [fast, replace(plan, sizes=(6, 12, 18))]
    dask.scheduler()
    workers = [dask.worker(), dask.worker()]
    dask.wait_for(2)
    ids = [store.create("me", run_request(each, sets)).id for each in plans]
    with (
        Client(dask.address, set_as_default=False) as client,
        engine_on(store, dask.address) as engine,
    ):
        for run_id in ids:
            engine.submit(run_id)
        before = [until(store, run_id, training) for run_id in ids]
        assert all(client.processing().values())
        workers[0].kill()
        runs = [until(store, run_id, ended) for run_id in ids]
    for run, asked, earlier in zip(runs, plans, before, strict=True):
        require_whole(run, asked, sets, earlier.results)


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
    require_whole(run, plan, sets, before.results[:1])
