"""Calibration measured against plain computations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from probe.calibration import BINS, calibration, expected_calibration_error, reliability
from tests.support.property_settings import STEADY

CONFIDENCES = st.floats(0.375, 1.0, width=32).filter(
    lambda value: value == 1 or abs(value * BINS - round(value * BINS)) > 1e-4  # on no edge
)
ANSWERS = st.lists(st.tuples(CONFIDENCES, st.booleans()), min_size=1, max_size=60)


def plain_error(answers: list[tuple[float, bool]]) -> float:
    """The definition, bin by bin: its share times |mean confidence - accuracy|."""
    total = 0.0
    for at in range(BINS):
        low, high = at / BINS, (at + 1) / BINS
        own = [(c, right) for c, right in answers if low <= c < high or (at == BINS - 1 and c == 1)]
        if own:
            confidence = sum(c for c, _ in own) / len(own)
            accuracy = sum(right for _, right in own) / len(own)
            total += len(own) / len(answers) * abs(confidence - accuracy)
    return total


def columns(answers: list[tuple[float, bool]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    return np.array([c for c, _ in answers]), np.array([right for _, right in answers])


@STEADY
@given(ANSWERS)
def test_the_calibration_error_is_that_of_a_plain_computation(
    answers: list[tuple[float, bool]],
) -> None:
    assert expected_calibration_error(*columns(answers)) == pytest.approx(
        plain_error(answers), abs=1e-5
    )


@STEADY
@given(ANSWERS)
def test_the_error_is_at_least_the_distance_of_the_means(answers: list[tuple[float, bool]]) -> None:
    confidence, correct = columns(answers)
    distance = abs(float(confidence.mean()) - float(correct.mean()))
    assert expected_calibration_error(confidence, correct) >= distance - 1e-5


def test_certainty_counts_to_the_last_bin() -> None:
    # one bin holds both: mean confidence 0.98, accuracy 0.5; a bin of its own would give 0.5
    confidence, correct = np.array([1.0, 0.96]), np.array([True, False])
    assert expected_calibration_error(confidence, correct) == pytest.approx(0.48, abs=1e-6)
    assert reliability(confidence, correct)[-1].n == 2


def test_an_edge_counts_to_the_bin_above() -> None:
    assert [bin_.n for bin_ in reliability(np.array([0.6]), np.array([True]))].index(1) == 9


@STEADY
@given(ANSWERS)
def test_every_answer_is_in_one_bin(answers: list[tuple[float, bool]]) -> None:
    confidence, correct = columns(answers)
    bins = reliability(confidence, correct)
    assert sum(bin_.n for bin_ in bins) == len(answers)
    assert sum(bin_.n * bin_.accuracy for bin_ in bins) == pytest.approx(correct.sum())


def test_brier_and_log_loss_are_worked_by_hand() -> None:
    probabilities = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]])
    right = np.array([[True, False, False], [False, True, False]])
    measured = calibration(probabilities, right)
    # 0.3² + 0.2² + 0.1² = 0.14 and 0.5² + 0.7² + 0.2² = 0.78
    assert measured.brier == pytest.approx((0.14 + 0.78) / 2)
    assert measured.log_loss == pytest.approx(-(math.log(0.7) + math.log(0.3)) / 2)
    assert (measured.n, measured.accuracy, measured.confidence) == (2, 0.5, pytest.approx(0.6))


def test_labels_that_are_right_together_count_as_one() -> None:
    measured = calibration(np.array([[0.4, 0.35, 0.25]]), np.array([[False, True, True]]))
    assert measured.brier == pytest.approx(0.4**2 + 0.4**2)
    assert measured.log_loss == pytest.approx(-math.log(0.6))


def test_the_answers_that_were_given_count() -> None:
    probabilities, right = np.array([[0.5, 0.5]]), np.array([[False, True]])
    assert calibration(probabilities, right).accuracy == 0
    assert calibration(probabilities, right, np.array([1])).accuracy == 1


def test_a_certain_mistake_has_a_finite_log_loss() -> None:
    measured = calibration(np.array([[1.0, 0.0]]), np.array([[False, True]]))
    assert math.isfinite(measured.log_loss)


def test_without_a_right_label_there_is_no_calibration() -> None:
    with pytest.raises(ValueError, match="right label"):
        calibration(np.array([[0.5, 0.5]]), np.array([[False, False]]))
