"""The run store: nothing is lost, doubled or overwritten.

Runs on SQLite, and on an empty PostgreSQL whose URL is in NLI_CLINIC_TEST_DATABASE.
"""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from finetune.trials.base import row_json
from finetune.trials.datasets import Sets, sets_facts
from finetune.trials.inoculation import (
    BASE,
    TRIALS,
    Cell,
    Epoch,
    Plan,
    plan_from,
    run_request,
    sets_from,
)
from probe.errors import UnknownRun
from probe.runs.database import RunRow
from probe.runs.engine import CANCELLING
from probe.runs.experiment import run_json
from probe.runs.run import StoredRun
from probe.runs.store import IS_OPEN, Store
from tests.support.runs.points import make_point

PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,))
CELL = Cell(6, 1e-3, 0)
FACTS = {"torch": "2.8"}
PROGRESS = row_json(Epoch(CELL, 3, 0.7, 0.8, 1e-3, 55.5))
RESULT = row_json(make_point(8, 6, 10, CELL))


@pytest.fixture
def store(each_database: None) -> Store:
    return Store()


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


def test_the_database_lies_in_the_home_or_where_its_url_says(home: Path, tmp_path: Path) -> None:
    Store(f"sqlite:///{tmp_path}/other.db")
    assert (tmp_path / "other.db").exists() and not (home / "runs.sqlite").exists()
    Store()
    with sqlite3.connect(home / "runs.sqlite") as connection:  # readers beside a writer
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_runs_are_listed_and_counted_by_owner_and_state(store: Store, sets: Sets) -> None:
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


def test_a_result_is_stored_once_and_what_comes_late_does_not_undo_it(
    store: Store, run: StoredRun
) -> None:
    store.set_progress(run.id, 1, PROGRESS)
    assert store.get(run.id).cells[1].progress == PROGRESS
    store.set_cell_state(run.id, 1, "running")  # it is tried again, afresh
    assert store.get(run.id).cells[1].progress is None
    for _ in range(2):
        store.set_result(run.id, 1, RESULT)
    store.set_progress(run.id, 1, PROGRESS)
    store.set_cell_state(run.id, 1, "cancelled")
    store.set_cell_state(run.id, 2, "failed", "no memory")
    assert store.get(run.id).results == (RESULT,)
    assert states(store, run) == ["queued", "done", "failed"]
    assert store.get(run.id).cells[2].error == "no memory"


def test_an_open_run_says_what_it_waits_for_and_an_ended_one_keeps_its_state(
    store: Store, run: StoredRun
) -> None:
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
        store.set_cell_state(run.id, 2, "failed", "no memory")
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
    store.set_progress(run.id, 1, PROGRESS)
    store.cancel_cells(run.id, but=[1])
    assert states(store, run) == ["done", "running", "cancelled"]
    store.queue_cells(run.id)
    assert [(c.state, c.progress) for c in store.get(run.id).cells[1:]] == [
        ("queued", None), ("cancelled", None),
    ]  # fmt: skip
    store.cancel_cells(run.id)
    assert states(store, run) == ["done", "cancelled", "cancelled"]
    assert store.get(run.id).cells[0].result == RESULT


def test_many_threads_write_without_losing_a_row(store: Store, run: StoredRun, sets: Sets) -> None:
    def work(number: int) -> None:
        store.set_progress(run.id, 1, {"epoch": number})
        store.create(f"owner {number}", run_request(PLAN, sets))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(40)))
    assert len(store.runs()) == 41


def test_a_run_is_told_to_others_without_its_owner(store: Store, run: StoredRun) -> None:
    store.set_result(run.id, 1, RESULT)
    store.set_verdict(run.id, {"outcome": "1"})
    store.set_kept(run.id, "tiny-negation-12")
    row = run_json(store.get(run.id))
    assert "owner" not in row
    assert (row["verdict"], row["kept"]) == ({"outcome": "1"}, "tiny-negation-12")
    assert row["cells"][1] == {
        "size": 6, "lr": 1e-3, "seed": 0, "state": "done", "error": "",
        "original": 0.8, "challenge": 0.6, "dev": 0.8, "dose": 6, "seconds": 1.5,
    }  # fmt: skip
