"""Runs and models are their owner's and theirs who hold a living link; for others they are not.

They go when their owner deletes them, and when they have been kept long enough.
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import KIND, Plan, run_request
from probe.data.rows import guess
from probe.data.source import open_source
from probe.errors import ModelError, UnknownRun
from probe.models.library import ModelCache, entries
from probe.runs.access import (
    COMMAND_LINE,
    DAY,
    ModelAccess,
    browser_secret,
    chosen_runs,
    delete_model,
    delete_run,
    discard_run,
    grants,
    new_owner,
    own_run,
    readable_run,
    readable_runs,
    redeem,
    remove_old_runs,
    revoke,
    share,
    start_runs,
)
from probe.runs.database import RunRow
from probe.runs.engine import Engine
from probe.runs.run import ended
from probe.runs.store import Store
from probe.scoring.files import ScoringRequest, input_file, scoring_request
from probe.tasks.nli import LABELS, NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from tests.support.files.scoring_files import pair_file
from tests.support.models.tiny_bert import tiny_bert
from tests.support.pages.visitors import ME, YOU
from tests.support.waiting import until

PLAN = Plan("tiny", "negation", (5,), (2e-5,), (0,))
NAMED = ("", "api", COMMAND_LINE, "gallery")
"""Owners that nobody is by saying so."""


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


@pytest.fixture
def models(store: Store) -> ModelAccess:
    return ModelAccess(ModelCache(), store)


def test_a_run_is_told_how_long_it_takes_once_that_is_measured(
    waiting_engine: tuple[Store, Engine], sets: Sets
) -> None:
    store, engine = waiting_engine

    def unknown() -> float:
        raise ModelError("no such weights")

    for seconds, kept in ((lambda: 12.34, 12.3), (unknown, None)):
        asked = replace(run_request(PLAN, sets), seconds=seconds)
        (run,) = start_runs(store, engine, new_owner(), [asked])
        assert run.artefacts["seconds"] == 0
        store.add_artefacts(run.id, {"model": "its hash"})
        told = until(store, run.id, lambda run: run.artefacts.get("seconds") != 0).artefacts
        assert (told.get("seconds"), told["model"]) == (kept, "its hash")


def made(store: Store, sets: Sets, owner: str, model: str = "", task: Task = NLI) -> str:
    """Store a run that is done, with a model where one is named; return its id."""
    run = store.create(owner, run_request(PLAN, sets)).id
    store.set_state(run, "done")
    if model:
        store.set_kept(run, model)
        tiny_bert(Path(os.environ["NLI_CLINIC_HOME"]) / "models" / model, task)
    return run


def sentence(ask: Callable[..., object], *arguments: object) -> str:
    """Return what somebody is told who asks for what is not there for them."""
    with pytest.raises((UnknownRun, ModelError)) as told:
        ask(*arguments)
    return str(told.value)


def test_a_run_is_its_owner_s_alone(store: Store, sets: Sets) -> None:
    mine, engine = made(store, sets, ME), Engine(store, in_process=True)
    assert own_run(store, ME, mine).id == readable_run(store, ME, mine).id == mine
    assert [run.id for run in readable_runs(store, ME, KIND)] == [mine]
    assert [run.id for run in chosen_runs(store, ME, ["gone", mine, mine])] == [mine]
    asked: list[tuple[Callable[..., object], str]] = [
        (ask, who) for ask in (own_run, readable_run, share, delete_model) for who in NAMED
    ]
    for ask, stranger in [*asked, *((own_run, who) for who in (YOU, ME[:-1], ME.upper()))]:
        assert sentence(ask, store, stranger, mine) == f"there is no run {mine!r}", (ask, stranger)
    for stranger in (YOU, *NAMED):
        assert sentence(delete_run, store, engine, stranger, mine) == f"there is no run {mine!r}"
        assert readable_runs(store, stranger, KIND) == ()
        assert chosen_runs(store, stranger, [mine]) == []
    for name in NAMED:
        theirs = made(store, sets, name)
        assert sentence(readable_run, store, name, theirs) == f"there is no run {theirs!r}"
        assert readable_runs(store, name, KIND) == ()


def test_a_link_lets_others_read_and_nothing_else_until_it_is_taken_back(
    store: Store, models: ModelAccess, sets: Sets
) -> None:
    mine, no_link = made(store, sets, ME, "mine"), "there is no run behind this link"
    grant = share(store, ME, mine)
    assert share(store, ME, mine) == models.share(ME, "mine") == grant
    assert models.share(YOU, "mine") == ""
    for visitor in (YOU, YOU, new_owner(), ME):
        assert redeem(store, visitor, grant) == mine
    for nobody in NAMED:
        assert sentence(redeem, store, nobody, grant) == no_link
    assert [(given.id, given.run, given.holders) for given in grants(store, ME)] == [
        (grant, mine, 2)
    ]
    assert [run.id for run in readable_runs(store, YOU, KIND)] == [mine]
    assert readable_run(store, YOU, mine).id == mine and models.get(YOU, "mine").name == "mine"
    for ask in (own_run, share, delete_model):
        assert sentence(ask, store, YOU, mine) == f"there is no run {mine!r}"
    assert sentence(revoke, store, YOU, grant) == sentence(revoke, store, ME, "never-given")
    assert readable_run(store, YOU, mine).id == mine
    revoke(store, ME, grant)
    assert grants(store, ME) == ()
    assert sentence(readable_run, store, YOU, mine) == f"there is no run {mine!r}"
    assert "there is no model called 'mine' here" in sentence(models.get, YOU, "mine")
    assert sentence(redeem, store, YOU, grant) == no_link
    assert share(store, ME, mine) != grant


def test_the_model_of_a_visitor_s_run_is_not_there_for_others(
    models: ModelAccess, sets: Sets, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(models.store, sets, ME, "mine")
    made(models.store, sets, "api", "of-http")
    for stranger in (YOU, *NAMED):
        for name in {"mine", "of-http"}:
            assert name not in models.names(stranger)
            for ask in (models.get, models.open):
                told = sentence(ask, stranger, name)
                assert told == sentence(ask, stranger, "gone").replace("gone", name), stranger
    assert "mine" in models.names(ME) and models.get(ME, "mine").name == "mine"
    ordered = models.open(ME, "mine", LABELS).model.name
    assert models.get(ME, ordered).order == LABELS
    folder = home / "models" / "mine"
    for way_around in (str(folder), str(home / "models" / "x" / ".." / "mine")):
        assert "no model called 'mine' here" in sentence(models.open, YOU, way_around)
    assert "no model called 'mine' here" in sentence(models.get, YOU, ordered)
    assert models.open(ME, str(folder)).model.name == "mine"
    made(models.store, sets, COMMAND_LINE, "theirs")
    tiny_bert(home / "models" / "copied")
    bundled = {one.name for one in entries() if one.source == "bundled" and one.task is NLI}
    for visitor in (ME, YOU, ""):  # what is bundled or of the machine's owner is everyone's
        assert {"theirs", "copied", *bundled} <= set(models.names(visitor))
        for name in ("theirs", "copied", "da"):
            models.require(visitor, name)
    monkeypatch.setenv("NLI_CLINIC_OWN_MODELS", "")
    told = sentence(models.open, YOU, "mine")
    assert told == sentence(models.open, YOU, "gone").replace("gone", "mine")
    assert models.open(ME, "mine").model.name == "mine"


def test_a_model_is_offered_and_asked_for_its_own_task_alone(
    models: ModelAccess, sets: Sets, home: Path
) -> None:
    made(models.store, sets, ME, "moods", SENTIMENT)
    assert "moods" in models.names(ME, SENTIMENT) and "moods" not in models.names(ME)
    assert "minilm" not in models.names(ME, SENTIMENT)
    assert models.get(ME, "moods", SENTIMENT).task is SENTIMENT
    known = {"moods": SENTIMENT, "minilm_qqp": PARAPHRASE_IDENTIFICATION, "minilm_reader": READING}
    assert {name: models.task(ME, name) for name in known} == known
    assert [models.task(YOU, name) for name in ("moods", "gone", "")] == [NLI] * 3
    for ask, name in ((models.get, "moods"), (models.open, str(home / "models" / "moods"))):
        assert sentence(ask, ME, name) == (
            "moods answers another task, sentiment classification, and this is natural language "
            "inference; choose its task, or a model of this one"
        )


def test_a_deleted_run_is_gone_with_its_cells_its_model_and_its_links(
    store: Store, models: ModelAccess, sets: Sets, home: Path
) -> None:
    engine = Engine(store, in_process=True)
    run = made(store, sets, ME, "mine")
    redeem(store, YOU, share(store, ME, run))
    delete_run(store, engine, ME, run)
    for visitor in (ME, YOU):
        assert sentence(readable_run, store, visitor, run) == f"there is no run {run!r}"
        assert "mine" not in models.names(visitor)
    for owner in (ME, COMMAND_LINE, "api"):
        discard_run(store, engine, store.get(made(store, sets, owner, "theirs")))
    assert grants(store, ME) == store.runs() == ()
    assert list((home / "models").iterdir()) == []
    going = store.create(ME, run_request(PLAN, sets)).id
    delete_run(store, engine, ME, going)  # nobody's at once, removed when it has ended
    assert sentence(readable_run, store, ME, going) == f"there is no run {going!r}"
    until(store, going, ended)
    engine.close()
    remove_old_runs(store)
    assert store.runs() == ()
    run = made(store, sets, ME, "mine")
    delete_model(store, ME, run)
    assert (readable_run(store, ME, run).kept, [*(home / "models").iterdir()]) == ("", [])


def test_visitors_runs_go_after_their_days_and_those_of_the_command_line_stay(
    store: Store, sets: Sets, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = pair_file(tmp_path / "in.csv", 3)
    source = open_source(file)
    request = ScoringRequest(guess(source.names, NLI))
    kept, fresh, orphan = (scoring_request(file, source, "m", NLI, request) for _ in range(3))
    going = [store.create(ME, kept).id, store.create(ME, run_request(PLAN, sets)).id]
    places = [
        input_file(r.plan["folder"], r.plan["file"]).parents[1] for r in (kept, fresh, orphan)
    ]
    for place in (places[0], places[2]):
        os.utime(place, (time.time() - 3 * DAY,) * 2)
    old, young, ours = (
        made(store, sets, owner, name)
        for owner, name in ((ME, "old"), (ME, "young"), (COMMAND_LINE, "ours"))
    )
    for run, days in {old: 3, ours: 3, young: 1}.items():
        then = update(RunRow).where(RunRow.id == run).values(finished=time.time() - days * DAY)
        store.database.write(then)
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "no")  # where nothing says how long, all stay
    remove_old_runs(store)
    assert {run.id for run in store.runs()} == {old, young, ours, *going}
    monkeypatch.setenv("NLI_CLINIC_KEEP_DAYS", "2")
    remove_old_runs(store)
    assert {run.id for run in store.runs()} == {young, ours, *going}
    assert sorted(path.name for path in (home / "models").iterdir()) == ["ours", "young"]
    # an app that ends between keeping a file and storing its run leaves the file alone
    assert [place.is_dir() for place in places] == [True, True, False]


def test_apps_that_start_at_once_have_one_key_which_nobody_else_reads(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    for disk in ("usual", "without second names of files"):
        with ThreadPoolExecutor(1 if disk != "usual" else 16) as pool:
            keys = set(pool.map(lambda _: browser_secret(), range(16)))
        assert keys == {browser_secret()} and len(browser_secret()) == 64, disk
        assert [path.name for path in home.iterdir()] == ["browser-secret"]
        assert (home / "browser-secret").stat().st_mode & 0o077 == 0
        (home / "browser-secret").unlink()
        monkeypatch.setattr("os.link", refuse)
