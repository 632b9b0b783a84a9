"""The engine on a thread of this process: to the end, cancelled, in turn, in trouble.

Several apps on one database also run on an empty PostgreSQL, whose URL is in
NLI_CLINIC_TEST_DATABASE.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
import torch
from distributed import KilledWorker, LocalCluster
from sqlalchemy import event, text, update

from finetune.trials import trial as cell_module
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, kept_name, run_request
from probe.errors import ExperimentError
from probe.models.library import load
from probe.models.weights import model_hash
from probe.runs import dispatch
from probe.runs import engine as engine_module
from probe.runs.database import RunRow
from probe.runs.engine import (
    DISK_SENTENCE,
    LEASE_SECONDS,
    MEMORY_SENTENCE,
    NO_WORKER,
    Engine,
    sentence,
)
from probe.runs.fair_order import FairOrder
from probe.runs.models import save_model_files
from probe.runs.run import Json, RunRequest, StoredRun, ended
from probe.runs.store import Store
from probe.settings import settings
from tests.support.pages.visitors import ME, YOU
from tests.support.processes.database_trouble import full, locked
from tests.support.runs.logged_cells import Log
from tests.support.waiting import until


@pytest.fixture
def store(log: Log) -> Store:
    """A store that does not wait long for a lock."""
    return Store(patience=0.1)


def submit(engine: Engine, owner: str, request: RunRequest, known: Json | None = None) -> str:
    """Store a run and hand it to the engine."""
    run_id = Store().create(owner, request, known).id
    engine.submit(run_id)
    return run_id


def begun(run: StoredRun) -> bool:
    """Whether a cell is under way."""
    return any(cell.progress and cell.state == "running" for cell in run.cells)


# stopped and taken up


@contextmanager
def cell_writes() -> Iterator[list[str]]:
    """Note the statements that change cells."""
    statements: list[str] = []

    def note(connection: object, cursor: object, statement: str, *others: object) -> None:
        if statement.startswith("UPDATE cell"):
            statements.append(statement)

    event.listen(sqlalchemy.Engine, "before_cursor_execute", note)
    yield statements
    event.remove(sqlalchemy.Engine, "before_cursor_execute", note)


def test_a_run_of_many_cells_is_stopped_by_few_writes_and_goes_on_with_those_it_lacks(
    store: Store, log: Log, one_worker: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "MAX_SENT", 30)
    monkeypatch.setattr(engine_module, "FORCE_AFTER", 1000.0)  # the cell stops by itself
    count = 61
    with cell_writes() as statements:
        run_id = submit(one_worker, ME, log.request("a", count), {0: {"number": 1}})
        until(store, run_id, begun)
        one_worker.cancel(run_id)
        run = until(store, run_id, ended)
    assert (run.state, log.lines()) == ("cancelled", ["a2"])
    assert [cell.state for cell in run.cells] == ["done"] + ["cancelled"] * (count - 1)
    assert len(statements) < 10
    log.gate.touch()
    one_worker.reopen(run_id)
    run = until(store, run_id, ended)
    assert (run.state, len(run.results), run.cancelling) == ("done", count, False)
    assert log.lines()[1:] == [f"a{number}" for number in range(2, count + 1)]


def test_a_run_that_waits_for_another_is_cancelled_at_once_and_not_resumed(
    store: Store, log: Log, one_worker: Engine
) -> None:
    first, second = (submit(one_worker, ME, log.request(name, 3)) for name in "ab")
    until(store, first, begun)
    one_worker.cancel(second)
    assert until(store, second, ended).state == "cancelled"
    assert store.get(first).state == "running"
    third = store.create(ME, log.request("c", 2)).id
    store.request_cancel(third)
    one_worker.resume()
    run = until(store, third, ended)
    assert (run.state, {cell.state for cell in run.cells}) == ("cancelled", {"cancelled"})
    assert log.lines() == ["a1"]


# whose cells come next


def test_virtual_time_is_that_of_the_cell_that_began_last_and_does_not_run_back() -> None:
    order = FairOrder()
    assert list(order.places(3, [])) == [1, 2, 3]
    order.begin(1)
    assert list(order.places(2, [])) == [2, 3]  # of somebody who has nothing waiting
    assert list(order.places(2, [2, 3])) == [4, 5]  # of the first one
    order.begin(5)
    order.begin(3)
    order.places(300, [])  # what was withdrawn does not count
    assert list(order.places(1, [])) == [6]


def sent(engine: Engine, count: int) -> None:
    """Wait until the scheduler knows so many cells."""
    client = engine.cluster.connect()
    assert client is not None
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) < count:
        pass


def test_the_cells_of_two_visitors_take_turns_and_a_cancelled_run_leaves_its_own_to_others(
    log: Log, one_worker: Engine
) -> None:
    many = submit(one_worker, ME, log.request("x", 40))
    until(Store(), many, begun)
    one_worker.cancel(many)
    until(Store(), many, ended)
    mine = submit(one_worker, ME, log.request("a", 6))
    until(Store(), mine, begun)
    others = [
        submit(one_worker, YOU, log.request("b", 3)),
        submit(one_worker, ME, log.request("c", 2)),
    ]
    sent(one_worker, 11)
    log.gate.touch()
    for run_id in (mine, *others):
        assert until(Store(), run_id, ended).state == "done"
    turns = ["a1", "a2", "b1", "a3", "b2", "a4", "b3", "a5", "a6", "c1", "c2"]
    assert log.lines() == ["x1", *turns]


# several apps on one database


@pytest.fixture
def apps(
    each_database: None, log: Log, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Engine, Engine]]:
    """Two engines that look after each other's runs often."""
    monkeypatch.setattr(engine_module, "UPKEEP_INTERVAL", 0.1)
    engines = Engine(Store(), in_process=True), Engine(Store(), in_process=True)
    for engine in engines:
        engine.resume()
    yield engines
    for engine in engines:
        engine.close()


def test_runs_of_both_are_computed_once_each_and_listed_by_both(
    log: Log, apps: tuple[Engine, Engine]
) -> None:
    store, ids = Store(), []
    for number in range(3):
        for app, owner in zip(apps, (ME, YOU), strict=True):
            run = store.create(owner, log.request(f"{owner[0]}{number}-", 4, gated=False))
            app.submit(run.id)
            ids.append(run.id)
    runs = [until(store, run_id, ended) for run_id in ids]
    assert {run.state for run in runs} == {"done"}
    assert (len(log.lines()), log.repeated()) == (24, [])
    assert sorted(run.id for run in Store().runs()) == sorted(ids)


def test_one_app_cancels_and_takes_up_what_the_other_holds(
    log: Log, apps: tuple[Engine, Engine]
) -> None:
    first, second = apps
    run_id = Store().create(ME, log.request("a", 3)).id
    first.submit(run_id)
    until(Store(), run_id, begun)
    second.cancel(run_id)
    assert until(Store(), run_id, ended).state == "cancelled"
    log.gate.touch()
    second.reopen(run_id)
    run = until(Store(), run_id, ended)
    assert (run.state, len(run.results)) == ("done", 3)
    assert log.lines() == ["a1", "a1", "a2", "a3"]


def test_what_an_app_leaves_or_never_begins_another_goes_on_with(
    log: Log, apps: tuple[Engine, Engine]
) -> None:
    first, store = apps[0], Store()
    unbegun = store.create(ME, log.request("b", 2, gated=False)).id
    store.database.write(update(RunRow).values(created=time.time() - LEASE_SECONDS))
    assert until(store, unbegun, ended).state == "done"
    run_id = store.create(ME, log.request("a", 3)).id
    for app in apps:  # one of them computes it
        app.submit(run_id)
    until(store, run_id, begun)
    assert log.repeated() == []
    log.gate.touch()
    first.close()
    run = until(store, run_id, ended)
    assert (run.state, len(run.results)) == ("done", 3)


def test_an_app_that_was_silent_leaves_its_run_to_the_one_that_took_it(
    log: Log, apps: tuple[Engine, Engine]
) -> None:
    first, store = apps[0], Store()
    run_id = store.create(ME, log.request("a", 3)).id
    first.submit(run_id)
    until(store, run_id, begun)
    taken = {"holder": "elsewhere 1 1.0 x", "seen": time.time()}
    store.database.write(update(RunRow).values(**taken))
    client = first.cluster.connect()
    assert client is not None
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
        time.sleep(0.05)
    run = store.get(run_id)
    assert (run.state, [cell.state for cell in run.cells]) == (
        "running", ["running", "queued", "queued"],
    )  # fmt: skip


# the database, the cluster, the model in trouble


def test_a_run_waits_for_a_database_that_is_locked_or_full_and_says_so(
    store: Store, log: Log
) -> None:
    for name, (trouble, words) in {
        "a": (locked, "the run database is locked by another program; "),
        "b": (full, "the disk with the run database is full; "),
    }.items():
        run_id = store.create(ME, log.request(name, 3, gated=False, size=100_000)).id
        with trouble(settings().home):
            first = Engine(store, in_process=True)
            first.submit(run_id)
            waiting = until(store, run_id, lambda run: bool(run.error))
            assert waiting.error.startswith(words)
            if name == "b":
                first.close()
        heir = Engine(store, in_process=True)
        if name == "b":
            heir.resume()
        run = until(store, run_id, ended)
        assert (run.state, run.error, len(run.results)) == ("done", "", 3)
        for engine in (first, heir):
            engine.close()


COUNTED = (
    "CREATE TABLE note (run TEXT, error TEXT)",
    "CREATE TRIGGER noted AFTER UPDATE OF error ON run "
    "BEGIN INSERT INTO note VALUES (NEW.id, NEW.error); END",
)


def test_waiting_for_a_worker_is_noted_when_it_begins_and_when_it_ends(
    store: Store, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probe.runs.engine.UPKEEP_INTERVAL", 0.05)
    store.database.write(*map(text, COUNTED))

    def read(query: str, run_id: str) -> list[Any]:  # Any: what the column holds
        with store.database.session() as session:
            return list(session.scalars(text(query), {"run": run_id}))

    def notes(run_id: str) -> list[str]:
        return read("SELECT error FROM note WHERE run = :run ORDER BY rowid", run_id)

    where = {"host": "tcp://127.0.0.1", "dashboard_address": None}
    with LocalCluster(n_workers=0, threads_per_worker=1, processes=False, **where) as cluster:
        engine = Engine(store, cluster.scheduler_address)
        words = NO_WORKER.format(address=cluster.scheduler_address)
        first, second = (submit(engine, ME, log.request(name, 1)) for name in "ab")
        for run_id in (first, second):
            until(store, run_id, lambda run: run.error == words)
        seen = set[float]()
        while len(seen) <= 5:  # it has looked around so often
            seen |= {*read("SELECT seen FROM run WHERE id = :run", second)}
        assert (notes(first), notes(second)) == ([words], [words])
        cluster.scale(1)
        until(store, first, lambda run: run.state == "running")
        waits = until(store, second, lambda run: run.error != words)  # for the first alone
        assert (waits.state, waits.error) == ("queued", "")
        log.gate.touch()
        assert [until(store, run_id, ended).state for run_id in (first, second)] == ["done"] * 2
        engine.close()
    assert words not in notes(first)[1:] + notes(second)[1:]


def test_a_run_is_computed_and_judged_and_fails_until_its_model_can_be_kept(
    store: Store, one_worker: Engine, plan: Plan, sets: Sets
) -> None:
    run_id = store.create("me", run_request(plan, sets)).id
    store.set_kept(run_id, name := kept_name(plan))
    place = settings().home / "models" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text("a file where the folder should be")
    one_worker.submit(run_id)
    before = until(store, run_id, ended)
    assert (before.state, len(before.results), before.kept) == ("failed", 3, name)
    assert before.error.startswith("the resulting model could not be kept: ")
    place.unlink()
    one_worker.reopen(run_id)
    run = until(store, run_id, ended)
    assert (run.state, run.error, run.kept) == ("done", "", name)
    assert run.results[:2] == before.results[:2]  # seconds too: they were not computed again
    assert run.verdict["outcome"] in ("0", "1", "2", "3", "between")
    assert run.artefacts["kept"] == model_hash(place)
    said = load(run.kept).predict(sets.original_test)
    hits = [p.label == pair.gold for p, pair in zip(said, sets.original_test, strict=True)]
    # half precision
    assert sum(hits) / 12 == pytest.approx(run.results[-1]["original"], abs=1 / 12)


def starve(patch: pytest.MonkeyPatch, size: int) -> None:
    """Let memory run out in torch when a cell trains on this many examples."""
    enough = cell_module.fine_tune

    def hungry(*given: Any) -> Any:  # Any: as `fine_tune`; the sixth is the cell
        if given[5].size == size:
            torch.empty(1 << 50)
        return enough(*given)

    patch.setattr(cell_module, "fine_tune", hungry)


def test_a_cell_out_of_memory_says_so_and_the_rest_is_kept(
    store: Store, one_worker: Engine, plan: Plan, sets: Sets
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        starve(patch, 12)
        run_id = store.create("me", run_request(plan, sets)).id
        one_worker.submit(run_id)
        before = until(store, run_id, ended)
    assert (before.state, before.error) == ("failed", MEMORY_SENTENCE)
    assert [state.state for state in before.cells] == ["done", "done", "failed"]
    assert before.verdict == {}  # it is named at the largest size
    one_worker.reopen(run_id)
    run = until(store, run_id, ended)
    assert (run.state, run.error, run.verdict["oracle_lr"]["size"]) == ("done", "", 12)
    assert run.results[:2] == before.results  # seconds too: they were not computed again


def test_a_run_is_not_gone_on_with_after_its_model_changed(
    store: Store, one_worker: Engine, plan: Plan, sets: Sets, tmp_path: Path
) -> None:
    mine = replace(plan, model=str(shutil.copytree(plan.model, tmp_path / "mine")))
    run = until(store, submit(one_worker, ME, run_request(mine, sets, {}, {"model": "x"})), ended)
    assert run.state == "failed"
    assert run.error.endswith("has changed since this run began; start a new run")


def test_what_a_cell_failed_of_is_told_in_words() -> None:
    died = "the process that computed this died again and again; is memory short?"
    told = {
        sentence(KilledWorker("cell", None, 2)): died,
        sentence(ExperimentError("there are 30 pairs")): "there are 30 pairs",
        sentence(AssertionError()): "AssertionError",
        sentence(OSError(28, "No space left on device")): DISK_SENTENCE,
    }
    for starved in (lambda: torch.empty(1 << 50), lambda: bytearray(1 << 60)):
        with pytest.raises((RuntimeError, MemoryError)) as caught:
            starved()
        told[sentence(caught.value)] = MEMORY_SENTENCE
    assert [found for found, wanted in told.items() if found != wanted] == []


def test_a_full_disk_keeps_no_half_of_a_model(home: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(home)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can only be mounted by root on Linux")
    try:
        save_model_files({"config.json": b"{}"}, "old")
        with pytest.raises(OSError, match="No space left") as caught:
            save_model_files({"config.json": b"{}", "model.safetensors": bytes(100_000)}, "new")
        assert sentence(caught.value) == DISK_SENTENCE
        assert [path.name for path in home.rglob("*")] == ["models", "old", "config.json"]
    finally:
        subprocess.run(["umount", str(home)], check=True)
