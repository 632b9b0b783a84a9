"""Which differences remain where many are tested at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from probe.analysis.comparison.statistics import MAX_P, exact_p
from probe.checkup.conclusions.difference import difference
from probe.checkup.figure import Figure
from probe.first_import import first_import
from probe.metrics import Estimate

HOW = (
    "Differences are tested on the same texts where both sides answered them (McNemar's exact test "
    "of right answers, a paired t-test of other scores), else from their intervals; one is named "
    "where it remains at 5 % after the correction of Benjamini and Hochberg over all tests of its "
    "kind, so that about one in twenty of those named, or fewer, is there by chance."
)
"""How a report decides which differences it names."""


@dataclass(frozen=True)
class Compared:
    """Two figures, their difference with its interval, and the p-value of there being none.

    `adjusted` is p after the correction over the family; both are NaN where an interval is not
    known.
    """

    before: Figure
    after: Figure
    found: Estimate
    p: float
    adjusted: float

    @property
    def remains(self) -> bool:
        """Whether the difference remains after the correction."""
        return self.adjusted < MAX_P

    @property
    def alone(self) -> bool:
        """Whether it would be named were it the only one that is tested."""
        return self.p < MAX_P


def compared(pairs: Sequence[tuple[Figure, Figure]]) -> list[Compared]:
    """Test second less first of each pair, all as one family (Benjamini and Hochberg 1995)."""
    found = [difference(*pair) for pair in pairs]
    ps = [p_value(*pair, each) for pair, each in zip(pairs, found, strict=True)]
    rows = zip(pairs, found, ps, adjusted(ps), strict=True)
    return [Compared(*pair, each, p, corrected) for pair, each, p, corrected in rows]


def adjusted(ps: Sequence[float]) -> list[float]:
    """Return the p-values after the correction; those that are not known stay NaN and count not."""
    with first_import:
        from scipy.stats import false_discovery_control

    known = [at for at, p in enumerate(ps) if not math.isnan(p)]
    corrected = list(ps)
    for at, p in zip(known, false_discovery_control([ps[at] for at in known]), strict=True):
        corrected[at] = float(p)
    return corrected


def p_value(first: Figure, second: Figure, found: Estimate) -> float:
    """Return the two-sided p-value of there being no difference, NaN where none is known."""
    if first.rows and len(first.rows) == len(second.rows):
        return _paired(first.rows, second.rows)
    return _of_interval(found)


def _paired(first: Sequence[float], second: Sequence[float]) -> float:
    """Test scores of the same texts: McNemar's exact test where all are 0 or 1, else Student's."""
    gained = sum(b > a for a, b in zip(first, second, strict=True))
    lost = sum(b < a for a, b in zip(first, second, strict=True))
    if not gained + lost or len(first) < 2:
        return 1.0
    if {*first, *second} <= {0.0, 1.0}:
        return exact_p(lost, gained)
    with first_import:
        from scipy.stats import ttest_rel

    return float(ttest_rel(second, first).pvalue)


def _of_interval(found: Estimate) -> float:
    """Return the p-value that is 5 % where one end of the 95 % interval is 0 (normal)."""
    with first_import:
        from scipy.stats import norm

    spread = found.value - (found.low if found.value > 0 else found.high)
    if not spread:
        return 1.0 if not found.value else 0.0
    return float(2 * norm.sf(norm.ppf(0.975) * abs(found.value / spread)))
