"""What the buttons of the Inoculate tab answer, also when the run database cannot be used."""

from dataclasses import replace
from pathlib import Path

import gradio as gr
import pytest

from finetune.report.inoculation import shown_runs
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from finetune.ui.inoculate.handlers import Handlers
from finetune.ui.inoculate.view import Outputs
from probe.runs.engine import Engine
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


def test_what_would_tell_is_offered_as_one_press_with_its_time(store: Store, home: Path) -> None:
    gallery = {run.id.removeprefix("gallery-"): run for run in shown_runs()}
    handlers = Handlers(store, Engine(store), tuple(gallery.values()))
    for name in ("da-length_mismatch", "da-word_overlap", "da-numerical"):
        assert handlers.telling.facts(ME, gallery[name]) is None, name
    spelling = gallery["esim-spelling"]
    told = handlers.telling.facts(ME, spelling)
    assert told and (told["sizes"], told["mode"]) == ("500", "full") and told["seconds"] > 0
    offered = handlers.telling.offer(ME, spelling, "oracle_lr")
    assert f'data-cell="{spelling.id}">train all weights on 500 examples</button> about' in offered
    looked = (ME, [], ["esim"], ["spelling"], "oracle_lr", spelling.id, "nli")
    refused, *_ = handlers.start_telling(gr.EventData(None, {"cell": "gone"}), *looked)
    assert "there is no run" in refused and not store.runs()


def test_a_run_of_somebody_else_starts_none(store: Store, home: Path) -> None:
    (spelling,) = [run for run in shown_runs() if run.id == "gallery-esim-spelling"]
    theirs = replace(spelling, owner="somebody else")
    handlers = Handlers(store, Engine(store), (theirs,))
    assert handlers.telling.offer(ME, theirs, "oracle_lr") == ""
