"""A worker's models: loaded once for all runs, and only if they are those of the app."""

from pathlib import Path

import pytest

from finetune.hashes import model_hash
from finetune.worker import pristine
from probe.models.refusals import ModelError


def test_a_model_is_loaded_once_for_the_runs_that_begin_with_it(model: str) -> None:
    expected = model_hash(Path(model))
    assert pristine(model, expected) is pristine(model, expected)


def test_a_model_that_is_not_the_app_s_is_refused(model: str) -> None:
    with pytest.raises(ModelError, match="is not the app's"):
        pristine(model, "another hash")
