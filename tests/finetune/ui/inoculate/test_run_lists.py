"""A browser finds its own runs and the gallery's, and nobody else's."""

from dataclasses import replace
from pathlib import Path

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from finetune.ui.inoculate import run_lists
from finetune.ui.inoculate.start import start_sweep
from finetune.ui.inoculate.view import (
    ViewState,
    gallery_choice,
    initial_state,
    linked_state,
    show,
)
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.points import make_run

PLAN = Plan("minilm", "negation", (5,), (2e-5,), (0,))
GALLERY = [
    make_run([], model, challenge, f"gallery-{model}-{challenge}", "gallery")
    for model in ("da", "esim")
    for challenge in ("negation", "spelling")
]


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


def test_two_browsers_see_only_their_own_runs(store: Store, sets: Sets) -> None:
    mine, theirs = (store.create(owner, run_request(PLAN, sets)).id for owner in (ME, YOU))
    assert [run.id for run in run_lists.chosen_runs(store, ME, [mine, theirs])] == [mine]
    assert not run_lists.chosen_runs(store, "", [mine, theirs])


def test_a_link_to_somebody_elses_run_opens_nothing(store: Store, sets: Sets) -> None:
    theirs = store.create(YOU, run_request(PLAN, sets)).id
    assert linked_state(theirs, store, ME, GALLERY) is None


def test_a_link_opens_ones_own_run_and_the_gallerys(store: Store, sets: Sets) -> None:
    mine = store.create(ME, run_request(PLAN, sets)).id
    found = linked_state(f"{mine},gallery-da-spelling", store, ME, GALLERY)
    assert found == ViewState(ME, [mine], ["da"], ["spelling"], "oracle_lr", mine)


def test_a_newcomer_begins_with_a_model_of_the_gallery_on_every_challenge(store: Store) -> None:
    found = initial_state(store, ME, GALLERY)
    assert [run.id for run in found.runs(store, GALLERY)] == [
        "gallery-da-negation", "gallery-da-spelling"
    ]  # fmt: skip


def test_of_the_gallery_the_apps_own_model_comes_first() -> None:
    runs = [*GALLERY, make_run([], "minilm", "negation", "gallery-minilm-negation", "gallery")]
    assert run_lists.first_model(runs) == ["minilm"] and run_lists.first_model([]) == []


def test_a_task_has_its_own_runs(store: Store) -> None:
    asked = replace(PLAN, model="mine", task="paraphrase")
    other = replace(make_run([], run_id="other"), plan=asked)
    assert run_lists.of_task([*GALLERY, other], PARAPHRASE_IDENTIFICATION) == [other]
    assert run_lists.of_task([*GALLERY, other], NLI) == GALLERY
    assert not initial_state(store, ME, GALLERY, "paraphrase").runs(store, GALLERY)


def test_others_begin_with_their_newest_sweep(
    store: Store, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "submit", lambda *_: None)
    engine = Engine(store)
    plans = [
        replace(PLAN, model=name, lrs=(rate,)) for name, rate in (("da", 1e-3), ("tiny", 1e-4))
    ]
    older = start_sweep(store, engine, ME, [(plan, sets) for plan in plans], {})
    for run in older:
        store.set_state(run.id, "done")
    newer = start_sweep(store, engine, ME, [(plan, sets) for plan in plans], {})
    found = initial_state(store, ME, GALLERY)
    assert sorted(found.ids) == sorted(run.id for run in newer)
    assert not set(found.ids) & {run.id for run in older}


def test_a_run_that_was_started_alone_is_a_sweep_of_its_own(store: Store, sets: Sets) -> None:
    store.create(ME, run_request(PLAN, sets))
    newest = store.create(ME, run_request(PLAN, sets))
    assert run_lists.newest_sweep(run_lists.own_runs(store, ME)) == [newest.id]


def test_a_plan_finds_the_gallerys_runs_of_the_same_setting() -> None:
    assert gallery_choice(GALLERY, ["esim", "mine"], ["spelling"]) == (["esim"], ["spelling"])
    assert gallery_choice(GALLERY, ["mine"], ["spelling"]) is None


def test_what_was_shown_is_not_sent_again(store: Store) -> None:
    looking = initial_state(store, ME, GALLERY)
    first = show(store, GALLERY, looking)
    again = show(store, GALLERY, looking, first.seen)
    assert isinstance(first.curves, str) and not isinstance(again.curves, str)


def test_nobody_is_asked_again_when_nothing_runs(store: Store, sets: Sets) -> None:
    looking = initial_state(store, ME, GALLERY)
    timers = [show(store, GALLERY, looking).timer.active]
    store.create(ME, run_request(PLAN, sets))
    timers.append(show(store, GALLERY, initial_state(store, ME, GALLERY)).timer.active)
    assert timers == [False, True]
