"""Shares and calibration errors of several repeats."""

import math
from collections.abc import Sequence

import pytest

from finetune.report.repair.repeated import mean_error, mean_share
from probe.calibration import BINS, Bin, Calibration


def measured(n: int, parts: Sequence[tuple[int, float, float]]) -> Calibration:
    """Return what n answers come to: by bin how many, how sure, how often right."""
    filled = {at: Bin(at / BINS, (at + 1) / BINS, *part) for at, part in enumerate(parts)}
    empty = [Bin(at / BINS, (at + 1) / BINS, 0, 0.0, 0.0) for at in range(len(parts), BINS)]
    ece = sum(count * abs(sure - right) for count, sure, right in parts) / n
    return Calibration(n, 0.5, 0.5, ece, 0.5, 0.5, (*filled.values(), *empty))


def test_the_interval_of_a_mean_is_wilsons_for_the_examples_of_one_repeat() -> None:
    estimate = mean_share([0.4, 0.6], 100)
    # Wilson's for 50 of 100 by hand: (0.5 + z²/200 ± z sqrt(0.25/100 + z²/40000)) / (1 + z²/100)
    z = 1.959964
    half = z * math.sqrt(0.0025 + z**2 / 40_000) / (1 + z**2 / 100)
    assert (estimate.value, estimate.n) == (0.5, 100)
    assert (estimate.low, estimate.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)


def test_an_interval_is_about_a_mean_that_is_no_whole_number_of_examples() -> None:
    assert mean_share([0.85, 0.875], 20).low > mean_share([0.85], 20).low


def test_no_share_has_no_interval() -> None:
    assert mean_share([], 100).n == 0
    assert mean_share([0.5], 0).n == 0


def test_the_error_of_one_bin_spreads_as_its_accuracy_does() -> None:
    # 400 answers, all sure to 0.95, 0.75 of them right: error 0.2, standard error of the accuracy
    # sqrt(0.75 * 0.25 / 400) = 0.02165
    estimate = mean_error([measured(400, [(400, 0.95, 0.75)])])
    assert estimate.value == pytest.approx(0.2)
    assert estimate.low == pytest.approx(0.2 - 1.96 * 0.02165, abs=0.005)
    assert estimate.high == pytest.approx(0.2 + 1.96 * 0.02165, abs=0.005)
    assert estimate.n == 400


def test_answers_that_are_all_sure_and_right_have_no_error() -> None:
    estimate = mean_error([measured(50, [(50, 1.0, 1.0)])])
    assert (estimate.value, estimate.low, estimate.high) == (0.0, 0.0, 0.0)


def test_chance_alone_does_not_move_the_interval_off_a_small_error() -> None:
    # ten bins of 40, each as often right as it is sure: only what is drawn of them has errors
    sure = [0.5 + at / 20 for at in range(10)]
    estimate = mean_error([measured(400, [(40, each, each) for each in sure])])
    assert estimate.value == pytest.approx(0)
    assert estimate.low == 0 and 0 < estimate.high < 0.03


def test_repeats_count_by_their_mean() -> None:
    one, other = measured(400, [(400, 0.95, 0.75)]), measured(400, [(400, 0.85, 0.75)])
    both = mean_error([one, other])
    alone = [mean_error([each]) for each in (one, other)]
    assert both.value == pytest.approx(0.15)
    assert both.low == pytest.approx((alone[0].low + alone[1].low) / 2)


def test_the_interval_is_the_same_each_time() -> None:
    one = measured(400, [(300, 0.95, 0.75), (100, 0.4, 0.5)])
    assert mean_error([one]) == mean_error([one])
