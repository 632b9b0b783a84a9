"""Shared fixtures: a tiny model, small sets, an empty home."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from finetune.trials.challenges import challenged
from finetune.trials.datasets import Sets
from finetune.trials.planning import register_experiments
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.runs import dispatch
from probe.runs.engine import Engine
from probe.runs.store import Store
from tests.conftest import free_port
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs

register_experiments()
torch.set_num_threads(1)  # a tiny model is slower on several


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the tiny model."""
    return str(tiny_bert(tmp_path_factory.mktemp("tiny")))


@pytest.fixture
def classifier(model: str) -> Classifier:
    """The tiny model, loaded anew for each test."""
    return load(model)


@pytest.fixture(scope="session")
def sets() -> Sets:
    """Sets of the negation challenge: 12 dev, 12 test and 30 training pairs."""
    pairs = tiny_pairs(30)
    return Sets(
        pairs[:12],
        pairs[12:24],
        challenged("negation", pairs),
        challenged("negation", pairs[12:24]),
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home for runs and models."""
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path))
    monkeypatch.delenv("NLI_CLINIC_DATABASE", raising=False)
    return tmp_path


@pytest.fixture
def waiting_engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Store, Engine]]:
    """A store, and an engine whose cluster does not answer, which it learns soon: all runs wait."""
    monkeypatch.setattr(dispatch, "CONNECT_SECONDS", 0.1)
    store = Store(patience=0.5)
    engine = Engine(store, f"tcp://127.0.0.1:{free_port()}")
    yield store, engine
    engine.close()
