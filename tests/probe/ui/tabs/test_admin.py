"""Admin: there only with a password, each action asked for the token anew."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import pytest

from app import places
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.runs.store import Store
from probe.ui.page import Page
from probe.ui.server.passwords import AdminDoor, Door
from probe.ui.server.serving import launch_options, start
from probe.ui.tabs import admin
from probe.ui.tabs.admin import Handlers
from tests.support.coroutines import result_of
from tests.support.pages.built import alone
from tests.support.pages.visitors import ME, YOU

PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_ADMIN_PASSWORD", PASSWORD)
    monkeypatch.delenv("GRADIO_SERVER_PORT", raising=False)


@pytest.fixture
def handlers(home: Any) -> Iterator[Handlers]:
    """What the view does, on a page that is served."""
    made: list[Handlers] = []

    def build(page: Page) -> None:
        made.append(Handlers(page, AdminDoor(Door(0))))

    blocks = alone(build, Store())
    start(blocks, quiet=True)
    yield made[0]
    blocks.close(verbose=False)


@pytest.fixture
def run(handlers: Handlers, sets: Sets, model: str) -> str:
    """A run of a visitor, which no engine has taken up."""
    plan = Plan(model, "negation", (5,), (1e-4,), (0,))
    return handlers.page.core.store.create(ME, run_request(plan, sets, {})).id


def test_there_is_no_such_page_without_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [place.path for place in places()][-1] == "admin"
    monkeypatch.setenv("NLI_CLINIC_ADMIN_PASSWORD", "")
    assert "admin" not in [place.path for place in places()]


def test_it_shows_load_and_runs_and_no_owner_s_token(handlers: Handlers, run: str) -> None:
    shown = result_of(handlers.open(PASSWORD))
    load, runs, choices = (shown[part] for part in ("load", "runs", "run"))
    assert (bool(shown["token"]), shown["password"], shown["view"].visible) == (True, "", True)
    assert "pages remembered" in load
    assert "0 of 500" in load
    owner = sha256(ME.encode()).hexdigest()[:8]
    assert {run in runs, owner in runs} == {True}
    assert ME not in f"{load}{runs}{choices.choices}"
    assert choices.choices == [(f"{run} of {owner}", run)]


@pytest.mark.parametrize("token", ["", "0", "x" * 43])
def test_without_password_or_token_nothing_is_shown_cancelled_or_deleted(
    handlers: Handlers, run: str, token: str
) -> None:
    closed = "give the password"
    calls: list[tuple[str, Callable[[], dict[str, Any]]]] = [
        ("not the admin&#39;s password", lambda: result_of(handlers.open("wrong"))),
        (closed, lambda: handlers.refresh(token)),
        (closed, lambda: handlers.cancel(token, run)),
        (closed, lambda: handlers.delete(token, run)),
    ]
    for words, call in calls:
        shown = call()
        assert (words in shown["told"], shown["view"].visible) == (True, False)
        assert (shown.get("token", ""), run in str(shown)) == ("", False)
    kept = handlers.page.core.store.get(run)
    assert (kept.owner, kept.cancelling) == (ME, False)


def test_a_run_of_anybody_is_cancelled_and_deleted(handlers: Handlers, run: str) -> None:
    store, token = handlers.page.core.store, result_of(handlers.open(PASSWORD))["token"]
    assert f"Run {run} is being cancelled." in handlers.cancel(token, run)["told"]
    assert store.get(run).cancelling
    store.set_state(run, "failed", "for this test")
    shown = handlers.delete(token, run)
    assert f"Run {run} is deleted." in shown["told"]
    assert (shown["run"].choices, store.runs()) == ([], ())
    for wrong, words in (("", "choose a run"), (YOU, "there is no run")):
        shown = handlers.delete(token, wrong)
        assert (words in shown["told"], shown["view"].visible) == (True, True)


def test_no_event_of_the_page_is_an_endpoint() -> None:
    events = alone(admin.build).fns.values()
    assert {event.api_visibility for event in events} == {"private"}


def test_a_login_guards_the_page_where_one_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_LOGIN", "")
    assert launch_options()["auth"] is None
    monkeypatch.setenv("NLI_CLINIC_LOGIN", "ann:a")
    assert result_of(launch_options()["auth"]("ann", "a"))
