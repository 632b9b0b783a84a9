"""The run store: nothing is lost, doubled or overwritten; full, locked, damaged, of older programs.

Runs on SQLite, and on an empty PostgreSQL whose URL is in NLI_CLINIC_TEST_DATABASE.
"""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from app import PLACES
from finetune.cli.main import app as finetune
from finetune.trials.base import row_json
from finetune.trials.datasets import Sets, sets_facts
from finetune.trials.inoculation import (
    BASE,
    TRIALS,
    Cell,
    Epoch,
    Plan,
    conclude,
    inoculation_run,
    plan_from,
    run_request,
    sets_from,
    verdict_json,
)
from finetune.ui import repair
from probe.errors import FileError, SettingsError, StoreError, UnknownRun
from probe.models.library import ModelCache
from probe.runs.access import ModelAccess
from probe.runs.backup import back_up
from probe.runs.database import SCHEMA, GrantRow, RunRow, SchemaRow
from probe.runs.engine import CANCELLING, LEASE_SECONDS, Engine, Lease
from probe.runs.experiment import run_json
from probe.runs.run import StoredRun
from probe.runs.store import IS_OPEN, Store
from probe.settings import make_home
from probe.tasks.nli import NLI
from probe.ui.page import Core, build_pages
from probe.ui.run_tab.tab import RunArea
from probe.ui.visitors.visitor_files import check_room
from tests.support.pages.built import alone
from tests.support.pages.visitors import ME
from tests.support.processes.database_trouble import full, locked
from tests.support.runs.points import make_point

HERE = Path(__file__).parent
PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,))
CELL = Cell(6, 1e-3, 0)
FACTS = {"torch": "2.8"}
PROGRESS = row_json(Epoch(CELL, 3, 0.7, 0.8, 1e-3, 55.5))
RESULT = row_json(make_point(8, 6, 10, CELL))
LARGE = row_json(make_point(800, 600, 1000, CELL))


@pytest.fixture
def store(each_database: None) -> Store:
    """An empty store that does not wait long for a lock."""
    return Store(patience=0.05)


@pytest.fixture
def run(store: Store, sets: Sets) -> StoredRun:
    """A run that nobody works on."""
    return store.create("me", run_request(PLAN, sets, FACTS, {"model": "abc"}))


def states(store: Store, run: StoredRun) -> list[str]:
    return [cell.state for cell in store.get(run.id).cells]


def test_a_run_is_stored_with_all_its_cells_and_read_after_a_restart(
    store: Store, run: StoredRun, sets: Sets
) -> None:
    assert (run.state, run.owner, run.environment) == ("queued", "me", FACTS)
    assert (run.kind, plan_from(run.plan)) == ("inoculation", PLAN)
    assert [TRIALS.cell_from(cell.key) for cell in run.cells] == [BASE, CELL, Cell(12, 1e-3, 0)]
    assert [(cell.number, cell.state) for cell in run.cells] == [(n, "queued") for n in range(3)]
    store.request_cancel(run.id)
    store.add_artefacts(run.id, {"kept": "def"})
    facts = {"model": "abc", "sets": sets_facts(sets), "form": 2, "kept": "def"}
    assert Store().get(run.id) == replace(run, cancelling=True, artefacts=facts)
    assert sets_from(Store().inputs(run.id)) == sets
    assert store.runs_where(with_cells=False) == (replace(store.get(run.id), cells=()),)
    for ask in (store.get, store.inputs):
        with pytest.raises(UnknownRun, match="there is no run 'gone'"):
            ask("gone")


def test_runs_are_listed_by_owner_and_state_and_told_to_others_without_their_owner(
    store: Store, sets: Sets
) -> None:
    ids = [store.create(owner, run_request(PLAN, sets)).id for owner in ("me",) * 4 + ("you",)]
    store.set_state(ids[1], "running")
    store.set_state(ids[2], "done")
    for run_id in ids[2:4]:
        store.request_cancel(run_id)
    assert [run.id for run in store.runs("me")] == ids[3::-1]
    assert (store.runs(""), store.runs("m"), len(store.runs())) == ((), (), 5)
    assert store.ids(IS_OPEN) == (ids[0], ids[1], ids[3], ids[4])
    assert store.ids(*CANCELLING) == (ids[3],)
    assert store.ids(IS_OPEN, RunRow.owner == "you") == (ids[4],)
    store.set_result(ids[0], 1, RESULT)
    store.set_kept(ids[0], "tiny-negation-12")
    row = run_json(store.get(ids[0]))
    assert "owner" not in row and row["kept"] == "tiny-negation-12"
    assert row["cells"][1] == {
        "size": 6, "lr": 1e-3, "seed": 0, "state": "done", "error": "",
        "original": 0.8, "challenge": 0.6, "dev": 0.8, "dose": 6, "seconds": 1.5,
    }  # fmt: skip


def test_what_comes_late_undoes_neither_a_result_nor_the_end_of_a_run(
    store: Store, run: StoredRun
) -> None:
    store.set_cell(run.id, 1, "running", progress=PROGRESS)
    assert store.get(run.id).cells[1].progress == PROGRESS
    store.set_cell(run.id, 1, "running")  # it is tried again, afresh
    assert store.get(run.id).cells[1].progress is None
    for _ in range(2):
        store.set_result(run.id, 1, RESULT)
    store.set_cell(run.id, 1, "running", progress=PROGRESS)
    store.set_cell(run.id, 1, "cancelled")
    store.set_cell(run.id, 2, "failed", error="no memory")
    assert store.get(run.id).results == (RESULT,)
    assert states(store, run) == ["queued", "done", "failed"]
    assert store.get(run.id).cells[2].error == "no memory"
    store.set_state(run.id, "running")
    started = store.get(run.id).started
    store.set_state(run.id, "running")
    assert store.get(run.id).started == started > 0
    store.requeue(run.id, "the cluster does not answer")
    waiting = store.get(run.id)
    assert (waiting.state, waiting.started) == ("queued", 0.0)
    assert waiting.error == "the cluster does not answer"
    store.set_state(run.id, "running")
    assert store.get(run.id).error == ""
    store.set_state(run.id, "cancelled")
    for late in ("running", "done"):
        store.set_state(run.id, late)  # type: ignore[arg-type]  # mypy widens the loop's literals
    assert store.get(run.id).state == "cancelled"


def test_a_stopped_run_is_reopened_with_the_cells_it_lacks_and_no_other_is(
    store: Store, sets: Sets
) -> None:
    for state, reopened in {"failed": 1, "cancelled": 1, "running": 0, "done": 0}.items():
        run = store.create("me", run_request(PLAN, sets))
        store.set_state(run.id, "running")
        store.request_cancel(run.id)
        store.set_result(run.id, 0, RESULT)
        store.set_result(run.id, 1, RESULT, "no room for its model")
        store.set_cell(run.id, 2, "failed", error="no memory")
        store.set_state(run.id, state, "no memory")  # type: ignore[arg-type]  # as above
        store.reopen(run.id)
        found = store.get(run.id)
        if reopened:
            assert (found.state, found.error, found.cancelling) == ("queued", "", False)
            assert (found.started, found.finished) == (0.0, 0.0)
            assert states(store, run) == ["done", "queued", "queued"]
            assert {cell.error for cell in found.cells} == {""}
        else:
            assert (found.state, found.cancelling, found.cells[2].state) == (state, True, "failed")


def test_the_cells_that_have_not_ended_are_cancelled_or_queued_at_one_stroke(
    store: Store, run: StoredRun
) -> None:
    store.set_result(run.id, 0, RESULT)
    store.set_cell(run.id, 1, "running", progress=PROGRESS)
    store.cancel_cells(run.id, but=[1])
    assert states(store, run) == ["done", "running", "cancelled"]
    store.queue_cells(run.id)
    assert [(c.state, c.progress) for c in store.get(run.id).cells[1:]] == [
        ("queued", None), ("cancelled", None),
    ]  # fmt: skip
    store.cancel_cells(run.id)
    assert states(store, run) == ["done", "cancelled", "cancelled"]


def test_many_threads_write_without_losing_a_row(each_database: None, sets: Sets) -> None:
    store = Store()
    run = store.create("me", run_request(PLAN, sets))

    def work(number: int) -> None:
        store.set_cell(run.id, 1, "running", progress={"epoch": number})
        store.create(f"owner {number}", run_request(PLAN, sets))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(40)))
    assert len(store.runs()) == 41


# the database: where it lies, in trouble, of older programs, shared, damaged


def test_the_database_lies_in_the_home_or_where_its_url_says_which_is_told_without_a_password(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(f"sqlite:///{tmp_path}/other.db")
    assert (tmp_path / "other.db").exists() and not (home / "runs.sqlite").exists()
    Store()
    with sqlite3.connect(home / "runs.sqlite") as connection:  # readers beside a writer
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with pytest.raises(StoreError, match="cannot be used: unable to open database file"):
        Store(f"sqlite:///{home}/no/such/folder.db")
    (home / "file").touch()
    monkeypatch.setenv("NLI_CLINIC_HOME", str(home / "file"))
    with pytest.raises(SettingsError, match=r"^NLI_CLINIC_HOME is .*file, where no folder can be"):
        Store()
    for url in ("nonsense", "nosuch://a", "postgresql+psycopg2://a:secret@h/c", "sqlite://h:p/x"):
        monkeypatch.setenv("NLI_CLINIC_DATABASE", url)
        with pytest.raises(SettingsError, match=r"^NLI_CLINIC_DATABASE names no database") as told:
            Store()
        assert "secret" not in str(told.value), url


@pytest.fixture
def own(home: Path) -> Store:
    """An empty store in SQLite."""
    return Store(patience=0.05)


def test_what_a_database_in_trouble_refuses_can_be_stored_later(
    own: Store, sets: Sets, home: Path
) -> None:
    for trouble, sentence in {
        full: "the disk with the run database is full",
        locked: "the run database is locked by another program",
    }.items():
        started = own.create("me", run_request(PLAN, sets))
        there = own.runs()
        with trouble(home):
            with pytest.raises(StoreError, match=f"^{sentence}$"):
                own.create("me", run_request(PLAN, sets))
            with pytest.raises(StoreError, match=f"^{sentence}$"):
                own.set_result(started.id, 1, LARGE)
            waits = "what is computed waits in memory and is stored as soon as that ends"
            assert own.get(started.id) == replace(started, error=f"{sentence}; {waits}")
        own.set_result(started.id, 1, LARGE)
        found = own.get(started.id)
        assert (found.results, found.error) == ((LARGE,), "")
        assert len(own.runs()) == len(there)


def test_the_runs_of_version_2_are_answered_as_then_and_take_grants(home: Path) -> None:
    """`stored_runs.json` is what the program that wrote the database said of each run."""
    shutil.copy(HERE / "version_2.sqlite", home / "runs.sqlite")
    with ThreadPoolExecutor(4) as pool:  # several programs open it at once, and one upgrades
        store, *_ = pool.map(lambda _: Store(), range(4))
    answers = {run.id: run_json(run) for run in store.runs("somebody")}
    told = json.loads((HERE / "stored_runs.json").read_text(encoding="utf-8"))
    assert list(answers) == list(told)
    assert as_before(list(answers.values())) == as_before(list(told.values()))
    interrupted, _, done = (inoculation_run(store.get(run_id)) for run_id in told)
    verdict = verdict_json(conclude(done.plan, sets_from(store.inputs(done.id)), done.results))
    for name in ("gap", "closed", "drop", "outcome"):
        assert verdict[name] == done.verdict[name] == told[done.id]["verdict"][name]
    cell = interrupted.cells[1]
    assert cell.progress is not None
    assert (cell.state, cell.progress.cell) == ("running", cell.key)
    with store.database.writing() as session:
        session.add(GrantRow(id="a", run=done.id, owner="somebody", created=0.0))
    plan = store.get(done.id).plan
    old = {name: value for name, value in plan.items() if name not in ("mode", "thresholds")}
    store.database.write(update(RunRow).where(RunRow.id == done.id).values(plan=old))
    assert inoculation_run(store.get(done.id)).plan.mode == "full"  # of the first programs
    for version, who in {SCHEMA + 1: "a newer", 1: "a much older"}.items():
        store.database.write(update(SchemaRow).values(number=version))
        with pytest.raises(StoreError, match=f"{who} program wrote it"):
            Store()


def as_before(answer: Any) -> Any:  # Any: JSON
    """Return an answer without what later versions added, and without its verdict's words.

    A stored verdict is read by the rule of today; `dose` was not recorded.
    """
    if isinstance(answer, list):
        return [as_before(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    left_out = {"kind", "verdict"} | ({"dose"} if answer.get("dose", 0) is None else set())
    return {name: as_before(each) for name, each in answer.items() if name not in left_out}


def test_a_run_is_held_by_one_engine_until_that_leaves_it_dies_or_is_silent(
    store: Store, run: StoredRun
) -> None:
    first, second = Lease(store.database), Lease(store.database)

    def held_by(holder: str) -> bool:
        """Store a holder who has just given a sign of life; say whether it keeps the run."""
        values = {"holder": holder, "seen": time.time()}
        store.database.write(update(RunRow).values(**values))
        return not second.acquire(run.id)

    def silent() -> None:
        store.database.write(update(RunRow).values(seen=RunRow.seen - LEASE_SECONDS))

    assert first.acquire(run.id) and first.acquire(run.id) and not second.acquire(run.id)
    assert (first.available(), second.available()) == ((run.id,), ())
    silent()
    first.renew()
    assert not second.acquire(run.id)
    first.renew(0.0)
    assert second.available() == (run.id,)
    assert second.acquire(run.id) and not first.acquire(run.id)
    assert not held_by(f"{socket.gethostname()} {os.getpid()} 1.0 x")  # the number was given away
    assert held_by("elsewhere 1 1.0 x")
    silent()
    assert second.acquire(run.id)
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    born = psutil.Process(process.pid).create_time()
    assert held_by(f"{socket.gethostname()} {process.pid} {born} x")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert second.available() == (run.id,) and second.acquire(run.id)
    store.set_state(run.id, "done")
    assert second.available() == ()


PAGE = 4096


def test_a_damaged_database_is_left_alone_and_all_else_works(
    own: Store, home: Path, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = own.create("me", run_request(PLAN, sets))
    with closing(sqlite3.connect(home / "runs.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = (home / "runs.sqlite").read_bytes()
    for page in (0, 1, 7, -1):
        data, at = bytearray(whole), (page % (len(whole) // PAGE)) * PAGE
        data[at : at + PAGE] = b"\xff" * PAGE
        monkeypatch.setenv("NLI_CLINIC_HOME", str(home / f"damaged {page}"))
        (file := make_home() / "runs.sqlite").write_bytes(data)
        damaged = Store()
        assert damaged.database.damage.startswith("the run database is damaged"), page
        for use in (damaged.runs, lambda: damaged.get(run.id), lambda: damaged.reopen(run.id)):  # noqa: B023  # called here
            with pytest.raises(StoreError, match=r"python -m probe restore FOLDER$"):
                use()
        with pytest.raises(FileError, match=r"is damaged: no|cannot be backed up"):
            back_up(home / "backups")
        assert file.read_bytes() == data
    check_room(damaged, ME)
    models = ModelAccess(ModelCache(), damaged)
    assert "minilm" in models.names(ME)
    models.require(ME, "minilm")
    kept = list[RunArea]()
    alone(lambda page: kept.append(RunArea(page, [repair.VIEW], "train", "train")), damaged)
    _, opened = kept[0].linked(ME, NLI, {"run": run.id}, "repair")
    assert "python -m probe restore FOLDER" in opened
    build_pages(PLACES, Core(ModelCache(), damaged, Engine(damaged)))
    told = CliRunner().invoke(finetune, ["runs"])
    assert (told.exit_code, told.stderr) == (2, f"error: {damaged.database.damage}\n")
