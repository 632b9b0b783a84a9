"""The hypothesis-only baseline and its training."""

import json
from pathlib import Path

import numpy as np
import pytest

from probe.baselines.hypothesis_only import FOLDER, WEIGHTS_FILE, BagWeights, label_scores, load
from probe.baselines.training import train, vocabulary, write
from probe.errors import MissingWeights, TrainingError
from probe.tasks.nli import LABELS, Pair
from tests.support.files.baseline_pairs import C, E, N, X, label_of, separable_pairs


def test_scores_are_the_weights_of_the_words_that_occur() -> None:
    matrix = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    weights = BagWeights({"no": 0, "men": 1}, matrix, np.array([0.5, 0.0, -0.5]))
    assert label_scores("No no men?", weights).tolist() == [9.5, 18.0, 35.5]
    assert label_scores("unheard", weights).tolist() == [0.5, 0.0, -0.5]
    assert label_scores("", weights).tolist() == [0.5, 0.0, -0.5]


def test_training_finds_the_words_that_decide_the_label() -> None:
    weights = train(separable_pairs(), 2)
    for word, label in (("some", E), ("tall", N), ("nobody", C)):
        assert LABELS[int(label_scores(f"{word} dogs ran", weights).argmax())] == label


def test_training_never_reads_the_premise() -> None:
    others = [Pair("quite another", pair.hypothesis, pair.gold) for pair in separable_pairs()]
    assert train(separable_pairs(), 2).matrix.tolist() == train(others, 2).matrix.tolist()


def test_words_of_few_hypotheses_are_left_out() -> None:
    assert vocabulary([{"b", "a"}, {"b", "c"}, {"c", "b"}], 2) == {"b": 0, "c": 1}


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


def test_missing_weights_say_how_to_make_them(tmp_path: Path) -> None:
    with pytest.raises(MissingWeights, match=r"python -m probe baselines train"):
        load(tmp_path)


def test_the_shipped_weights_are_small_and_plain() -> None:
    path = FOLDER / WEIGHTS_FILE
    assert path.stat().st_size < 1_000_000
    shape = json.loads(path.read_text(encoding="utf-8"))
    assert {len(row) for row in shape["weights"].values()} == {len(shape["words"])}
    assert not [word for word in shape["words"] if " " in word]


def test_the_shipped_weights_know_the_habits_of_annotators() -> None:
    # Gururangan et al. 2018, table 4: "nobody" and "sleeping" give contradictions away
    assert label_of("hypothesis_only", "", "Nobody is sleeping.") == C
    assert label_of("hypothesis_only", "A man ran.", "Nobody is sleeping.") == C
