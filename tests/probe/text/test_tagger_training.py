"""Training of the tagger: what it learns, what it writes, and its command."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probe.cli.resources.tagger import app
from probe.text import tagger_training
from probe.text.tagger import WEIGHTS_FILE, load, read_line, tags
from probe.text.tagger_training import accuracy, save, train
from tests.support.global_state import leaves_global_chance_alone

LINES = [
    "The_DT dog_NN barks_VBZ ._.",
    "The_DT dogs_NNS bark_VBP ._.",
    "A_DT cat_NN sleeps_VBZ here_RB ._.",
    "The_DT cats_NNS sleep_VBP here_RB ._.",
    "He_PRP likes_VBZ the_DT bark_NN ._.",
] * 4


def test_a_form_is_disambiguated_by_the_words_around_it() -> None:
    model = train([read_line(line) for line in LINES])
    assert tags(["The", "cats", "bark", "."], model) == ["DT", "NNS", "VBP", "."]
    assert tags(["He", "sleeps", "the", "bark"], model) == ["PRP", "VBZ", "DT", "NN"]


def test_the_training_lines_are_tagged_right() -> None:
    lines = [read_line(line) for line in LINES]
    assert accuracy(train(lines), lines) == 1.0


def test_small_weights_are_not_written(tmp_path: Path) -> None:
    save(train([read_line(line) for line in LINES]), tmp_path)
    rows = json.loads((tmp_path / WEIGHTS_FILE).read_text(encoding="utf-8"))["weights"].values()
    assert all(abs(weight) >= 1000 for row in rows for weight in row[1::2])


def test_a_capital_at_the_start_does_not_change_a_small_word() -> None:
    model = train([read_line(line) for line in LINES])
    assert tags(["Dogs", "bark"], model)[0] == "NNS"


def test_training_leaves_the_global_random_state_alone() -> None:
    lines = [read_line(line) for line in LINES]
    assert leaves_global_chance_alone(lambda: train(lines))


def test_written_weights_tag_as_those_that_were_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tagger_training, "MIN_WEIGHT", 0.001)  # weights from so few lines are small
    lines = [read_line(line) for line in LINES]
    model = train(lines)
    save(model, tmp_path)
    assert accuracy(load(tmp_path), lines) == accuracy(model, lines)


def test_only_a_word_that_always_has_the_same_tag_has_a_fixed_one() -> None:
    always = ["it_PRP rains_VBZ"] * 20
    model = train([read_line(line) for line in [*always, *["that_DT"] * 10, *["that_IN"] * 10]])
    assert model.fixed["it"] == "PRP"
    assert "that" not in model.fixed


def test_a_rare_word_has_no_fixed_tag() -> None:
    assert "it" not in train([read_line("it_PRP rains_VBZ")] * 19).fixed


# the command


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Write some lines, of which a few are held out."""
    path = tmp_path / "tagged.txt.gz"
    lines = [f"{line} {n}_CD" for n, line in enumerate(LINES * 3)]
    path.write_bytes(gzip.compress("\n".join([*lines, "what_XYZ", ""]).encode()))
    return path


def test_the_command_measures_and_writes(corpus: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["train", str(corpus), "--out", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert "60 lines; 1 left out" in result.output
    assert "held out: " in result.output
    assert load(tmp_path / "new").fixed["!"] == "."


def test_the_same_file_gives_the_same_weights(corpus: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        CliRunner().invoke(app, ["train", str(corpus), "--out", str(tmp_path / name)])
    first, second = (tmp_path / name / "weights.json" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
