"""What the buttons of the Inoculate tab answer when the run database cannot be used."""

from pathlib import Path

import pytest

from finetune.experiments.inoculation.datasets import Sets
from finetune.experiments.inoculation.plan import Plan
from finetune.experiments.inoculation.run import run_request
from finetune.ui.inoculate.handlers import Handlers
from finetune.ui.inoculate.view import Outputs
from probe.runs.compute.engine import Engine
from probe.runs.store import Store
from tests.support.pages.visitors import ME
from tests.support.processes.database_trouble import locked

PLAN = Plan("tiny", "negation", (6,), (1e-3,), (0,))
PLACES = list(vars(Outputs()))


@pytest.fixture
def store(home: Path) -> Store:
    """An empty store that does not wait long for a lock."""
    return Store(patience=0.05)


@pytest.mark.parametrize(
    ("button", "state"), [("cancel_runs", "queued"), ("reopen_runs", "cancelled")]
)
def test_a_button_that_cannot_be_noted_says_so_and_works_later(
    store: Store, sets: Sets, home: Path, button: str, state: str
) -> None:
    run = store.create(ME, run_request(PLAN, sets))
    if state == "cancelled":
        store.set_state(run.id, state)
    engine = Engine(store)
    press = getattr(Handlers(store, engine, ()), button)
    looked = (ME, [run.id], (), (), "oracle_lr", "")
    with locked(home):
        told = press(*looked)[PLACES.index("progress")].value
        assert "the run database is locked by another program" in told
        assert store.get(run.id).state == state
    title = press(*looked)[PLACES.index("ended")]
    assert "of 1 trainings" in title
    after = store.get(run.id)
    assert after.cancelling == (button == "cancel_runs")
    assert after.state in ("queued", "cancelled" if after.cancelling else "queued")
    engine.close()
