"""The bootstrap of test rows, and the interval that it gives."""

import numpy as np
from numpy.typing import NDArray

from probe.metrics import Estimate

Array = NDArray[np.float64]


def resample(columns: Array, times: int, rng: np.random.Generator) -> Array:
    """Return the column means of bootstrap resamples of the rows.  # (times, columns)

    Rows that are alike are drawn together by a multinomial, which is the same distribution
    as drawing row by row and needs no (times, rows) array.
    """
    distinct, counts = np.unique(columns, axis=0, return_counts=True)
    draws = rng.multinomial(len(columns), counts / len(columns), size=times)
    return np.asarray(draws @ distinct / len(columns), dtype=np.float64)


def estimate(value: float, draws: Array, n: int) -> Estimate:
    """Return a value of n rows with the 95 % interval of its resamples."""
    if np.isnan(value) or np.isnan(draws).all():
        return Estimate(float("nan"), float("nan"), float("nan"), n)
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return Estimate(value, float(low), float(high), n)
