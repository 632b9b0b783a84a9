"""How many runs a visitor may start with the page's button, each limit exceeded by one."""

from pathlib import Path

import pytest

from finetune.ui.inoculate.handlers import Handlers
from probe.runs.access import delete_model
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.ui.html.elements import NOTHING
from probe.ui.visitors.visitor_files import fresh_folder
from tests.support.pages.visitors import ME, YOU
from tests.support.runs.forms import inoculate_values


@pytest.fixture
def handlers(waiting_engine: tuple[Store, Engine]) -> Handlers:
    """The page's handlers; all runs wait."""
    return Handlers(*waiting_engine, ())


def press_start(handlers: Handlers, owner: str = ME, seeds: str = "0") -> str:
    """Start a run of one fine-tune a seed, and the model as it is; return the alert."""
    plan = {"sizes": ["5"], "lrs": "usual", "seeds": seeds, "max_epochs": 1, "patience": 1}
    values = inoculate_values(models=["da"], **plan)
    return str(handlers.start_runs(owner, "nli", *values)[0])


def test_a_start_that_is_pressed_again_starts_nothing_more(handlers: Handlers) -> None:
    assert [press_start(handlers) for _ in range(3)] == [NOTHING] * 3
    (first,) = handlers.store.runs(ME)
    assert [press_start(handlers, seeds="1"), press_start(handlers, YOU)] == [NOTHING] * 2
    assert (len(handlers.store.runs(ME)), len(handlers.store.runs(YOU))) == (2, 1)
    handlers.store.request_cancel(first.id)
    assert press_start(handlers) == NOTHING
    assert len(handlers.store.runs(ME)) == 3


def test_a_run_may_have_so_many_cells(handlers: Handlers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_CELLS", "2")
    assert press_start(handlers) == NOTHING
    assert "a run of 3 cells is more than 2; choose fewer" in press_start(handlers, seeds="0,1")
    assert len(handlers.store.runs()) == 1


def test_a_visitor_has_so_many_runs_at_a_time(
    handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_OPEN_RUNS", "2")
    assert [press_start(handlers, seeds=seed) for seed in "01"] == [NOTHING, NOTHING]
    assert "3 of your runs would be going at once, more than 2" in press_start(handlers, seeds="2")
    assert press_start(handlers, YOU) == NOTHING
    handlers.store.set_state(handlers.store.runs(ME)[0].id, "done")
    assert press_start(handlers, seeds="2") == NOTHING


def test_a_visitor_starts_so_many_runs_a_day(
    handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_RUNS_A_DAY", "2")
    for _ in range(2):
        assert press_start(handlers) == NOTHING
        handlers.store.set_state(handlers.store.runs(ME)[0].id, "done")
    assert "3 runs in 24 hours would be more than 2" in press_start(handlers)
    assert press_start(handlers, YOU) == NOTHING


def test_all_visitors_together_have_so_many_runs_at_a_time(
    handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_ALL_OPEN_RUNS", "2")
    assert [press_start(handlers, owner) for owner in (ME, YOU)] == [NOTHING, NOTHING]
    assert "3 runs of all visitors would be going at once" in press_start(handlers, "c" * 32)
    assert len(handlers.store.runs()) == 2


def test_a_visitor_keeps_so_many_models(
    handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_KEPT_MODELS", "2")
    assert [press_start(handlers, seeds=seed) for seed in "01"] == [NOTHING, NOTHING]
    for run in handlers.store.runs(ME):
        handlers.store.set_kept(run.id, f"model-{run.id}")
        handlers.store.set_state(run.id, "done")
    assert "3 models of yours would be kept, more than 2" in press_start(handlers)
    assert press_start(handlers, YOU) == NOTHING
    delete_model(handlers.store, ME, handlers.store.runs(ME)[0].id)
    assert press_start(handlers) == NOTHING


def test_a_visitor_stores_so_many_megabytes_of_files_and_models(
    handlers: Handlers, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(home / "gradio"))
    monkeypatch.setenv("NLI_CLINIC_MAX_STORED_MB", "1")
    assert press_start(handlers) == NOTHING
    handlers.store.set_kept(handlers.store.runs(ME)[0].id, "model")
    (home / "models" / "model").mkdir(parents=True)
    (home / "models" / "model" / "weights").write_bytes(bytes(600_000))
    assert press_start(handlers) == NOTHING
    (fresh_folder(ME) / "scored.csv").write_bytes(bytes(600_000))
    assert "your files and models would take 2 megabytes, more than 1" in press_start(handlers)
    assert press_start(handlers, YOU) == NOTHING


def test_a_page_that_does_not_know_its_browser_starts_nothing(handlers: Handlers) -> None:
    for nobody in ("", "api", "command line"):
        assert "does not know your browser yet; load it again" in press_start(handlers, nobody)
    assert handlers.store.runs() == ()
