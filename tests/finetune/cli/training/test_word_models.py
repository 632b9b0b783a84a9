"""`python -m finetune words`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from finetune.cli.main import app
from probe.models.library import load
from probe.tasks.nli import LABELS
from tests.support.models.tiny_bert import tiny_pairs

PAIRS = tiny_pairs(120)


@pytest.fixture
def train_file(tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    rows = [
        {"premise": f"{pair.premise} {row}", "hypothesis": pair.hypothesis, "label": pair.gold}
        for row, pair in enumerate(PAIRS)  # premises differ, so that some are held out
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def call(*words: object) -> Result:
    return CliRunner().invoke(app, ["words", *map(str, words)])


def test_a_word_model_is_trained_and_trained_on(train_file: Path, tmp_path: Path) -> None:
    common = ("--model", "da", "--train", train_file, "--epochs", 1)
    first = call(*common, "--out", tmp_path / "first", "--dev", train_file, "--batch", 32)
    assert first.exit_code == 0, first.output
    start, epoch, dev = first.output.splitlines()
    assert start.startswith(f"{len(PAIRS)} pairs, ")
    assert start.endswith("batches of 32, lr 0.01, at most 1 epochs")
    assert epoch.startswith("epoch 1  loss ")
    assert dev.startswith("train 0.")
    assert load(str(tmp_path / "first")).order == LABELS
    more = ("--more", tmp_path / "first", "--fall", "--lr", 0.02)
    second = call(*common, "--out", tmp_path / "second", *more)
    assert "lr 0.02, at most 1 epochs" in second.output
    assert "epoch 2  loss " in second.output


def test_an_unknown_preset_is_named_with_those_there_are(train_file: Path, tmp_path: Path) -> None:
    unknown = ("--model", "esim", "--preset", "mine", "--train", train_file)
    result = call(*unknown, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "there is no 'esim' with 'mine'; there are: da (allennlp, paper), " in result.output
