"""The check-up in its view of Measure: begun, found again, shown to others, deleted."""

from html import unescape
from pathlib import Path

import pytest

from probe.checkup.experiment import KIND
from probe.errors import FileError
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.ui.checkup.form import requests
from probe.ui.checkup.panel import view_of
from probe.ui.run_tab.shown import Looked, results
from probe.ui.run_tab.tab import Runs
from probe.ui.visitors.belongings import belongings, delete
from tests.support.pages.choices import chosen
from tests.support.pages.visitors import ME, YOU

VALUES = [*chosen([])[1:], 5]


@pytest.fixture
def runs(waiting_engine: tuple[Store, Engine], home: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """The runs of the view; all wait."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(home / "gradio"))
    return Runs([view_of()], *waiting_engine, path="measure")


def begin(runs: Runs, model: str = "da", owner: str = ME) -> str:
    (run,) = runs.start(owner, requests([model], *VALUES), keeps_models=False)
    return run.id


def test_a_press_begins_a_check_up_that_is_found_again(runs: Runs) -> None:
    assert "press Check up" in results(runs.views, [], Looked(ME, NLI))
    run = begin(runs)
    looked = runs.usual(Looked(ME, NLI), "checkup")
    assert looked.runs == (run,)
    rows = runs.rows(looked, runs.looked_at(looked))
    assert "Check-up of Decomposable Attention" in rows and "Waiting" in rows
    link = unescape(runs.link(looked))
    assert f"measure?view=checkup&task=nli&run={run}&grant=" in link
    assert runs.looked_at(Looked(YOU, NLI, (run,))) == []


def test_questions_about_passages_have_check_ups_too(runs: Runs) -> None:
    run = begin(runs, "bidaf")
    assert runs.usual(Looked(ME, READING), "checkup").runs == (run,)
    assert runs.usual(Looked(ME, NLI), "checkup").runs == ()


def test_it_keeps_no_model_so_that_no_place_for_one_is_needed(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_KEPT_MODELS", "1")
    assert {begin(runs, name) for name in ("da", "esim")} == {
        run.id for run in runs.store.runs(ME) if run.kind == KIND
    }


def test_mine_lists_it_and_removes_it(runs: Runs) -> None:
    runs.store.set_state(begin(runs), "cancelled")
    (mine,) = belongings(runs.store, ME)["runs"]
    assert mine.name == "Check-up of Decomposable Attention"
    delete(runs.store, runs.engine, ME, "runs", mine.id)
    assert not belongings(runs.store, ME)["runs"] and not runs.store.runs()


def test_one_pair_is_refused(runs: Runs) -> None:
    with pytest.raises(FileError, match="takes more than one pair"):
        requests(["da"], "one", *VALUES[1:])
