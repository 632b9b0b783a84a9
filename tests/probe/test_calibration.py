"""Calibration measured against plain computations."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from probe.calibration import (
    BINS,
    Bin,
    Calibration,
    calibration,
    expected_calibration_error,
    mean_error,
    reliability,
)
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


def measured(n: int, parts: Sequence[tuple[int, float, float]]) -> Calibration:
    """Return what n answers come to: by bin how many, how sure, how often right."""
    filled = {at: Bin(at / BINS, (at + 1) / BINS, *part) for at, part in enumerate(parts)}
    empty = [Bin(at / BINS, (at + 1) / BINS, 0, 0.0, 0.0) for at in range(len(parts), BINS)]
    ece = sum(count * abs(sure - right) for count, sure, right in parts) / n
    return Calibration(n, 0.5, 0.5, ece, 0.5, 0.5, (*filled.values(), *empty))


def test_the_error_of_one_bin_spreads_as_its_accuracy_does() -> None:
    # 400 answers, all sure to 0.95, 0.75 of them right: error 0.2, standard error of the accuracy
    # sqrt(0.75 * 0.25 / 400) = 0.02165
    estimate = mean_error([measured(400, [(400, 0.95, 0.75)])]).found
    assert estimate.value == pytest.approx(0.2)
    assert estimate.low == pytest.approx(0.2 - 1.96 * 0.02165, abs=0.005)
    assert estimate.high == pytest.approx(0.2 + 1.96 * 0.02165, abs=0.005)
    assert estimate.n == 400


def test_answers_that_are_all_sure_and_right_have_no_error() -> None:
    estimate = mean_error([measured(50, [(50, 1.0, 1.0)])]).found
    assert (estimate.value, estimate.low, estimate.high) == (0.0, 0.0, 0.0)


def test_chance_alone_does_not_move_the_interval_off_a_small_error() -> None:
    # ten bins of 40, each as often right as it is sure: only what is drawn of them has errors
    sure = [0.5 + at / 20 for at in range(10)]
    estimate = mean_error([measured(400, [(40, each, each) for each in sure])]).found
    assert estimate.value == pytest.approx(0)
    assert estimate.low == 0 and 0 < estimate.high < 0.03


def test_repeats_count_by_their_mean() -> None:
    one, other = measured(400, [(400, 0.95, 0.75)]), measured(400, [(400, 0.85, 0.75)])
    both = mean_error([one, other]).found
    alone = [mean_error([each]).found for each in (one, other)]
    assert both.value == pytest.approx(0.15)
    assert both.low == pytest.approx((alone[0].low + alone[1].low) / 2)


def test_the_interval_is_the_same_each_time() -> None:
    one = measured(400, [(300, 0.95, 0.75), (100, 0.4, 0.5)])
    assert mean_error([one]) == mean_error([one])


def test_what_chance_gives_is_no_fault() -> None:
    # of ten bins each holds n answers, sure to 0.75 in the middle and right less often by `off`
    def judged(n: int, off: float) -> tuple[bool, bool]:
        parts = [(n, 0.55 + at / 25, 0.55 + at / 25 - off) for at in range(10)]
        error = mean_error([measured(10 * n, parts)])
        return error.is_fault, error.is_small

    assert judged(4, 0.15) == (False, False)  # 40 answers: chance alone gives about 17 points
    assert judged(1000, 0.15) == (True, False)
    assert judged(1000, 0.04) == (False, True)
    assert judged(4, 0.0) == (False, False)  # so few speak for no model either


def test_the_error_by_chance_is_that_of_the_binomial() -> None:
    # one bin of 400 answers sure to 0.8: mean of |hits / 400 - 0.8| is sqrt(2 * 0.16 / (400 * pi))
    chance = mean_error([measured(400, [(400, 0.8, 0.5)])]).chance
    assert chance.value == pytest.approx(math.sqrt(2 * 0.16 / (400 * math.pi)), rel=0.05)
