"""Accuracy, intervals and counts of a baseline; contracts of every baseline."""

import json
import math

import pytest

from probe.baselines import BASELINES
from probe.baselines.training import Tally, evaluate_baseline, evaluation_json
from probe.errors import UnknownBaseline
from probe.tasks.nli import LABELS, Pair, matches
from probe.tasks.task import Label
from tests.support.files.baseline_pairs import C, E, N, X, numerical_pairs


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        (E, E, True),
        (N, C, False),
        (E, X, False),
        (C, X, True),
        (X, X, True),
        (X, N, True),
        (X, C, True),
        (X, E, False),
    ],
)
def test_non_entailment_on_either_side_compares_two_classes(
    predicted: Label, gold: Label, expected: bool
) -> None:
    assert matches(predicted, gold) == expected


def test_an_evaluation_counts_by_gold_and_by_predicted_label() -> None:
    evaluation = evaluate_baseline("numerical", numerical_pairs())
    assert (evaluation.n, evaluation.correct, evaluation.accuracy) == (4, 3, 0.75)
    assert evaluation.by_gold == {E: Tally(1, 1), N: Tally(1, 1), C: Tally(2, 1)}
    assert evaluation.counts == {E: {E: 1, C: 1}, N: {N: 1}, C: {C: 1}}


def test_the_interval_is_wilsons() -> None:
    evaluation = evaluate_baseline("numerical", numerical_pairs())
    z, n, p = 1.959964, 4, 0.75
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    assert (evaluation.low, evaluation.high) == pytest.approx(
        (middle - half, middle + half), abs=1e-6
    )


def test_a_baseline_of_two_classes_is_evaluated_in_two() -> None:
    pairs = [Pair("a b", "a", E), Pair("a b", "c", N), Pair("a b", "d", C), Pair("a b", "b", C)]
    evaluation = evaluate_baseline("lexical_overlap", pairs)
    assert (evaluation.n, evaluation.correct) == (4, 3)
    assert evaluation.counts == {E: {E: 1, C: 1}, X: {N: 1, C: 1}}


def test_an_accuracy_over_nothing_is_null() -> None:
    shape = evaluation_json(evaluate_baseline("numerical", [Pair("p", "h")]))
    assert (shape["n"], shape["accuracy"], shape["low"], shape["high"]) == (0, None, None, None)
    json.dumps(shape, allow_nan=False)


def test_an_unknown_baseline_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownBaseline, match=r"^there is no rule 'numbers'; there are: \w+, "):
        evaluate_baseline("numbers", numerical_pairs())


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("text", ["", " ", "?!", "\x00", "👩‍👩‍👧", "那个人", "a." + " " * 50_000])
def test_a_rule_labels_any_text(name: str, text: str) -> None:
    pairs = [Pair(text, "A man."), Pair("A man.", text), Pair(text, text)]
    assert [label in (*LABELS, X) for label in BASELINES[name](pairs)] == [True] * 3


@pytest.mark.parametrize("name", BASELINES)
def test_a_rule_has_its_facts(name: str) -> None:
    assert BASELINES[name].name == name
    assert BASELINES[name].summary.endswith(".") and BASELINES[name].source
