"""Runs go when their owner deletes them, and when they have been kept long enough."""

import os
import time
from pathlib import Path

import pytest
from sqlalchemy import update

from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan, run_request
from probe.data.rows import guess
from probe.data.source import open_source
from probe.errors import UnknownRun
from probe.models.library import ModelCache
from probe.runs.access import (
    COMMAND_LINE,
    DAY,
    ModelAccess,
    delete_model,
    delete_run,
    discard_run,
    grants,
    readable_run,
    redeem,
    remove_old_runs,
    share,
)
from probe.runs.database import RunRow
from probe.runs.engine import Engine
from probe.runs.run import Json, ended
from probe.runs.store import Store
from probe.scoring.files import ScoringRequest, input_file, scoring_request
from probe.tasks.nli import NLI
from tests.support.files.scoring_files import pair_file
from tests.support.models.tiny_bert import tiny_bert
from tests.support.pages.visitors import ME, YOU
from tests.support.waiting import until

PLAN = Plan("tiny", "negation", (5,), (2e-5,), (0,))


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


@pytest.fixture
def engine(store: Store) -> Engine:
    """An engine that has not begun."""
    return Engine(store, in_process=True)


def done(store: Store, sets: Sets, home: Path, owner: str, model: str = "") -> str:
    """Store a run that is done, with a model where one is named; return its id."""
    run = store.create(owner, run_request(PLAN, sets)).id
    store.set_state(run, "done")
    if model:
        store.set_kept(run, model)
        tiny_bert(home / "models" / model)
    return run


def finished(store: Store, run: str, when: float) -> None:
    """Let a run have ended at a time."""
    store.database.write(update(RunRow).where(RunRow.id == run).values(finished=when))


def test_a_deleted_run_is_gone_with_its_cells_its_model_and_its_links(
    store: Store, engine: Engine, sets: Sets, home: Path
) -> None:
    run = done(store, sets, home, ME, "mine")
    redeem(store, YOU, share(store, ME, run))
    delete_run(store, engine, ME, run)
    for visitor in (ME, YOU):
        with pytest.raises(UnknownRun):
            readable_run(store, visitor, run)
        assert "mine" not in ModelAccess(ModelCache(), store).names(visitor)
    assert grants(store, ME) == store.runs() == ()
    assert list((home / "models").iterdir()) == []


def test_only_its_owner_deletes_a_run(store: Store, engine: Engine, sets: Sets, home: Path) -> None:
    run = done(store, sets, home, ME)
    redeem(store, YOU, share(store, ME, run))
    for stranger in (YOU, "", COMMAND_LINE):
        with pytest.raises(UnknownRun, match=f"there is no run '{run}'"):
            delete_run(store, engine, stranger, run)
    assert readable_run(store, ME, run).id == run


def test_a_run_that_is_going_is_nobodys_at_once_and_removed_when_it_has_ended(
    store: Store, engine: Engine, sets: Sets, home: Path
) -> None:
    tiny_bert(home / "models" / "tiny")
    run = store.create(ME, run_request(PLAN, sets)).id
    delete_run(store, engine, ME, run)
    with pytest.raises(UnknownRun):
        readable_run(store, ME, run)
    until(store, run, ended)
    engine.close()
    remove_old_runs(store)
    assert store.runs() == ()


def test_visitors_runs_go_after_their_days_and_those_of_the_command_line_stay(
    store: Store, sets: Sets, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_KEEP_DAYS", "2")
    old, young = (done(store, sets, home, ME, name) for name in ("old", "young"))
    ours = done(store, sets, home, COMMAND_LINE, "ours")
    now = store.get(young).finished
    for run in (old, ours):
        finished(store, run, now - 3 * DAY)
    finished(store, young, now - DAY)
    going = store.create(ME, run_request(PLAN, sets)).id
    remove_old_runs(store)
    assert {run.id for run in store.runs()} == {young, ours, going}
    assert sorted(path.name for path in (home / "models").iterdir()) == ["ours", "young"]


def test_where_nothing_says_how_long_runs_are_kept_they_stay(
    store: Store, sets: Sets, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "no")
    run = done(store, sets, home, ME)
    finished(store, run, 1.0)
    remove_old_runs(store)
    assert [kept.id for kept in store.runs()] == [run]


def test_a_model_goes_without_its_run(store: Store, sets: Sets, home: Path) -> None:
    run = done(store, sets, home, ME, "mine")
    with pytest.raises(UnknownRun):
        delete_model(store, YOU, run)
    delete_model(store, ME, run)
    assert list((home / "models").iterdir()) == []
    assert readable_run(store, ME, run).kept == ""


@pytest.mark.parametrize("owner", [ME, COMMAND_LINE, "api"])
def test_who_runs_the_app_deletes_anybodys_run(
    store: Store, engine: Engine, sets: Sets, home: Path, owner: str
) -> None:
    discard_run(store, engine, store.get(done(store, sets, home, owner, "theirs")))
    assert store.runs() == ()
    assert list((home / "models").iterdir()) == []


def test_what_no_run_names_goes_after_the_days_of_runs(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An app that ends between keeping a file and storing its run leaves the file alone."""
    monkeypatch.setenv("NLI_CLINIC_KEEP_DAYS", "2")
    file = pair_file(tmp_path / "in.csv", 3)
    source = open_source(file)
    request = ScoringRequest(guess(source.names, NLI))
    kept, young, old = (scoring_request(file, source, "m", NLI, request) for _ in range(3))
    store.create(ME, kept)
    folders = {each.plan["folder"]: file_folder(each.plan) for each in (kept, young, old)}
    for each in (kept, old):
        long_ago = time.time() - 3 * DAY
        os.utime(file_folder(each.plan), (long_ago, long_ago))
    remove_old_runs(store)
    assert [folder.is_dir() for folder in folders.values()] == [True, True, False]


def file_folder(plan: Json) -> Path:
    """Return where the file of a plan is kept."""
    return input_file(plan["folder"], plan["file"]).parents[1]
