"""A browser finds its own runs and the gallery's, and nobody else's."""

from dataclasses import replace
from pathlib import Path

import pytest

from finetune.plan import Plan
from finetune.runs import Store
from finetune.sets import Sets
from finetune.ui import shelf
from finetune.ui.looking import Looking, Shown, asked_for, first_look, of_plan, show
from tests.points import make_run

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
    mine, theirs = (store.create(owner, PLAN, sets, {}).id for owner in ("me", "you"))
    assert [run.id for run in shelf.own(store, "me", [mine, theirs])] == [mine]
    assert not shelf.own(store, "", [mine, theirs])


def test_a_link_to_somebody_elses_run_opens_nothing(store: Store, sets: Sets) -> None:
    theirs = store.create("you", PLAN, sets, {}).id
    assert asked_for(theirs, store, "me", GALLERY) is None


def test_a_link_opens_ones_own_run_and_the_gallerys(store: Store, sets: Sets) -> None:
    mine = store.create("me", PLAN, sets, {}).id
    found = asked_for(f"{mine},gallery-da-spelling", store, "me", GALLERY)
    assert found == Looking("me", [mine], ["da"], ["spelling"], "oracle_lr", mine)


def test_a_newcomer_begins_with_the_whole_gallery(store: Store) -> None:
    found = first_look(store, "me", GALLERY)
    assert len(found.runs(store, GALLERY)) == 4


def test_others_begin_with_their_newest_sweep(store: Store, sets: Sets) -> None:
    older = store.create("me", replace(PLAN, sizes=(10,)), sets, {})
    made = [store.create("me", replace(PLAN, model=name), sets, {}).id for name in ("da", "esim")]
    found = first_look(store, "me", GALLERY)
    assert sorted(found.ids) == sorted(made)
    assert older.id not in found.ids


def test_runs_of_the_same_settings_from_another_day_are_another_sweep() -> None:
    new, old = (
        replace(GALLERY[0], id=name, created=when) for name, when in (("b", 90e3), ("a", 0))
    )
    assert shelf.newest_sweep([new, old]) == ["b"]


def test_a_plan_finds_the_gallerys_runs_of_the_same_setting() -> None:
    assert of_plan(GALLERY, ["esim", "mine"], ["spelling"]) == (["esim"], ["spelling"])
    assert of_plan(GALLERY, ["mine"], ["spelling"]) is None


def test_what_was_shown_is_not_sent_again(store: Store) -> None:
    looking = first_look(store, "me", GALLERY)
    first = dict(zip(vars(Shown()), show(store, GALLERY, looking), strict=True))
    again = dict(zip(vars(Shown()), show(store, GALLERY, looking, first["seen"]), strict=True))
    assert isinstance(first["curves"], str) and not isinstance(again["curves"], str)


def test_nobody_is_asked_again_when_nothing_runs(store: Store, sets: Sets) -> None:
    looking = first_look(store, "me", GALLERY)
    timers = [show(store, GALLERY, looking)[5].active]
    store.create("me", PLAN, sets, {})
    timers.append(show(store, GALLERY, first_look(store, "me", GALLERY))[5].active)
    assert timers == [False, True]
