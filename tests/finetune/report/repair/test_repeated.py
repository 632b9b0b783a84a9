"""Shares of several repeats."""

import math

import pytest

from finetune.report.repairs import mean_share


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
