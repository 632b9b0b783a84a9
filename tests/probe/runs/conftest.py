"""Cells that are noted when they are computed, and an engine with one worker for them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from probe.runs.engine import Engine
from probe.runs.experiment import EXPERIMENTS, register
from probe.runs.store import Store
from tests.support.runs.logged_cells import LOGGED, Log


@pytest.fixture
def log(home: Path, monkeypatch: pytest.MonkeyPatch) -> Log:
    """Where cells are noted, in the folder of the store."""
    monkeypatch.setattr("probe.runs.experiment.EXPERIMENTS", dict(EXPERIMENTS))
    register(LOGGED)
    return Log(home)


@pytest.fixture
def one_worker(log: Log) -> Iterator[Engine]:
    """An engine with one worker."""
    engine = Engine(Store(), in_process=True)
    yield engine
    engine.close()
