"""The run database in trouble: full, locked, of an older version, shared by two engines."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from app import TABS
from finetune.cli.main import app as finetune
from finetune.trials.base import row_json
from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Cell, Plan, run_request
from finetune.ui.inoculate.opening import Opening
from probe.errors import FileError, SettingsError, StoreError
from probe.models.library import ModelCache
from probe.runs.access import ModelAccess
from probe.runs.backup import back_up
from probe.runs.database import RunRow
from probe.runs.engine import LEASE_SECONDS, Engine, Lease
from probe.runs.run import StoredRun
from probe.runs.store import Store
from probe.settings import make_home
from probe.tasks.nli import NLI
from probe.ui.page import Core, build_page
from probe.ui.visitors.visitor_files import check_room
from tests.support.pages.visitors import ME
from tests.support.processes.database_trouble import full, locked
from tests.support.runs.points import make_point

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


TROUBLES = pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        (full, "the disk with the run database is full"),
        (locked, "the run database is locked by another program"),
    ],
)


@TROUBLES
def test_a_point_that_cannot_be_stored_can_be_stored_later(
    store: Store, run: StoredRun, home: Path, trouble: Callable, sentence: str
) -> None:
    with trouble(home):
        with pytest.raises(StoreError, match=f"^{sentence}$"):
            store.set_result(run.id, 1, LARGE)
        assert store.get(run.id).results == ()
    store.set_result(run.id, 1, LARGE)
    assert store.get(run.id).results == (LARGE,)


@TROUBLES
def test_an_open_run_says_that_the_database_is_in_trouble(
    store: Store, run: StoredRun, home: Path, trouble: Callable, sentence: str
) -> None:
    with trouble(home), pytest.raises(StoreError):
        store.set_result(run.id, 1, LARGE)
    assert store.get(run.id).error == (
        f"{sentence}; what is computed waits in memory and is stored as soon as that ends"
    )
    store.set_result(run.id, 1, LARGE)
    assert store.get(run.id).error == ""


@TROUBLES
def test_a_run_that_cannot_be_stored_is_refused_with_a_sentence(
    store: Store, run: StoredRun, sets: Sets, home: Path, trouble: Callable, sentence: str
) -> None:
    with trouble(home), pytest.raises(StoreError, match=f"^{sentence}$"):
        store.create("me", run_request(PLAN, sets))
    assert store.runs() == (store.get(run.id),)


def test_a_locked_database_is_still_read(store: Store, run: StoredRun, home: Path) -> None:
    with locked(home):
        assert store.get(run.id) == run


def test_a_database_that_is_not_there_is_said_so(home: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used: unable to open database file"):
        Store(f"sqlite:///{home}/no/such/folder.db")


@pytest.mark.parametrize(
    "url", ["nonsense", "nosuch://a", "postgresql+psycopg2://a:secret@h/c", "sqlite://h:port/x"]
)
def test_a_url_of_no_database_is_said_so_without_its_password(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_DATABASE", url)
    with pytest.raises(SettingsError, match=r"^NLI_CLINIC_DATABASE names no database") as refused:
        Store()
    assert "secret" not in str(refused.value)


def test_a_home_that_cannot_be_made_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path / "file"))
    with pytest.raises(SettingsError, match=r"^NLI_CLINIC_HOME is .*file, where no folder can be"):
        Store()


def test_only_one_engine_holds_a_run(store: Store, run: StoredRun) -> None:
    first, second = Lease(store.database), Lease(store.database)
    assert first.acquire(run.id)
    assert not second.acquire(run.id)
    assert first.acquire(run.id)
    assert (first.available(), second.available()) == ((run.id,), ())


def test_a_run_that_is_left_is_taken_by_the_next(store: Store, run: StoredRun) -> None:
    first, second = Lease(store.database), Lease(store.database)
    first.acquire(run.id)
    first.release()
    assert second.available() == (run.id,)
    assert second.acquire(run.id)
    assert not first.acquire(run.id)


def _held_by(store: Store, run: StoredRun, holder: str) -> None:
    """Store a holder who has just given a sign of life."""
    Lease(store.database).acquire(run.id)
    store.database.write(update(RunRow).values(holder=holder))


def test_a_run_of_a_dead_process_is_taken_at_once(store: Store, run: StoredRun) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    holder = f"{socket.gethostname()} {process.pid} {psutil.Process(process.pid).create_time()} x"
    _held_by(store, run, holder)
    assert not Lease(store.database).acquire(run.id)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert Lease(store.database).available() == (run.id,)
    assert Lease(store.database).acquire(run.id)


def test_a_run_of_a_process_whose_number_was_given_away_is_taken(
    store: Store, run: StoredRun
) -> None:
    _held_by(store, run, f"{socket.gethostname()} {os.getpid()} 1.0 x")
    assert Lease(store.database).acquire(run.id)


def test_a_run_of_another_machine_is_taken_when_that_is_silent(
    store: Store, run: StoredRun
) -> None:
    _held_by(store, run, "elsewhere 1 1.0 x")
    assert not Lease(store.database).acquire(run.id)
    store.database.write(update(RunRow).values(seen=RunRow.seen - LEASE_SECONDS))
    assert Lease(store.database).acquire(run.id)


def test_a_sign_of_life_renews_what_is_held(store: Store, run: StoredRun) -> None:
    lease = Lease(store.database)
    lease.acquire(run.id)
    store.database.write(update(RunRow).values(seen=RunRow.seen - LEASE_SECONDS))
    lease.renew()
    assert not Lease(store.database).acquire(run.id)


def test_an_ended_run_is_nobody_s_to_take_up(store: Store, run: StoredRun) -> None:
    lease = Lease(store.database)
    lease.acquire(run.id)
    store.set_state(run.id, "done")
    assert lease.available() == ()


PAGE = 4096


@pytest.mark.parametrize("page", [0, 1, 7, -1])
def test_a_damaged_database_is_left_alone_and_all_else_works(
    store: Store, run: StoredRun, home: Path, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(home / "runs.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray((home / "runs.sqlite").read_bytes())
    at = (page % (len(data) // PAGE)) * PAGE
    data[at : at + PAGE] = b"\xff" * PAGE
    monkeypatch.setenv("NLI_CLINIC_HOME", str(home / "damaged"))
    (file := make_home() / "runs.sqlite").write_bytes(data)

    damaged = Store()
    assert damaged.database.damage.startswith("the run database is damaged")
    for use in (damaged.runs, lambda: damaged.get(run.id), lambda: damaged.reopen(run.id)):
        with pytest.raises(StoreError, match=r"python -m probe restore FOLDER$"):
            use()
    check_room(damaged, ME)
    models = ModelAccess(ModelCache(), damaged)
    assert "minilm" in models.names(ME)
    models.require(ME, "minilm")
    opened = Opening(damaged, models, ()).begin(NLI, ME, {"run": run.id})
    assert "python -m probe restore FOLDER" in str(opened)
    build_page(TABS, Core(ModelCache(), damaged, Engine(damaged)))
    told = CliRunner().invoke(finetune, ["runs"])
    assert (told.exit_code, told.stderr) == (2, f"error: {damaged.database.damage}\n")
    with pytest.raises(FileError, match=r"is damaged: no|cannot be backed up"):
        back_up(home / "backups")
    assert file.read_bytes() == data
