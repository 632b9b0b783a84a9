"""The engine, computing on a thread of this process: to the end, cancelled, resumed."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from finetune.trials import inoculation_trial as cell_module
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Cell, Epoch, Plan, kept_name, run_request
from probe.models.library import entries, load
from probe.models.weights import model_hash
from probe.runs.engine import MEMORY_SENTENCE, Engine
from probe.runs.run import ended
from probe.runs.store import Store
from probe.settings import settings
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.processes.database_trouble import full, locked
from tests.support.waiting import training, until

TOO_LARGE = 2**60
"""A seed that torch's generator does not take."""


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Engine]]:
    """A store and an engine that all tests of this file share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NLI_CLINIC_HOME", str(tmp_path_factory.mktemp("home")))
        patch.delenv("NLI_CLINIC_DATABASE", raising=False)
        patch.delenv("ENGINE", raising=False)
        store = Store(patience=0.1)
        engine = Engine(store, in_process=True)
        yield store, engine
        engine.close()


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


def endless(plan: Plan) -> Plan:
    """Return the plan with cells that only a cancel ends."""
    return replace(plan, max_epochs=100_000, patience=100_000)


def test_a_run_is_computed_judged_and_its_model_kept(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    run_id = store.create("me", run_request(plan, sets)).id
    engine.submit(run_id)
    run = until(store, run_id, ended)
    assert (run.state, run.error) == ("done", "")
    assert [cell.key["size"] for cell in run.cells if cell.result] == [0, 6, 12]
    assert run.verdict["outcome"] in ("0", "1", "2", "3", "between")
    assert run.kept in [entry.name for entry in entries()]
    kept = load(run.kept)
    said = kept.predict(sets.original_test)
    hits = [p.label == pair.gold for p, pair in zip(said, sets.original_test, strict=True)]
    assert sum(hits) / 12 == pytest.approx(
        run.results[-1]["original"], abs=1 / 12
    )  # half precision


def test_a_cancelled_run_stops_and_keeps_what_it_has(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    run_id = store.create("me", run_request(endless(plan), sets)).id
    engine.submit(run_id)
    until(store, run_id, training)
    engine.cancel(run_id)
    run = until(store, run_id, ended)
    assert run.state == "cancelled"
    assert [state.state for state in run.cells] == ["done", "cancelled", "cancelled"]


def test_a_run_that_waits_for_another_is_cancelled_at_once(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    first, second = (store.create("me", run_request(endless(plan), sets)).id for _ in range(2))
    engine.submit(first)
    engine.submit(second)
    until(store, first, training)
    engine.cancel(second)
    assert until(store, second, ended).state == "cancelled"
    assert store.get(first).state == "running"
    engine.cancel(first)
    until(store, first, ended)


def test_a_cell_that_fails_leaves_the_others(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    run_id = store.create("me", run_request(replace(plan, seeds=(0, TOO_LARGE)), sets)).id
    engine.submit(run_id)
    run = until(store, run_id, ended)
    assert run.state == "failed"
    assert "overflow" in run.error.lower()
    assert [state.state for state in run.cells] == ["done", "done", "failed", "done", "failed"]
    assert run.verdict["oracle_lr"]["size"] == 12
    assert run.kept


def starve(patch: pytest.MonkeyPatch, size: int) -> None:
    """Let memory run out in torch when a cell trains on this many examples."""
    enough = cell_module._epochs

    def hungry(plan: Plan, sets: Sets, cell: Cell, *others: Any) -> Iterator[Epoch]:
        if cell.size == size:
            torch.empty(1 << 50)
        return enough(plan, sets, cell, *others)

    patch.setattr(cell_module, "_epochs", hungry)


def test_a_cell_out_of_memory_says_so_and_the_rest_is_kept(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        starve(patch, 12)
        run_id = store.create("me", run_request(plan, sets)).id
        engine.submit(run_id)
        before = until(store, run_id, ended)
    assert (before.state, before.error) == ("failed", MEMORY_SENTENCE)
    assert [state.state for state in before.cells] == ["done", "done", "failed"]
    assert before.verdict == {}  # it is named at the largest size
    engine.reopen(run_id)
    run = until(store, run_id, ended)
    assert (run.state, run.error, run.verdict["oracle_lr"]["size"]) == ("done", "", 12)
    assert run.results[:2] == before.results  # seconds too: they were not computed again


def test_a_model_that_cannot_be_kept_fails_the_run_until_it_can(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    run_id = store.create("me", run_request(plan, sets)).id
    store.set_kept(run_id, name := kept_name(plan))
    place = settings().home / "models" / name
    place.write_text("a file where the folder should be")
    engine.submit(run_id)
    before = until(store, run_id, ended)
    assert (before.state, len(before.results), before.kept) == ("failed", 3, name)
    assert before.error.startswith("the resulting model could not be kept: ")
    place.unlink()
    engine.reopen(run_id)
    run = until(store, run_id, ended)
    assert (run.state, run.error) == ("done", "")
    assert run.artefacts["kept"] == model_hash(place)
    assert run.results[:2] == before.results[:2]  # seconds too: they were not computed again


def test_a_run_left_by_a_dead_engine_is_resumed_with_the_cells_it_lacks(
    store: Store, engine: Engine, plan: Plan, sets: Sets, tmp_path: Path
) -> None:
    long = replace(plan, max_epochs=40, patience=40)
    run_id = store.create("me", run_request(long, sets)).id
    dead = Engine(store, engine.address)
    dead.submit(run_id)
    before = until(store, run_id, training)
    dead.close()
    assert store.get(run_id).state == "running"
    heir = Engine(store, engine.address)
    heir.resume()
    run = until(store, run_id, ended)
    heir.close()
    assert run.state == "done"
    assert run.results[0] == before.results[0]  # seconds too: it was not computed again
    assert len(run.results) == len(run.cells) == 3


def test_a_cancelled_run_is_not_resumed(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    run_id = store.create("me", run_request(plan, sets)).id
    store.request_cancel(run_id)
    engine.resume()
    run = until(store, run_id, ended)
    assert (run.state, run.results) == ("cancelled", ())
    assert {state.state for state in run.cells} == {"cancelled"}


def test_a_run_waits_for_a_locked_database_and_says_so(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    run_id = store.create("me", run_request(plan, sets)).id
    with locked(settings().home):
        engine.submit(run_id)
        waiting = until(store, run_id, lambda run: bool(run.error))
        assert waiting.error.startswith("the run database is locked by another program; ")
        assert waiting.state == "queued"
    run = until(store, run_id, ended)
    assert (run.state, run.error, len(run.results)) == ("done", "", 3)


def test_a_run_on_a_full_disk_says_so_and_a_later_engine_goes_on(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    many = tiny_pairs(300)  # points of these do not fit into the pages that are there
    wide = replace(sets, original_test=many, challenge_test=many)
    run_id = store.create("me", run_request(plan, wide)).id
    with full(settings().home):
        first = Engine(store, engine.address)
        first.submit(run_id)
        waiting = until(store, run_id, lambda run: bool(run.error))
        assert waiting.error.startswith("the disk with the run database is full; ")
        first.close()
    heir = Engine(store, engine.address)
    heir.resume()
    run = until(store, run_id, ended)
    heir.close()
    assert (run.state, run.error, len(run.results)) == ("done", "", 3)


def test_a_run_is_not_gone_on_with_after_its_model_changed(
    store: Store, engine: Engine, plan: Plan, sets: Sets, tmp_path: Path
) -> None:
    folder = shutil.copytree(plan.model, tmp_path / "mine")
    run_id = store.create(
        "me", run_request(replace(plan, model=str(folder)), sets, {}, {"model": "other"})
    ).id
    engine.submit(run_id)
    run = until(store, run_id, ended)
    assert run.state == "failed"
    assert run.error.endswith("has changed since this run began; start a new run")


def test_a_run_that_another_engine_holds_is_left_to_it(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    run_id = store.create("me", run_request(endless(plan), sets)).id
    engine.submit(run_id)
    until(store, run_id, training)
    other = Engine(store, engine.address)
    other.resume()
    other.cancel(run_id)  # its holder hears of it from the store
    run = until(store, run_id, ended)
    other.close()
    assert run.state == "cancelled"
    assert [state.state for state in run.cells] == ["done", "cancelled", "cancelled"]


def test_a_cancelled_run_is_taken_up_again_with_the_cells_it_lacks(
    store: Store, engine: Engine, plan: Plan, sets: Sets
) -> None:
    long = replace(plan, max_epochs=40, patience=40)
    run_id = store.create("me", run_request(long, sets)).id
    engine.submit(run_id)
    until(store, run_id, training)
    engine.cancel(run_id)
    before = until(store, run_id, ended)
    engine.reopen(run_id)
    run = until(store, run_id, ended)
    assert (run.state, run.error, run.cancelling) == ("done", "", False)
    assert run.results[0] == before.results[0]  # seconds too: it was not computed again
