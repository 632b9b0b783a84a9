"""The engine with worker processes: killed, hung, lean."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Cell, Plan, cell_from, run_request
from probe.runs import engine as engine_module
from probe.runs.engine import Engine
from probe.runs.run import ended
from probe.runs.store import Store
from tests.support.processes.worker_process import connected, one_worker, worker_pid
from tests.support.waiting import training, until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Engine]]:
    """A store and an engine whose worker all tests of this file share: it takes long to start."""
    with one_worker(tmp_path_factory.mktemp("home")) as both:
        yield both


@pytest.fixture
def store(workplace: tuple[Store, Engine]) -> Store:
    return workplace[0]


@pytest.fixture
def engine(workplace: tuple[Store, Engine]) -> Engine:
    return workplace[1]


@pytest.fixture
def plan(model: str) -> Plan:
    """A plan of three cells that takes a second."""
    return Plan(model, "negation", (6, 12), (1e-3,), (0,), batch=4, max_epochs=3, precision="fp32")


def test_the_worker_is_lean_gives_way_and_has_one_thread(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    def facts() -> tuple[set[str], int, int, str, bool]:
        import torch

        heavy = {"gradio", "sqlalchemy", "pandas", "scipy.stats", "nltk"} & {*sys.modules}
        passive, trims = os.environ["OMP_WAIT_POLICY"], "MALLOC_TRIM_THRESHOLD_" in os.environ
        return heavy, os.nice(0), torch.get_num_threads(), passive, trims

    run_id = store.create("me", run_request(plan, sets)).id
    engine.submit(run_id)
    assert until(store, run_id, ended).state == "done"
    (found,) = connected(engine).run(facts).values()
    assert found == (set(), min(19, os.nice(0) + 10), 1, "PASSIVE", False)


def test_a_killed_worker_loses_and_doubles_no_cell(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    long = replace(plan, max_epochs=40, patience=40)
    run_id = store.create("me", run_request(long, sets)).id
    engine.submit(run_id)
    before = until(store, run_id, training)
    os.kill(worker_pid(engine), signal.SIGKILL)
    run = until(store, run_id, ended)
    assert (run.state, run.error) == ("done", "")
    assert run.results[0] == before.results[0]  # seconds too: it was not computed again
    assert [cell_from(cell.key) for cell in run.cells if cell.result] == [
        Cell(0, 0.0, 0), Cell(6, 1e-3, 0), Cell(12, 1e-3, 0),
    ]  # fmt: skip


def test_a_cell_that_does_not_listen_loses_its_worker(
    store: Store, engine: Engine, plan: Plan, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "FORCE_AFTER", 0.2)
    run_id = store.create(
        "me", run_request(replace(plan, max_epochs=100_000, patience=100_000), sets)
    ).id
    engine.submit(run_id)
    until(store, run_id, training)
    pid = worker_pid(engine)
    os.kill(pid, signal.SIGSTOP)
    engine.cancel(run_id)
    assert until(store, run_id, ended).state == "cancelled"
    assert worker_pid(engine, after=pid) != pid
