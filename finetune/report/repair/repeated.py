"""Shares of several repeats, each with a 95 % interval.

Repeats train on other examples but are tested on the same ones, and the broken forms of one example
are not independent either. So an interval is that of one repeat, and of as many examples as there
are, however many texts were made of them.
"""

from collections.abc import Iterable
from statistics import fmean

from probe.metrics import NOTHING, Estimate, wilson


def mean_share(shares: Iterable[float], n: int) -> Estimate:
    """Return the mean of shares with Wilson's interval for n examples."""
    values = list(shares)
    if not values or not n:
        return NOTHING
    return wilson(fmean(values) * n, n)
