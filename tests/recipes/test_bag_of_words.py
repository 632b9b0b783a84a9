"""Training of the hypothesis-only baseline, and its command."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from probe.baselines import WEIGHTS_FILE, label_scores, load
from probe.errors import TrainingError
from probe.tasks.nli import LABELS, Pair
from recipes.bag_of_words import app, train, write
from tests.support.files.baseline_pairs import C, E, N, X, separable_pairs
from tests.support.files.pair_files import row
from tests.support.files.pair_files import write as write_rows


def test_training_finds_the_words_that_decide_the_label_and_never_reads_the_premise(
    tmp_path: Path,
) -> None:
    weights = train(separable_pairs(), 2)
    for word, label in (("some", E), ("tall", N), ("nobody", C)):
        assert LABELS[int(label_scores(f"{word} dogs ran", weights).argmax())] == label
    others = [Pair("quite another", pair.hypothesis, pair.gold) for pair in separable_pairs()]
    assert weights.matrix.tolist() == train(others, 2).matrix.tolist()
    write(weights, tmp_path)
    loaded = load(tmp_path)
    assert loaded.rows == weights.rows
    assert np.array_equal(loaded.matrix, weights.matrix)
    assert np.array_equal(loaded.bias, weights.bias)
    with pytest.raises(TrainingError, match="needs pairs of all three labels"):
        train([Pair("p", "h", E), Pair("p", "g", X)], 1)


def test_the_command_trains_the_same_again_and_refuses_a_file_of_rare_words(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "train.jsonl", [row(pair) for pair in separable_pairs()])
    for out, least in (("one", "2"), ("two", "2"), ("three", "1000")):
        words = ["train", str(path), "--out", str(tmp_path / out), "--least", least]
        result = CliRunner().invoke(app, words)
        # three that tell, men, cats, sat and the full stop
        assert least != "2" or result.stdout.startswith("7 words, ")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: no word is in 1000 hypotheses")
    one, two = (tmp_path / out / WEIGHTS_FILE for out in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
