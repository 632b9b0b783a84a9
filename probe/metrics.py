"""Shares and means, each with its n and a 95 % interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import t
from statsmodels.stats.proportion import proportion_confint


@dataclass(frozen=True)
class Estimate:
    """A mean over n rows with its 95 % interval; all NaN when n is 0."""

    value: float
    low: float
    high: float
    n: int


NOTHING = Estimate(math.nan, math.nan, math.nan, 0)


def share(hits: Sequence[bool]) -> Estimate:
    """Return the share of true values with Wilson's interval."""
    if not hits:
        return NOTHING
    count, n = sum(hits), len(hits)
    low, high = proportion_confint(count, n, method="wilson")
    return Estimate(count / n, float(low), float(high), n)


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean with Student's interval, cut to [0, 1]; n = 1 has the widest interval."""
    if not values:
        return NOTHING
    n = len(values)
    middle = math.fsum(values) / n
    if n == 1:
        return Estimate(middle, 0.0, 1.0, 1)
    variance = math.fsum((value - middle) ** 2 for value in values) / (n - 1)
    half = float(t.ppf(0.975, n - 1)) * math.sqrt(variance / n)
    return Estimate(middle, max(0.0, middle - half), min(1.0, middle + half), n)
