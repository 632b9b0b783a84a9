"""Estimates against closed formulas and sums done by hand."""

import math
from statistics import fmean, stdev

import pytest
from scipy.stats import t

from probe.metrics import Estimate, Moments, accuracy, mean, percent, share
from probe.tasks.nli import NLI, Pair

Z = 1.959963984540054  # the 97.5 % point of the normal distribution


def wilson(count: int, n: int) -> tuple[float, float]:
    """Write Wilson's interval down from his paper of 1927."""
    p = count / n
    middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    return middle - half, middle + half


@pytest.mark.parametrize(("count", "n"), [(7, 10), (1, 3), (0, 5), (5, 5), (820, 1000), (1, 1)])
def test_a_share_has_wilsons_interval(count: int, n: int) -> None:
    found = share([True] * count + [False] * (n - count))
    assert (found.value, found.n) == (count / n, n)
    assert (found.low, found.high) == pytest.approx(wilson(count, n), abs=1e-9)


def test_a_mean_has_students_interval() -> None:
    # mean 0.5, variance (0.01 + 0 + 0.01) / 2 = 0.01; t(0.975, 2) = 4.302652729911275
    half = 4.302652729911275 * math.sqrt(0.01 / 3)
    found = mean([0.4, 0.5, 0.6])
    assert (found.value, found.n) == (pytest.approx(0.5), 3)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_a_means_interval_is_cut_to_the_range_of_probabilities() -> None:
    found = mean([0.1, 0.9])
    assert (found.low, found.high) == (0.0, 1.0)


def test_equal_values_leave_no_doubt() -> None:
    found = mean([0.25] * 4)
    assert (found.value, found.low, found.high) == (0.25, 0.25, 0.25)


def test_one_value_has_the_widest_interval() -> None:
    found = mean([0.7])
    assert (found.value, found.low, found.high, found.n) == (0.7, 0.0, 1.0, 1)


@pytest.mark.parametrize("found", [share([]), mean([])])
def test_nothing_has_no_value(found: object) -> None:
    value, low, high, n = vars(found).values()
    assert n == 0
    assert all(math.isnan(number) for number in (value, low, high))


def test_accuracy_leaves_out_what_has_no_gold_label() -> None:
    said = ["entailment", "neutral", "contradiction"]
    golds = ["entailment", None, "neutral"]
    pairs = [Pair("a", "b", gold) for gold in golds]
    assert accuracy(NLI, said, pairs) == 0.5


def test_accuracy_against_non_entailment_has_two_classes() -> None:
    said = ["contradiction", "entailment"]
    assert accuracy(NLI, said, [Pair("a", "b", "non-entailment")] * 2) == 0.5


def test_a_share_is_written_with_its_interval() -> None:
    assert percent(Estimate(0.8129, 0.78, 0.8424, 300)) == "81.3 % (78.0 to 84.2)"
    assert percent(Estimate(0.5, 0.0, 1.0, 1), "–") == "50.0 % (0.0–100.0)"
    assert percent(share([])) == "–"


@pytest.mark.parametrize("values", [[0.1] * 10, [1 / 3, 0.999999, 1e-12, 0.5], [0.0, 1.0]])
def test_moments_counted_one_by_one_are_those_of_the_list(values: list[float]) -> None:
    moments = Moments()
    for value in values:
        moments.add(value)
    estimate = moments.estimate()
    half = t.ppf(0.975, len(values) - 1) * stdev(values) / math.sqrt(len(values))
    assert estimate.value == pytest.approx(fmean(values), abs=1e-15)
    assert estimate.high == pytest.approx(min(1.0, fmean(values) + half), abs=1e-12)
    assert estimate.n == len(values)
