"""The paired bootstrap: by hand where it can be, and against plain resampling where it cannot."""

import math

import numpy as np
import pytest

from probe.analysis.comparison import RESAMPLES, _resampled, paired_bootstrap


def test_equal_models_differ_by_nothing() -> None:
    found = paired_bootstrap([0.0] * 30)
    assert (found.difference, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)
    assert found.discordant == 0


def test_the_same_advantage_on_every_row_has_the_smallest_p() -> None:
    found = paired_bootstrap([0.25] * 40)
    assert (found.difference, found.low, found.high) == (0.25, 0.25, 0.25)
    assert (found.first_higher, found.second_higher) == (40, 0)
    assert found.p == pytest.approx(2 / (RESAMPLES + 1))


def test_opposite_differences_that_cancel_tell_nothing_apart() -> None:
    found = paired_bootstrap([1.0, -1.0] * 20)
    assert found.difference == 0.0
    assert (found.first_higher, found.second_higher) == (20, 20)
    assert found.p > 0.9
    assert found.low == pytest.approx(-found.high, abs=0.1)


def test_one_of_two_rows_has_the_tail_of_two_tosses() -> None:
    found = paired_bootstrap([1.0, 0.0])  # the mean is 0 in one resample of four
    assert found.p == pytest.approx(2 * 0.25, abs=0.03)
    assert (found.low, found.high) == (0.0, 1.0)


def test_no_rows_are_no_test() -> None:
    found = paired_bootstrap([])
    assert (found.n, found.discordant) == (0, 0)
    assert all(map(math.isnan, (found.difference, found.low, found.high, found.p)))


def differences(n: int) -> list[float]:
    """The same differences at every call, as F1 has them."""
    return list(np.random.default_rng(7).choice([-1.0, -0.5, 0.0, 0.4, 2 / 3, 1.0], n))


def test_the_same_rows_have_the_same_interval_in_any_order() -> None:
    values = differences(50)
    found = paired_bootstrap(values)
    _resampled.cache_clear()
    turned = paired_bootstrap(values[::-1])
    assert (turned.low, turned.high, turned.p) == (found.low, found.high, found.p)


def test_the_interval_is_that_of_resampling_row_by_row() -> None:
    values = np.array(differences(200))
    rng = np.random.default_rng(1)
    means = values[rng.integers(0, 200, (RESAMPLES, 200))].mean(axis=1)
    found = paired_bootstrap(list(values))
    assert (found.low, found.high) == pytest.approx(np.percentile(means, (2.5, 97.5)), abs=0.01)
    tails = (means <= 0).mean(), (means >= 0).mean()
    assert found.p == pytest.approx(min(1, 2 * min(tails)), abs=0.02)


def test_a_hundred_thousand_rows_are_resampled_too() -> None:
    values = differences(100_000)
    found = paired_bootstrap(values)
    assert found.n == 100_000
    half = 1.96 * float(np.std(values)) / math.sqrt(100_000)
    assert found.high - found.low == pytest.approx(2 * half, rel=0.05)


def test_the_test_turned_round_is_that_of_the_other_model() -> None:
    values = differences(30)
    found, other = paired_bootstrap(values).turned_round, paired_bootstrap([-x for x in values])
    assert found.difference == pytest.approx(other.difference)
    assert (found.first_higher, found.second_higher) == (other.first_higher, other.second_higher)
    assert found.low == -paired_bootstrap(values).high
