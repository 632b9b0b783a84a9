"""The run database in trouble: full, locked, of an older version, shared by two engines."""

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

from app import TABS
from finetune.cli.main import app as finetune
from finetune.trials.base import row_json
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import (
    Cell,
    Plan,
    conclude,
    inoculation_run,
    run_request,
    sets_from,
    verdict_json,
)
from finetune.ui.inoculate.opening import Opening
from probe.errors import FileError, SettingsError, StoreError
from probe.models.library import ModelCache
from probe.runs.access import ModelAccess
from probe.runs.backup import back_up
from probe.runs.database import SCHEMA, GrantRow, RunRow, SchemaRow
from probe.runs.engine import LEASE_SECONDS, Engine, Lease
from probe.runs.experiment import run_json
from probe.runs.run import StoredRun
from probe.runs.store import Store
from probe.settings import make_home
from probe.tasks.nli import NLI
from probe.ui.page import Core, build_page
from probe.ui.visitors.visitor_files import check_room
from tests.support.pages.visitors import ME
from tests.support.processes.database_trouble import full, locked
from tests.support.runs.points import make_point

HERE = Path(__file__).parent
PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,))
CELL = Cell(6, 1e-3, 0)
LARGE = row_json(make_point(800, 600, 1000, CELL))


@pytest.fixture
def store(home: Path) -> Store:
    """An empty store that does not wait long for a lock."""
    return Store(patience=0.05)


@pytest.fixture
def run(store: Store, sets: Sets) -> StoredRun:
    """A run that nobody works on."""
    return store.create("me", run_request(PLAN, sets))


def test_what_a_database_in_trouble_refuses_can_be_stored_later(
    store: Store, run: StoredRun, sets: Sets, home: Path
) -> None:
    for trouble, sentence in {
        full: "the disk with the run database is full",
        locked: "the run database is locked by another program",
    }.items():
        started = store.create("me", run_request(PLAN, sets))
        there = store.runs()
        with trouble(home):
            with pytest.raises(StoreError, match=f"^{sentence}$"):
                store.create("me", run_request(PLAN, sets))
            with pytest.raises(StoreError, match=f"^{sentence}$"):
                store.set_result(started.id, 1, LARGE)
            waits = "what is computed waits in memory and is stored as soon as that ends"
            assert store.get(started.id) == replace(started, error=f"{sentence}; {waits}")
        store.set_result(started.id, 1, LARGE)
        found = store.get(started.id)
        assert (found.results, found.error) == ((LARGE,), "")
        assert len(store.runs()) == len(there)


def test_a_place_where_no_database_can_be_is_said_so_without_its_password(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_database_of_a_newer_or_a_much_older_program_is_refused(store: Store) -> None:
    for version, who in {SCHEMA + 1: "a newer", 1: "a much older"}.items():
        store.database.write(update(SchemaRow).values(number=version))
        with pytest.raises(StoreError, match=f"{who} program wrote it"):
            Store()


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
    store: Store, run: StoredRun, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    opened = Opening(damaged, models, ()).begin(NLI, ME, {"run": run.id})
    assert "python -m probe restore FOLDER" in str(opened)
    build_page(TABS, Core(ModelCache(), damaged, Engine(damaged)))
    told = CliRunner().invoke(finetune, ["runs"])
    assert (told.exit_code, told.stderr) == (2, f"error: {damaged.database.damage}\n")
