"""What the endpoints over HTTP that start a run have in common."""

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.errors import LimitError, ModelError
from probe.runs.access import as_token
from probe.runs.engine import Engine
from probe.runs.run import RunRequest
from probe.runs.store import Store
from probe.ui.run_tab.api import start_for_owner
from tests.support.pages.visitors import ME

PLAN = Plan("minilm", "negation", (6,), (1e-3,), (0,))


@pytest.fixture
def engine(waiting_engine: tuple[Store, Engine]) -> Engine:
    """An engine that lets all runs wait."""
    return waiting_engine[1]


@pytest.mark.parametrize("owner", [ME, ""])
def test_a_run_belongs_to_its_owner_or_to_a_new_one(engine: Engine, sets: Sets, owner: str) -> None:
    store = Store()
    started = start_for_owner(store, engine, owner, "minilm", lambda: run_request(PLAN, sets))
    assert as_token(started["owner"]) and started["owner"] == (owner or started["owner"])
    assert [run.id for run in store.runs(started["owner"])] == [started["run"]]


def test_nothing_is_made_for_a_model_that_is_not_there(engine: Engine) -> None:
    def request() -> RunRequest:
        raise AssertionError("a request was made")

    with pytest.raises(ModelError, match="no-such-model"):
        start_for_owner(Store(), engine, ME, "no-such-model", request)


def test_a_visitor_keeps_no_more_models_than_the_setting_says(
    engine: Engine, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_KEPT_MODELS", "1")
    store = Store()
    start_for_owner(store, engine, ME, "minilm", lambda: run_request(PLAN, sets))
    with pytest.raises(LimitError, match="1"):
        start_for_owner(store, engine, ME, "minilm", lambda: run_request(PLAN, sets))
    assert len(store.runs(ME)) == 1
