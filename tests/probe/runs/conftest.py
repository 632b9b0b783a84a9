"""Stores on each database, cells that are noted when they are computed, a plan of a second."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from finetune.trials.inoculation import Plan
from probe.runs.database import Base
from probe.runs.engine import Engine
from probe.runs.experiment import EXPERIMENTS, register
from probe.runs.store import Store
from tests.support.runs.logged_cells import LOGGED, Log

POSTGRES = os.environ.get("NLI_CLINIC_TEST_DATABASE")
"""The URL of an empty PostgreSQL."""


@pytest.fixture(params=["", *([POSTGRES] if POSTGRES else [])], ids=lambda url: url[:8] or "sqlite")
def each_database(
    request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """SQLite in the home, and PostgreSQL where there is one."""
    if request.param:
        monkeypatch.setenv("NLI_CLINIC_DATABASE", request.param)
    yield
    if request.param:
        Base.metadata.drop_all(create_engine(request.param))


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


@pytest.fixture
def plan(model: str) -> Plan:
    """A plan of three cells that takes a second."""
    return Plan(model, "negation", (6, 12), (1e-3,), (0,), batch=4, max_epochs=3, precision="fp32")
