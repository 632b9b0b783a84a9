"""By how much two figures differ, with an interval."""

import math
from collections.abc import Sequence

from probe.checkup.figure import Figure
from probe.first_import import first_import
from probe.metrics import Estimate, joined_difference


def difference(first: Figure, second: Figure) -> Estimate:
    """Return second less first with its 95 % interval.

    Where both hold the scores of as many texts these are taken to be the same ones and compared
    one by one (Student's interval); otherwise the two intervals are joined as if independent. The
    interval is NaN where one of them is not known.
    """
    if first.rows and len(first.rows) == len(second.rows):
        return paired(first.rows, second.rows)
    return joined_difference(first.estimate, second.estimate)


def paired(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Return the mean of second less first over the same texts, with Student's interval."""
    n = len(first)
    each = [after - before for before, after in zip(first, second, strict=True)]
    middle = math.fsum(each) / n
    if n < 2:
        return Estimate(middle, -1.0, 1.0, n)
    with first_import:
        from scipy.stats import t

    variance = math.fsum((value - middle) ** 2 for value in each) / (n - 1)
    half = float(t.ppf(0.975, n - 1)) * math.sqrt(variance / n)
    return Estimate(middle, middle - half, middle + half, n)


def points(found: Estimate) -> str:
    """Write the size of a difference in points with its interval."""
    low, high = sorted((abs(found.low), abs(found.high)))
    if found.low < 0 < found.high:
        return f"{100 * abs(found.value):.1f} points"
    return f"{100 * abs(found.value):.1f} points ({100 * low:.1f} to {100 * high:.1f})"
