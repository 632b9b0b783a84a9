"""A paired bootstrap of the difference between two models' scores on the same rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import nan

import numpy as np

RESAMPLES, SEED = 10_000, 0
DRAWN_AT_ONCE = 2_000_000
"""Counts that are drawn at once: 16 MB of them."""
TIE = 1e-9
"""Differences nearer to 0 than this are 0, whatever their rounding."""


@dataclass(frozen=True)
class PairedBootstrap:
    """A paired bootstrap over `n` rows of the mean of the first model's F1 less the second's.

    `low` and `high` are the percentile interval (95 %) of `difference` over the resamples.
    `first_higher` and `second_higher` count the rows on which one F1 is above the other. `p` is
    two-sided: twice the smaller share of resamples in which the difference is at most, or at least,
    0, each with one more resample on its side (Davison and Hinkley 1997, section 4.4). All but the
    counts are NaN where n is 0.
    """

    n: int
    difference: float
    low: float
    high: float
    first_higher: int
    second_higher: int
    p: float

    @property
    def discordant(self) -> int:
        """On how many rows the F1 of the two differ."""
        return self.first_higher + self.second_higher

    @property
    def turned_round(self) -> "PairedBootstrap":
        """The same with the second model as the first."""
        ends = (-self.difference, -self.high, -self.low)
        return PairedBootstrap(self.n, *ends, self.second_higher, self.first_higher, self.p)


def paired_bootstrap(differences: Sequence[float]) -> PairedBootstrap:
    """Test whether the mean of the rows' differences is 0, with 10,000 resamples of the rows."""
    n = len(differences)
    if not n:
        return PairedBootstrap(0, nan, nan, nan, 0, 0, nan)
    counts = sorted(Counter(differences).items())
    means = _resampled(tuple(counts))
    low, high = (float(end) for end in np.percentile(means, (2.5, 97.5)))
    tails = [int((means <= TIE).sum()), int((means >= -TIE).sum())]
    return PairedBootstrap(
        n,
        sum(value * count for value, count in counts) / n,
        low,
        high,
        sum(count for value, count in counts if value > TIE),
        sum(count for value, count in counts if value < -TIE),
        min(1.0, 2 * (min(tails) + 1) / (RESAMPLES + 1)),
    )


@lru_cache(maxsize=200)  # a page asks again for the same rows
def _resampled(counts: tuple[tuple[float, int], ...]) -> np.ndarray:
    """Return the mean difference of each resample, from how many rows have which difference.

    Rows of one difference are alike, so that how many of each are drawn is multinomial: the same
    resamples without a number for each row.  # (resamples,)
    """
    values, sizes = (np.array(column, dtype=float) for column in zip(*counts, strict=True))
    n = int(sizes.sum())
    rng = np.random.default_rng(SEED)
    at_once = max(1, DRAWN_AT_ONCE // len(values))
    return np.concatenate(
        [
            rng.multinomial(n, sizes / n, size=min(at_once, RESAMPLES - done)) @ values / n
            for done in range(0, RESAMPLES, at_once)
        ]
    )
