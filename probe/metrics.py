"""Accuracy, shares and means, each with its n and a 95 % interval, and how they are written.

SciPy and statsmodels load slowly, so that they are imported where an interval is computed: a worker
that only trains needs neither.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from probe.tasks.task import Example, Label, Task


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
    from statsmodels.stats.proportion import proportion_confint

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
    from scipy.stats import t

    variance = math.fsum((value - middle) ** 2 for value in values) / (n - 1)
    half = float(t.ppf(0.975, n - 1)) * math.sqrt(variance / n)
    return Estimate(middle, max(0.0, middle - half), min(1.0, middle + half), n)


def accuracy(task: Task, predicted: Sequence[Label], examples: Sequence[Example]) -> float:
    """Return the share of right predictions over the examples that have a gold label."""
    hits = [
        task.matches(label, example.gold)
        for label, example in zip(predicted, examples, strict=True)
        if example.gold
    ]
    return sum(hits) / len(hits) if hits else math.nan


def percent(estimate: Estimate, to: str = " to ") -> str:
    """Write a share with its interval, such as 81.3 % (78.0 to 84.2); a dash where n is 0."""
    if not estimate.n:
        return "–"
    return f"{100 * estimate.value:.1f} % ({interval(estimate, to)})"


def interval(estimate: Estimate, to: str = " to ") -> str:
    """Write the two ends of an interval in per cent."""
    return f"{100 * estimate.low:.1f}{to}{100 * estimate.high:.1f}"
