"""`python -m finetune share`."""

from pathlib import Path

import pytest
from safetensors.torch import load_file
from typer.testing import CliRunner, Result

from finetune.cli.main import app
from probe.models.library import load
from probe.models.weights import WHOLE, write_weights
from probe.tasks.nli import Pair
from tests.support.models.tiny_bert import tiny_bert

WEIGHT = "bert.embeddings.word_embeddings.weight"
PAIRS = [Pair("A man walks.", "He moves.")]


def share(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["share", *map(str, words), "--embeddings", "tiny.safetensors"])


@pytest.fixture
def models(home: Path) -> Path:
    """A home with two models of the same word embeddings, and these in a file."""
    folder = home / "models"
    weights = load_file(tiny_bert(folder / "mine") / WHOLE)
    tiny_bert(folder / "other")
    (folder / "word_embeddings").mkdir()
    write_weights({WEIGHT: weights[WEIGHT]}, folder / "word_embeddings" / "tiny.safetensors")
    return folder


def test_models_named_or_by_folder_share_and_answer_alike(models: Path) -> None:
    before = load("mine").predict(PAIRS)[0].probabilities
    result = share("mine", models / "other")
    assert result.exit_code == 0, result.output
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == [
        "mine shares tiny.safetensors",
        "other shares tiny.safetensors",
    ]
    assert not list(models.glob(f"*/{WHOLE}"))
    for name in ("mine", "other"):
        answer = load(name).predict(PAIRS)[0].probabilities
        assert answer == pytest.approx(before, abs=1e-6)


def test_a_model_that_is_not_there_is_one_sentence(models: Path) -> None:
    result = share("absent")
    assert result.exit_code == 2
    assert result.stderr == "error: there is no model or folder called 'absent'\n"
