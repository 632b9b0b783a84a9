"""A run is its owner's and theirs who hold a living link; for all others it does not exist."""

from collections.abc import Callable
from pathlib import Path

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import KIND, Plan, run_request
from probe.errors import UnknownRun
from probe.runs.access import (
    COMMAND_LINE,
    chosen_runs,
    grants,
    new_owner,
    own_run,
    readable_run,
    readable_runs,
    redeem,
    revoke,
    share,
)
from probe.runs.store import Store
from tests.support.pages.visitors import ME, YOU

PLAN = Plan("minilm", "negation", (5,), (2e-5,), (0,))


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


@pytest.fixture
def mine(store: Store, sets: Sets) -> str:
    """The id of a run of ME."""
    return store.create(ME, run_request(PLAN, sets)).id


def sentence(ask: Callable[[], object]) -> str:
    """Return what somebody is told who asks for a run that is not there for them."""
    with pytest.raises(UnknownRun) as told:
        ask()
    return str(told.value)


def test_an_owner_reads_and_lists_a_run_of_their_own(store: Store, mine: str) -> None:
    assert own_run(store, ME, mine).id == readable_run(store, ME, mine).id == mine
    assert [run.id for run in readable_runs(store, ME, KIND)] == [mine]
    assert [run.id for run in chosen_runs(store, ME, ["gone", mine, mine])] == [mine]


@pytest.mark.parametrize("stranger", [YOU, "", "api", COMMAND_LINE, ME[:-1], ME.upper()])
def test_for_a_stranger_a_run_is_as_one_that_does_not_exist(
    store: Store, mine: str, stranger: str
) -> None:
    for ask in (own_run, readable_run, share):
        told = sentence(lambda ask=ask: ask(store, stranger, mine))  # type: ignore[misc]  # mypy reads no default of a lambda
        assert told == sentence(lambda: store.get("gone")).replace("gone", mine)
    assert readable_runs(store, stranger, KIND) == ()
    assert chosen_runs(store, stranger, [mine]) == []


@pytest.mark.parametrize("name", ["api", COMMAND_LINE, "gallery", ""])
def test_nobody_is_an_owner_with_a_name_by_saying_so(store: Store, sets: Sets, name: str) -> None:
    run = store.create(name, run_request(PLAN, sets)).id
    assert sentence(lambda: readable_run(store, name, run)) == f"there is no run {run!r}"
    assert readable_runs(store, name, KIND) == ()


def test_a_link_lets_others_read_and_nothing_else(store: Store, mine: str) -> None:
    grant = share(store, ME, mine)
    assert redeem(store, YOU, grant) == mine
    assert readable_run(store, YOU, mine).id == mine
    assert [run.id for run in readable_runs(store, YOU, KIND)] == [mine]
    for ask in (own_run, share):
        assert sentence(lambda ask=ask: ask(store, YOU, mine)) == f"there is no run {mine!r}"  # type: ignore[misc]  # as above


def test_a_run_has_one_link_that_says_how_many_opened_it(store: Store, mine: str) -> None:
    grant = share(store, ME, mine)
    assert share(store, ME, mine) == grant
    for visitor in (YOU, YOU, new_owner(), ME):
        redeem(store, visitor, grant)
    assert [(given.id, given.run, given.holders) for given in grants(store, ME)] == [
        (grant, mine, 2)
    ]


def test_a_link_that_is_taken_back_opens_nothing_any_more(store: Store, mine: str) -> None:
    grant = share(store, ME, mine)
    redeem(store, YOU, grant)
    revoke(store, ME, grant)
    assert grants(store, ME) == ()
    assert sentence(lambda: readable_run(store, YOU, mine)) == f"there is no run {mine!r}"
    unknown = sentence(lambda: redeem(store, YOU, "never-given"))
    assert sentence(lambda: redeem(store, YOU, grant)) == unknown
    assert share(store, ME, mine) != grant


def test_only_who_gave_a_link_takes_it_back(store: Store, mine: str) -> None:
    grant = share(store, ME, mine)
    redeem(store, YOU, grant)
    unknown = sentence(lambda: revoke(store, YOU, "never-given"))
    assert sentence(lambda: revoke(store, YOU, grant)) == unknown
    assert readable_run(store, YOU, mine).id == mine


@pytest.mark.parametrize("nobody", ["", "api", COMMAND_LINE])
def test_a_link_is_opened_by_a_browser_with_a_token_alone(
    store: Store, mine: str, nobody: str
) -> None:
    grant = share(store, ME, mine)
    assert sentence(lambda: redeem(store, nobody, grant)) == "there is no run behind this link"
