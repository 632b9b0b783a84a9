"""How many runs a visitor may start with the page's button, each limit exceeded by one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from finetune.experiments.inoculation.plan import THRESHOLDS
from finetune.ui.handlers import Handlers
from finetune.ui.plan_form import FILE_COUNT, LIMIT_FIELDS
from probe.runs.compute.engine import Engine
from probe.runs.store import Store
from probe.ui.html.elements import NOTHING
from tests.conftest import free_port
from tests.support.visitors import ME, YOU


@pytest.fixture
def handlers(home: Path) -> Iterator[Handlers]:
    """The page's handlers, with an engine whose cluster does not answer: all runs wait."""
    store = Store()
    engine = Engine(store, f"tcp://127.0.0.1:{free_port()}")
    yield Handlers(store, engine, ())
    engine.close()


def press_start(handlers: Handlers, owner: str = ME, seeds: str = "0") -> str:
    """Start a run of one fine-tune a seed, and the model as it is; return the alert."""
    plan = (["da"], ["negation"], "5", "usual", seeds, "fast", 1, 1, None, False)
    limits = [scale * getattr(THRESHOLDS, name) for name, (_, scale) in LIMIT_FIELDS.items()]
    files = [None] * FILE_COUNT
    return str(handlers.start_runs(owner, *plan, *limits, *files, "", 100)[0])


def test_a_run_may_have_so_many_cells(handlers: Handlers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_CELLS", "2")
    assert press_start(handlers) == NOTHING
    assert "a run of 3 cells is more than 2; choose fewer" in press_start(handlers, seeds="0,1")
    assert len(handlers.store.runs()) == 1


def test_a_visitor_has_so_many_runs_at_a_time(
    handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_OPEN_RUNS", "2")
    assert [press_start(handlers) for _ in range(2)] == [NOTHING, NOTHING]
    assert "3 of your runs would be going at once, more than 2" in press_start(handlers)
    assert press_start(handlers, YOU) == NOTHING
    handlers.store.set_state(handlers.store.runs(ME)[0].id, "done")
    assert press_start(handlers) == NOTHING


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
