"""The Admin tab: there only with a password, each action asked for the token anew."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import gradio as gr
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
    """What the tab does, on a page that is served."""
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
    token, emptied, *shown = result_of(handlers.open(PASSWORD))
    assert (bool(token), emptied) == (True, "")
    _, view, load, runs, choices = shown
    assert view.visible
    assert "pages remembered" in load
    assert "0 of 500" in load
    assert run in runs
    owner = sha256(ME.encode()).hexdigest()[:8]
    assert owner in runs
    assert ME not in f"{load}{runs}{choices.choices}"
    assert choices.choices == [(f"{run} of {owner}", run)]


def test_a_wrong_password_shows_nothing(handlers: Handlers, run: str) -> None:
    token, _, told, view, *rest = result_of(handlers.open("wrong"))
    assert token == ""
    assert "this is not the admin&#39;s password" in told
    assert not view.visible
    assert rest == [gr.skip()] * 3


@pytest.mark.parametrize("token", ["", "0", "x" * 43])
def test_without_the_token_nothing_is_shown_cancelled_or_deleted(
    handlers: Handlers, run: str, token: str
) -> None:
    calls: list[Callable[[], list[Any]]] = [
        lambda: handlers.refresh(token),
        lambda: handlers.cancel(token, run),
        lambda: handlers.delete(token, run),
    ]
    for call in calls:
        told, view, *rest = call()
        assert "give the password" in told
        assert not view.visible
        assert run not in str(rest)
    kept = handlers.page.core.store.get(run)
    assert (kept.owner, kept.cancelling) == (ME, False)


def test_a_run_of_anybody_is_deleted(handlers: Handlers, run: str) -> None:
    store = handlers.page.core.store
    store.set_state(run, "failed", "for this test")
    token = result_of(handlers.open(PASSWORD))[0]
    told, *_, choices = handlers.delete(token, run)
    assert f"Run {run} is deleted." in told
    assert choices.choices == []
    assert store.runs() == ()


def test_a_run_of_anybody_is_cancelled(handlers: Handlers, run: str) -> None:
    token = result_of(handlers.open(PASSWORD))[0]
    assert f"Run {run} is being cancelled." in handlers.cancel(token, run)[0]
    assert handlers.page.core.store.get(run).cancelling


@pytest.mark.parametrize(("run_id", "sentence"), [("", "choose a run"), (YOU, "there is no run")])
def test_a_run_that_is_not_there_is_a_sentence(
    handlers: Handlers, run_id: str, sentence: str
) -> None:
    token = result_of(handlers.open(PASSWORD))[0]
    told, view, *_ = handlers.delete(token, run_id)
    assert sentence in told
    assert view.visible


def test_no_event_of_the_page_is_an_endpoint() -> None:
    events = alone(admin.build).fns.values()
    assert {event.api_visibility for event in events} == {"private"}


def test_a_login_guards_the_page_where_one_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_LOGIN", "")
    assert launch_options()["auth"] is None
    monkeypatch.setenv("NLI_CLINIC_LOGIN", "ann:a")
    assert result_of(launch_options()["auth"]("ann", "a"))
