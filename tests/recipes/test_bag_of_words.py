"""Training of the hypothesis-only baseline, and its command."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from probe.baselines import WEIGHTS_FILE, label_scores, load
from probe.errors import TrainingError
from probe.tasks.nli import LABELS, Pair
from recipes.bag_of_words import app, train, write
from tests.support.files.baseline_pairs import C, E, N, X, separable_pairs


def test_training_finds_the_words_that_decide_the_label_and_never_reads_the_premise() -> None:
    weights = train(separable_pairs(), 2)
    for word, label in (("some", E), ("tall", N), ("nobody", C)):
        assert LABELS[int(label_scores(f"{word} dogs ran", weights).argmax())] == label
    others = [Pair("quite another", pair.hypothesis, pair.gold) for pair in separable_pairs()]
    assert weights.matrix.tolist() == train(others, 2).matrix.tolist()


def test_written_weights_are_read_unchanged(tmp_path: Path) -> None:
    weights = train(separable_pairs(), 2)
    write(weights, tmp_path)
    loaded = load(tmp_path)
    assert loaded.rows == weights.rows
    assert np.array_equal(loaded.matrix, weights.matrix)
    assert np.array_equal(loaded.bias, weights.bias)


def test_training_needs_all_three_labels() -> None:
    with pytest.raises(TrainingError, match="needs pairs of all three labels"):
        train([Pair("p", "h", E), Pair("p", "g", X)], 1)


def test_the_command_trains_the_same_again_and_refuses_a_file_of_rare_words(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    rows = [
        {"premise": p.premise, "hypothesis": p.hypothesis, "label": p.gold}
        for p in separable_pairs()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for out in ("one", "two"):
        words = ["train", str(path), "--out", str(tmp_path / out), "--least", "2"]
        result = CliRunner().invoke(app, words)
        # three that tell, men, cats, sat and the full stop
        assert result.stdout.startswith("7 words, ")
    one, two = (tmp_path / out / WEIGHTS_FILE for out in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    result = CliRunner().invoke(app, [*words[:-1], "1000"])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: no word is in 1000 hypotheses")
