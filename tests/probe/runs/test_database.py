"""The run database in trouble: full, locked, of an older version, shared by two engines."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from sqlalchemy import update

from finetune.experiments.inoculation.plan import Cell, Plan
from finetune.experiments.inoculation.sets import Sets
from probe.errors import StoreError
from probe.runs.lease import LEASE, Lease
from probe.runs.store import Run, Store
from probe.runs.tables import RunRow
from tests.support.database_trouble import full, locked
from tests.support.points import make_point

PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,))
CELL = Cell(6, 1e-3, 0)
LARGE = make_point(800, 600, 1000, CELL)


@pytest.fixture
def store(home: Path) -> Store:
    """An empty store that does not wait long for a lock."""
    return Store(patience=0.05)


@pytest.fixture
def run(store: Store, sets: Sets) -> Run:
    """A run that nobody works on."""
    return store.create("me", PLAN, sets, {})


TROUBLES = pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        (full, "the disk with the run database is full"),
        (locked, "the run database is locked by another program"),
    ],
)


@TROUBLES
def test_a_point_that_cannot_be_stored_can_be_stored_later(
    store: Store, run: Run, home: Path, trouble: Callable, sentence: str
) -> None:
    with trouble(home):
        with pytest.raises(StoreError, match=f"^{sentence}$"):
            store.point(run.id, LARGE)
        assert store.get(run.id).points == ()
    store.point(run.id, LARGE)
    assert store.get(run.id).points == (LARGE,)


@TROUBLES
def test_an_open_run_says_that_the_database_is_in_trouble(
    store: Store, run: Run, home: Path, trouble: Callable, sentence: str
) -> None:
    with trouble(home), pytest.raises(StoreError):
        store.point(run.id, LARGE)
    assert store.get(run.id).error == (
        f"{sentence}; what is computed waits in memory and is stored as soon as that ends"
    )
    store.point(run.id, LARGE)
    assert store.get(run.id).error == ""


@TROUBLES
def test_a_run_that_cannot_be_stored_is_refused_with_a_sentence(
    store: Store, run: Run, sets: Sets, home: Path, trouble: Callable, sentence: str
) -> None:
    with trouble(home), pytest.raises(StoreError, match=f"^{sentence}$"):
        store.create("me", PLAN, sets, {})
    assert store.runs() == (store.get(run.id),)


def test_a_locked_database_is_still_read(store: Store, run: Run, home: Path) -> None:
    with locked(home):
        assert store.get(run.id) == run


def test_a_database_that_is_not_there_is_said_so(home: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used: unable to open database file"):
        Store(f"sqlite:///{home}/no/such/folder.db")


def test_a_database_of_an_older_version_opens_with_its_runs(
    store: Store, run: Run, sets: Sets, home: Path
) -> None:
    store.database.write(update(RunRow).values(plan=_old(run.plan)))
    added = "artefacts", "holder", "seen"
    with sqlite3.connect(home / "runs.sqlite") as connection:
        for column in added:
            connection.execute(f"ALTER TABLE run DROP COLUMN {column}")
    opened = Store()
    found = opened.get(run.id)
    assert (found.plan, found.artefacts) == (run.plan, {})
    assert opened.sets(run.id) == sets
    opened.describe(run.id, {"model": "abc"})
    assert opened.get(run.id).artefacts == {"model": "abc"}
    assert Lease(opened.database).take(run.id)
    with sqlite3.connect(home / "runs.sqlite") as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(run)")]
    assert columns[-3:] == list(added)


def _old(plan: Plan) -> dict[str, object]:
    """Return a plan's JSON as it was before there were modes, a control set and thresholds."""
    return {name: it for name, it in vars(plan).items() if name not in ("mode", "thresholds")}


def test_only_one_engine_holds_a_run(store: Store, run: Run) -> None:
    first, second = Lease(store.database), Lease(store.database)
    assert first.take(run.id)
    assert not second.take(run.id)
    assert first.take(run.id)
    assert (first.left(), second.left()) == ((run.id,), ())


def test_a_run_that_is_left_is_taken_by_the_next(store: Store, run: Run) -> None:
    first, second = Lease(store.database), Lease(store.database)
    first.take(run.id)
    first.leave()
    assert second.left() == (run.id,)
    assert second.take(run.id)
    assert not first.take(run.id)


def _held_by(store: Store, run: Run, holder: str) -> None:
    """Store a holder who has just given a sign of life."""
    Lease(store.database).take(run.id)
    store.database.write(update(RunRow).values(holder=holder))


def test_a_run_of_a_dead_process_is_taken_at_once(store: Store, run: Run) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    holder = f"{socket.gethostname()} {process.pid} {psutil.Process(process.pid).create_time()} x"
    _held_by(store, run, holder)
    assert not Lease(store.database).take(run.id)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert Lease(store.database).left() == (run.id,)
    assert Lease(store.database).take(run.id)


def test_a_run_of_a_process_whose_number_was_given_away_is_taken(store: Store, run: Run) -> None:
    _held_by(store, run, f"{socket.gethostname()} {os.getpid()} 1.0 x")
    assert Lease(store.database).take(run.id)


def test_a_run_of_another_machine_is_taken_when_that_is_silent(store: Store, run: Run) -> None:
    _held_by(store, run, "elsewhere 1 1.0 x")
    assert not Lease(store.database).take(run.id)
    store.database.write(update(RunRow).values(seen=RunRow.seen - LEASE))
    assert Lease(store.database).take(run.id)


def test_a_sign_of_life_renews_what_is_held(store: Store, run: Run) -> None:
    lease = Lease(store.database)
    lease.take(run.id)
    store.database.write(update(RunRow).values(seen=RunRow.seen - LEASE))
    lease.renew()
    assert not Lease(store.database).take(run.id)


def test_an_ended_run_is_nobody_s_to_take_up(store: Store, run: Run) -> None:
    lease = Lease(store.database)
    lease.take(run.id)
    store.mark(run.id, "done")
    assert lease.left() == ()
