"""Shares and errors of several repeats, each with a 95 % interval.

Repeats train on other examples but are tested on the same ones, and the broken forms of one example
are not independent either. So an interval is that of one repeat, and of as many examples as there
are, however many texts were made of them.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np

from probe.calibration import Calibration
from probe.metrics import NOTHING, Estimate, wilson

SAMPLES = 2000


def mean_share(shares: Iterable[float], n: int) -> Estimate:
    """Return the mean of shares with Wilson's interval for n examples."""
    values = list(shares)
    if not values or not n:
        return NOTHING
    return wilson(fmean(values) * n, n)


def mean_error(measured: Sequence[Calibration], seed: int = 0) -> Estimate:
    """Return the mean calibration error; its interval is the mean of the repeats' bootstraps.

    Answers are drawn anew by bin and whether they are right; each has its bin's mean confidence.
    """
    ends = [_bootstrap(each, seed) for each in measured]
    low, high = (fmean(each[at] for each in ends) for at in (0, 1))
    return Estimate(fmean(each.ece for each in measured), low, high, measured[0].n)


def _bootstrap(measured: Calibration, seed: int) -> tuple[float, float]:
    """Return the bounds between which 95 % of the errors lie, moved by what they are too large.

    An error is never below 0, so that chance alone makes that of a drawn set larger.
    """
    n = np.array([each.n for each in measured.bins])
    right = np.array([each.n * each.accuracy for each in measured.bins])
    confidence = np.array([each.confidence for each in measured.bins])
    shares = np.concatenate([right, n - right]).clip(min=0) / measured.n
    drawn = np.random.default_rng(seed).multinomial(measured.n, shares / shares.sum(), SAMPLES)
    hits, misses = np.split(drawn, 2, axis=1)  # (samples, bins)
    errors = np.abs((hits + misses) * confidence - hits).sum(axis=1) / measured.n
    low, high = np.quantile(errors, [0.025, 0.975]) - (errors.mean() - measured.ece)
    return max(0.0, float(low)), float(high)
