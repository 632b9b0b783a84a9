"""A worker's models: loaded once for all runs, and only if they are those of the app."""

from pathlib import Path

import pytest

from probe.errors import ModelError
from probe.models.weights import model_hash
from probe.runs.models import load_unchanged


def test_a_model_is_loaded_once_for_the_runs_that_begin_with_it(model: str) -> None:
    expected = model_hash(Path(model))
    assert load_unchanged(model, expected) is load_unchanged(model, expected)


def test_a_model_that_is_not_the_app_s_is_refused(model: str) -> None:
    with pytest.raises(ModelError, match="is not the app's"):
        load_unchanged(model, "another hash")


def test_a_worker_without_the_model_says_what_it_needs(home: Path) -> None:
    with pytest.raises(ModelError, match=r"^the worker does not find the model 'mine': .*HOME"):
        load_unchanged("mine", "a hash")
