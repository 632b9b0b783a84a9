"""Intervals, tests and calibration against closed formulas, sums by hand and plain resampling."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from statsmodels.api import OLS

from probe.statistics import (
    BINS,
    RESAMPLES,
    Bin,
    Calibration,
    Drawn,
    Estimate,
    Share,
    _resampled,
    accuracy,
    adjusted,
    calibration,
    clustered,
    clustered_difference,
    expected_calibration_error,
    mean,
    mean_error,
    mean_share,
    paired_bootstrap,
    percent,
    reliability,
    share,
    wilson,
)
from probe.tasks.nli import NLI, Pair
from tests.support.property_settings import STEADY

Z = 1.959963984540054  # the 97.5 % point of the normal distribution


def test_a_share_has_wilsons_interval() -> None:
    for count, n in ((7, 10), (1, 3), (0, 5), (5, 5), (820, 1000), (1, 1)):
        p = count / n  # as his paper of 1927 has it
        middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
        found = share([True] * count + [False] * (n - count))
        assert (found.value, found.n) == (p, n)
        assert (found.low, found.high) == pytest.approx((middle - half, middle + half), abs=1e-9)


def test_a_mean_has_students_interval_however_its_values_come() -> None:
    # of 0.4, 0.5, 0.6 the variance is (0.01 + 0 + 0.01) / 2 = 0.01, and t(0.975, 2) = 4.3027
    half = 4.302652729911275 * math.sqrt(0.01 / 3)
    for values, expected in (
        ([0.4, 0.5, 0.6], (0.5, 0.5 - half, 0.5 + half, 3)),
        ([0.1, 0.9], (0.5, 0.0, 1.0, 2)),  # cut to what a probability can be
        ([0.1] * 10, (0.1, 0.1, 0.1, 10)),
        ([0.7], (0.7, 0.0, 1.0, 1)),  # of one value nothing is known
    ):
        moments = Share()
        for value in values:
            moments.add(value)
        for found in (mean(values), moments.mean()):
            assert tuple(vars(found).values()) == pytest.approx(expected, abs=1e-7)
    assert mean([-0.5], least=-1.0).low == -1.0


def test_rows_of_one_repeat_or_source_are_not_independent() -> None:
    """Repeats of one size alone have Student's interval; both ways together statsmodels'."""
    shares = (0.5, 0.93, 0.21, 0.3)
    alone, plain = (
        clustered([Drawn(at, "", 400 * x, 400) for at, x in enumerate(shares)]),
        mean(shares),
    )
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high))
    rng, rows = np.random.default_rng(5), list[tuple[int, int, int]]()
    for repeat, source in product(range(6), range(4)):
        hits = rng.random(10) < 0.2 + 0.08 * repeat + 0.1 * source
        rows += [(repeat, source, int(hit)) for hit in hits]
    drawn = [Drawn(repeat, source, hit, 1) for repeat, source, hit in rows]
    groups, right = np.array(rows)[:, :2], np.array(rows, dtype=float)[:, 2]
    fitted = OLS(right, np.ones(len(rows))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    half = t.ppf(0.975, 3) * fitted.bse[0]
    found = clustered(drawn)
    assert (found.low, found.high) == pytest.approx((right.mean() - half, right.mean() + half))
    assert clustered_difference(drawn, drawn).value == 0
    other = [each._replace(right=0.0) for each in drawn]
    gained = clustered_difference(other, drawn)
    assert (gained.value, gained.low) == pytest.approx((right.mean(), right.mean() - half))
    assert clustered([Drawn(0, "a", 3, 4)]) == Estimate(0.75, 0.0, 1.0, 4)
    assert clustered([]).n == 0
    equal = [Drawn(at, at, 50, 100) for at in range(9)]  # no narrower than independent rows
    assert clustered(equal) == wilson(450, 900)


def test_values_of_one_text_are_not_independent_nor_are_repeats() -> None:
    several = {0: [1, 1, 1], 1: [0, 0], 2: [1], 3: [0, 1, 1, 1], 4: [0]}
    whole, parts = Share(), [Share(), Share()]
    for text, own in several.items():
        for value in own:
            whole.add(value, text)
            parts[text % 2].add(value, text)
    drawn = [Drawn("", text, sum(own), len(own)) for text, own in several.items()]
    assert vars(whole.estimate()) == pytest.approx(vars(clustered(drawn)))
    assert whole.mean().low < mean([x for own in several.values() for x in own]).low
    first, second = parts
    first.count, first.n = whole.count, whole.n
    first.join(second.clusters)
    assert vars(first.estimate()) == pytest.approx(vars(whole.estimate()))
    alone = Share()
    for value in (0, 1, 1, 0, 1):
        alone.add(value, alone.n)  # each of another text
    assert alone.estimate() == wilson(3, 5)
    shares = [0.4, 0.5, 0.6]
    found, students = mean_share(shares, 1000), mean(shares)
    assert (found.value, found.n) == (0.5, 1000)
    assert (found.low, found.high) == (students.low, students.high)  # wider than over 1,000 texts
    assert mean_share([0.5], 100) == wilson(50, 100)
    assert mean_share([0.5, 0.5], 100) == wilson(50, 100)
    assert mean_share([], 100).n == mean_share([0.5], 0).n == 0


def test_nothing_has_no_value() -> None:
    for found in (share([]), mean([]), Share().estimate(), Share().mean()):
        assert found.n == 0 and all(map(math.isnan, (found.value, found.low, found.high)))


def test_accuracy_counts_gold_labels_alone_and_in_their_classes() -> None:
    for said, golds in (
        (["entailment", "neutral", "contradiction"], ["entailment", None, "neutral"]),
        (["contradiction", "entailment"], ["non-entailment"] * 2),
    ):
        assert accuracy(NLI, said, [Pair("a", "b", gold) for gold in golds]) == 0.5


def test_a_share_is_written_with_its_interval() -> None:
    assert percent(Estimate(0.8129, 0.78, 0.8424, 300)) == "81.3 % (78.0 to 84.2)"
    assert percent(Estimate(0.5, 0.0, 1.0, 1), "–") == "50.0 % (0.0–100.0)"
    assert percent(share([])) == "–"


def test_the_correction_is_that_of_benjamini_and_hochberg_over_what_is_known() -> None:
    # p times tests over rank, made monotone
    assert adjusted([0.02, math.nan, 0.5, 0.01]) == pytest.approx(
        [0.02 * 3 / 2, math.nan, 0.5, 0.01 * 3 / 1], nan_ok=True
    )
    assert adjusted([]) == []


def test_a_bootstrap_worked_by_hand() -> None:
    for rows, counts, ends, p in (
        ([0.0] * 30, (0, 0), (0.0, 0.0), 1.0),
        ([0.25] * 40, (40, 0), (0.25, 0.25), 2 / (RESAMPLES + 1)),
        ([1.0, 0.0], (1, 0), (0.0, 1.0), 0.5),  # the mean is 0 in one resample of four
    ):
        found = paired_bootstrap(rows)
        assert (found.first_higher, found.second_higher) == counts
        assert (found.low, found.high, found.difference) == (*ends, sum(rows) / len(rows))
        assert found.p == pytest.approx(p, abs=0.03)
    none = paired_bootstrap([])
    assert (none.n, none.discordant) == (0, 0)
    assert all(map(math.isnan, (none.difference, none.low, none.high, none.p)))


def differences(n: int) -> list[float]:
    """The same differences at every call, as F1 has them."""
    return list(np.random.default_rng(7).choice([-1.0, -0.5, 0.0, 0.4, 2 / 3, 1.0], n))


def test_a_bootstrap_is_that_of_resampling_row_by_row_in_any_order() -> None:
    values = np.array(differences(200))
    means = values[np.random.default_rng(1).integers(0, 200, (RESAMPLES, 200))].mean(axis=1)
    found = paired_bootstrap(list(values))
    assert (found.low, found.high) == pytest.approx(np.percentile(means, (2.5, 97.5)), abs=0.01)
    tails = (means <= 0).mean(), (means >= 0).mean()
    assert found.p == pytest.approx(min(1, 2 * min(tails)), abs=0.02)
    _resampled.cache_clear()
    again, other = paired_bootstrap(list(values[::-1])), paired_bootstrap(list(-values))
    assert (again.low, again.high, again.p) == (found.low, found.high, found.p)
    assert found.turned_round.difference == pytest.approx(other.difference)
    assert found.turned_round.first_higher == other.first_higher
    assert (found.turned_round.low, found.turned_round.high) == (-found.high, -found.low)
    many, half = differences(100_000), Z * float(np.std(differences(100_000))) / math.sqrt(100_000)
    found = paired_bootstrap(many)
    assert found.high - found.low == pytest.approx(2 * half, rel=0.05)


CONFIDENCES = st.floats(0.375, 1.0, width=32).filter(
    lambda value: value == 1 or abs(value * BINS - round(value * BINS)) > 1e-4  # on no edge
)


@STEADY
@given(st.lists(st.tuples(CONFIDENCES, st.booleans()), min_size=1, max_size=60))
def test_the_calibration_error_is_that_of_its_definition(answers: list[tuple[float, bool]]) -> None:
    confidence, correct = (np.array(column) for column in zip(*answers, strict=True))
    plain = 0.0
    for at in range(BINS):
        own = [each for each in answers if min(int(each[0] * BINS), BINS - 1) == at]
        plain += abs(sum(sure - right for sure, right in own)) / len(answers)
    bins = reliability(confidence, correct)
    assert expected_calibration_error(bins) == pytest.approx(plain, abs=1e-5)
    assert sum(each.n for each in bins) == len(answers)
    assert sum(each.n * each.accuracy for each in bins) == pytest.approx(correct.sum())


def test_edges_count_to_the_bin_above_and_certainty_to_the_last() -> None:
    # one bin holds both: mean confidence 0.98, accuracy 0.5; a bin of its own would give 0.5
    confidence, correct = np.array([1.0, 0.96]), np.array([True, False])
    bins = reliability(confidence, correct)
    assert expected_calibration_error(bins) == pytest.approx(0.48, abs=1e-6)
    assert bins[-1].n == 2
    assert [each.n for each in reliability(np.array([0.6]), np.array([True]))].index(1) == 9


def test_brier_and_log_loss_are_worked_by_hand() -> None:
    probabilities = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]])
    found = calibration(probabilities, np.array([[True, False, False], [False, True, False]]))
    # 0.3² + 0.2² + 0.1² = 0.14 and 0.5² + 0.7² + 0.2² = 0.78
    assert found.brier == pytest.approx((0.14 + 0.78) / 2)
    assert found.log_loss == pytest.approx(-(math.log(0.7) + math.log(0.3)) / 2)
    assert (found.n, found.accuracy, found.confidence) == (2, 0.5, pytest.approx(0.6))
    together = calibration(np.array([[0.4, 0.35, 0.25]]), np.array([[False, True, True]]))
    assert together.brier == pytest.approx(0.4**2 + 0.4**2)
    assert together.log_loss == pytest.approx(-math.log(0.6))
    never = calibration(np.array([[0.2, 0.5, 0.3]]), np.array([[True, False, False]]))
    assert never.confidence == 0.5  # labels that are never right are no class together
    even, second = np.array([[0.5, 0.5]]), np.array([[False, True]])
    assert calibration(even, second).accuracy == 0
    assert calibration(even, second, np.array([1])).accuracy == 1  # the answer that was given
    assert math.isfinite(calibration(np.array([[1.0, 0.0]]), second).log_loss)
    with pytest.raises(ValueError, match="right label"):
        calibration(even, np.array([[False, False]]))


def measured(n: int, parts: Sequence[tuple[int, float, float]]) -> Calibration:
    """Return what n answers come to: by bin how many, how sure, how often right."""
    filled = [*parts, *[(0, 0.0, 0.0)] * (BINS - len(parts))]
    bins = [Bin(at / BINS, (at + 1) / BINS, *part) for at, part in enumerate(filled)]
    ece = sum(count * abs(sure - right) for count, sure, right in parts) / n
    return Calibration(n, 0.5, 0.5, ece, 0.5, 0.5, tuple(bins))


def test_the_interval_of_an_error_is_that_of_accuracy_without_what_chance_adds() -> None:
    # 400 answers, all sure to 0.95, 0.75 of them right: error 0.2, standard error of the accuracy
    # sqrt(0.75 * 0.25 / 400) = 0.02165
    one, other = measured(400, [(400, 0.95, 0.75)]), measured(400, [(400, 0.85, 0.75)])
    found, half = mean_error([one]).found, Z * 0.02165
    assert (found.value, found.n) == (pytest.approx(0.2), 400)
    assert (found.low, found.high) == pytest.approx((0.2 - half, 0.2 + half), abs=0.005)
    both, alone = mean_error([one, other]).found, mean_error([other]).found
    assert both.value == pytest.approx(0.15)
    assert both.low == pytest.approx((found.low + alone.low) / 2)
    certain = mean_error([measured(50, [(50, 1.0, 1.0)])]).found
    assert (certain.value, certain.low, certain.high) == (0.0, 0.0, 0.0)
    # ten bins of 40, each as often right as it is sure: only what is drawn of them has errors
    small = mean_error([measured(400, [(40, 0.5 + at / 20, 0.5 + at / 20) for at in range(10)])])
    assert small.found.value == pytest.approx(0)
    assert small.found.low == 0 and 0 < small.found.high < 0.03


def test_what_chance_gives_is_no_fault() -> None:
    # of ten bins each holds n answers, sure to 0.75 in the middle and right less often by `off`
    for n, off, expected in (
        (4, 0.15, (False, False)),  # 40 answers: chance alone gives about 17 points
        (1000, 0.15, (True, False)),
        (1000, 0.04, (False, True)),
        (4, 0.0, (False, False)),  # so few speak for no model either
    ):
        parts = [(n, 0.55 + at / 25, 0.55 + at / 25 - off) for at in range(10)]
        error = mean_error([measured(10 * n, parts)])
        assert (error.is_fault, error.is_small) == expected, (n, off)
    # one bin of 400 answers sure to 0.8: mean of |hits / 400 - 0.8| is sqrt(2 * 0.16 / (400 * pi))
    chance = mean_error([measured(400, [(400, 0.8, 0.5)])]).chance
    assert chance.value == pytest.approx(math.sqrt(2 * 0.16 / (400 * math.pi)), rel=0.05)
