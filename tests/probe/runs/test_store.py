"""The run store: nothing is lost, doubled or overwritten.

Runs on SQLite, and on an empty PostgreSQL whose URL is in NLI_CLINIC_TEST_DATABASE.
"""

import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from finetune.trials.base import row_json
from finetune.trials.datasets import Sets, sets_facts
from finetune.trials.inoculation_plan import (
    BASE,
    Cell,
    Epoch,
    Plan,
    cell_from,
    plan_from,
    run_request,
    sets_from,
)
from probe.errors import UnknownRun
from probe.runs.database import Base
from probe.runs.experiment import run_json
from probe.runs.run import State, StoredRun
from probe.runs.store import Store
from tests.support.runs.points import make_point

PLAN = Plan("tiny", "negation", (6, 12), (1e-3,), (0,))
CELL = Cell(6, 1e-3, 0)
FACTS = {"torch": "2.8"}
PROGRESS = row_json(Epoch(CELL, 3, 0.7, 0.8, 1e-3, 55.5))
RESULT = row_json(make_point(8, 6, 10, CELL))
POSTGRES = os.environ.get("NLI_CLINIC_TEST_DATABASE")


@pytest.fixture(params=["", *([POSTGRES] if POSTGRES else [])], ids=lambda url: url[:8] or "sqlite")
def store(
    request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    """An empty store."""
    if request.param:
        monkeypatch.setenv("NLI_CLINIC_DATABASE", request.param)
    yield Store()
    if request.param:
        Base.metadata.drop_all(create_engine(request.param))


@pytest.fixture
def run(store: Store, sets: Sets) -> StoredRun:
    """A run that nobody works on."""
    return store.create("me", run_request(PLAN, sets, FACTS))


def test_a_new_run_is_queued_with_all_its_cells(run: StoredRun) -> None:
    assert (run.state, run.owner, run.environment) == ("queued", "me", FACTS)
    assert (run.kind, plan_from(run.plan)) == ("inoculation", PLAN)
    assert [cell.number for cell in run.cells] == [0, 1, 2]
    assert [cell_from(cell.key) for cell in run.cells] == [BASE, CELL, Cell(12, 1e-3, 0)]
    assert {state.state for state in run.cells} == {"queued"}


def test_a_run_and_its_sets_survive_a_restart(run: StoredRun, sets: Sets) -> None:
    assert Store().get(run.id) == run
    assert sets_from(Store().inputs(run.id)) == sets


def test_the_database_lies_in_the_home_and_takes_readers_beside_a_writer(
    home: Path, sets: Sets
) -> None:
    Store().create("me", run_request(PLAN, sets))
    with sqlite3.connect(home / "runs.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_another_database_is_given_by_url(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sets: Sets
) -> None:
    monkeypatch.setenv("NLI_CLINIC_DATABASE", f"sqlite:///{tmp_path}/other.db")
    Store().create("me", run_request(PLAN, sets))
    assert (tmp_path / "other.db").exists()
    assert not (home / "runs.sqlite").exists()


def test_owners_see_their_own_runs_newest_first(store: Store, sets: Sets) -> None:
    mine = [store.create("me", run_request(PLAN, sets)).id for _ in range(3)]
    store.create("you", run_request(PLAN, sets))
    assert [run.id for run in store.runs("me")] == mine[::-1]
    assert [run.owner for run in store.runs("you")] == ["you"]
    assert (store.runs(""), store.runs("m")) == ((), ())
    assert len(store.runs()) == 4


def test_a_run_that_is_not_there_is_named(store: Store) -> None:
    with pytest.raises(UnknownRun, match="there is no run 'gone'"):
        store.get("gone")
    with pytest.raises(UnknownRun, match="there is no run 'gone'"):
        store.inputs("gone")


def test_progress_and_point_come_back_as_they_were_stored(store: Store, run: StoredRun) -> None:
    store.set_progress(run.id, 1, PROGRESS)
    assert store.get(run.id).cells[1].progress == PROGRESS
    store.set_result(run.id, 1, RESULT)
    assert store.get(run.id).results == (RESULT,)
    assert store.get(run.id).cells[1].state == "done"


def test_a_cell_stored_twice_is_one_row(store: Store, run: StoredRun) -> None:
    for _ in range(2):
        store.set_result(run.id, 1, RESULT)
    assert len(store.get(run.id).cells) == 3
    assert len(store.get(run.id).results) == 1


def test_news_that_comes_late_does_not_undo_a_point(store: Store, run: StoredRun) -> None:
    store.set_result(run.id, 1, RESULT)
    store.set_progress(run.id, 1, PROGRESS)
    store.set_cell_state(run.id, 1, "running")
    store.set_cell_state(run.id, 1, "cancelled")
    assert store.get(run.id).cells[1].state == "done"


def test_a_failed_cell_keeps_its_reason_and_leaves_the_others(store: Store, run: StoredRun) -> None:
    store.set_result(run.id, 0, RESULT)
    store.set_cell_state(run.id, 1, "failed", "no memory")
    states = [(state.state, state.error) for state in store.get(run.id).cells]
    assert states == [("done", ""), ("failed", "no memory"), ("queued", "")]


def test_a_cell_that_is_tried_again_starts_afresh(store: Store, run: StoredRun) -> None:
    store.set_progress(run.id, 1, PROGRESS)
    store.set_cell_state(run.id, 1, "running")
    assert store.get(run.id).cells[1].progress is None


def test_an_ended_run_keeps_its_state(store: Store, run: StoredRun) -> None:
    store.set_state(run.id, "cancelled")
    store.set_state(run.id, "running")
    store.set_state(run.id, "done")
    assert store.get(run.id).state == "cancelled"


def test_a_failed_run_is_reopened_with_the_cells_it_lacks(store: Store, run: StoredRun) -> None:
    store.set_state(run.id, "running")
    store.set_result(run.id, 0, RESULT)
    store.set_cell_state(run.id, 1, "failed", "no memory")
    store.set_state(run.id, "failed", "no memory")
    store.reopen(run.id)
    found = store.get(run.id)
    assert (found.state, found.error) == ("queued", "")
    assert (found.started, found.finished) == (0.0, 0.0)
    assert [state.state for state in found.cells] == ["done", "queued", "queued"]
    assert {state.error for state in found.cells} == {""}


def test_a_cancelled_run_is_reopened_without_the_wish_to_cancel(
    store: Store, run: StoredRun
) -> None:
    store.request_cancel(run.id)
    store.set_cell_state(run.id, 1, "cancelled")
    store.set_state(run.id, "cancelled")
    store.reopen(run.id)
    found = store.get(run.id)
    assert (found.state, found.cancelling, found.cells[1].state) == ("queued", False, "queued")


def test_a_cell_whose_model_could_not_be_kept_is_computed_again(
    store: Store, run: StoredRun
) -> None:
    store.set_result(run.id, 1, RESULT, "no room")
    store.set_state(run.id, "failed", "no room")
    store.reopen(run.id)
    assert store.get(run.id).cells[1].state == "queued"


@pytest.mark.parametrize("state", ["running", "done"])
def test_a_run_that_was_not_stopped_is_not_reopened(
    store: Store, run: StoredRun, state: State
) -> None:
    store.set_cell_state(run.id, 1, "failed", "no memory")
    store.set_state(run.id, state)
    store.reopen(run.id)
    found = store.get(run.id)
    assert (found.state, found.cells[1].state) == (state, "failed")


def test_an_open_run_says_what_it_waits_for_until_it_runs(store: Store, run: StoredRun) -> None:
    store.set_state(run.id, "running")
    store.requeue(run.id, "the cluster does not answer")
    waiting = store.get(run.id)
    assert (waiting.state, waiting.error) == ("queued", "the cluster does not answer")
    assert waiting.started == 0.0
    store.set_state(run.id, "running")
    assert store.get(run.id).error == ""


def test_a_run_names_its_sets_by_hash_and_more_can_be_told(store: Store, sets: Sets) -> None:
    run = store.create("me", run_request(PLAN, sets, {}, {"model": "abc"}))
    store.add_artefacts(run.id, {"kept": "def"})
    assert store.get(run.id).artefacts == {
        "model": "abc", "sets": sets_facts(sets), "form": 2, "kept": "def",
    }  # fmt: skip


def test_a_run_has_started_once(store: Store, run: StoredRun) -> None:
    store.set_state(run.id, "running")
    started = store.get(run.id).started
    store.set_state(run.id, "running")
    assert store.get(run.id).started == started > 0


def test_open_runs_are_unfinished_oldest_first(store: Store, sets: Sets) -> None:
    ids = [store.create("me", run_request(PLAN, sets)).id for _ in range(4)]
    store.set_state(ids[1], "running")
    store.set_state(ids[2], "done")
    assert store.unfinished() == (ids[0], ids[1], ids[3])


def test_the_cells_that_have_not_ended_are_cancelled_at_one_stroke(
    store: Store, run: StoredRun
) -> None:
    store.set_result(run.id, 0, RESULT)
    store.set_progress(run.id, 1, PROGRESS)
    store.cancel_cells(run.id, but=[1])
    assert [cell.state for cell in store.get(run.id).cells] == ["done", "running", "cancelled"]
    store.cancel_cells(run.id)
    assert [cell.state for cell in store.get(run.id).cells] == ["done", "cancelled", "cancelled"]


def test_the_cells_that_have_not_ended_are_queued_afresh(store: Store, run: StoredRun) -> None:
    store.set_result(run.id, 0, RESULT)
    store.set_progress(run.id, 1, PROGRESS)
    store.queue_cells(run.id)
    cells = store.get(run.id).cells
    assert [(cell.state, cell.progress) for cell in cells[1:]] == [("queued", None)] * 2
    assert cells[0].result == RESULT


def test_a_list_of_runs_reads_none_of_their_cells(store: Store, run: StoredRun) -> None:
    (listed,) = store.runs_where(with_cells=False)
    assert listed == replace(store.get(run.id), cells=())


def test_open_runs_and_new_ones_are_counted_by_owner(store: Store, sets: Sets) -> None:
    ids = [store.create(owner, run_request(PLAN, sets)).id for owner in ("me", "me", "you")]
    store.set_state(ids[0], "done")
    assert (store.count_open("me"), store.count_open("you"), store.count_open()) == (1, 1, 2)
    created = store.get(ids[1]).created
    assert (store.count_since("me", 0), store.count_since("me", created)) == (2, 1)
    assert store.count_since("you", created + 3600) == 0


def test_only_open_runs_are_being_cancelled(store: Store, sets: Sets) -> None:
    ids = [store.create("me", run_request(PLAN, sets)).id for _ in range(3)]
    for run_id in ids[:2]:
        store.request_cancel(run_id)
    store.set_state(ids[0], "cancelled")
    assert store.cancelling() == {ids[1]}


def test_a_wish_to_cancel_survives_a_restart(store: Store, run: StoredRun) -> None:
    store.request_cancel(run.id)
    assert Store().get(run.id).cancelling


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
