"""Accuracy, shares and means, each with its n and a 95 % interval, and how they are written.

SciPy and statsmodels load slowly, so that they are imported where an interval is computed: a worker
that only trains needs neither.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from probe.first_import import first_import
from probe.tasks.task import Example, Label, Task
from probe.terms import Term

MEASURES: Mapping[str, Term] = {
    "agreement": Term(
        "Agreement",
        "How often the model gives a changed text the answer that it gave the original, or for a "
        "copy the default label.",
    ),
    "confidence": Term(
        "Confidence", "The probability that the model gives its answer, on average over all texts."
    ),
    "accuracy": Term("Accuracy", "How often the answer is the gold label."),
}
"""What is measured over examples."""


@dataclass(frozen=True)
class Estimate:
    """A mean over n rows with its 95 % interval; all NaN when n is 0."""

    value: float
    low: float
    high: float
    n: int


NOTHING = Estimate(math.nan, math.nan, math.nan, 0)
FEWEST = 20
"""Examples that a group needs before it is ranked, named as the best or worst, or coloured."""
SURE_WITHIN = 0.05
"""A loss of confidence that counts as none."""
AS_SURE, SURER, LESS_SURE = "as sure as before", "surer than before", "less sure than before"


def sureness(change: Estimate) -> str:
    """Say whether a model is as sure as before by how much its confidence changed, "" if unclear.

    It is where the interval of the change lies above minus `SURE_WITHIN`; that of one answer, or of
    a fixed set of answers, is its value alone.
    """
    if change.low > -SURE_WITHIN:
        return SURER if change.low > SURE_WITHIN else AS_SURE
    return LESS_SURE if change.high < -SURE_WITHIN else ""


def joined_difference(first: Estimate, second: Estimate) -> Estimate:
    """Return second less first, their intervals joined as if they were independent."""
    value = second.value - first.value
    down = math.hypot(second.value - second.low, first.high - first.value)
    up = math.hypot(second.high - second.value, first.value - first.low)
    return Estimate(value, value - down, value + up, min(first.n, second.n))


def exactly(value: float) -> Estimate:
    """Return a value that is no sample's, with itself as its interval."""
    return Estimate(value, value, value, 1)


@dataclass
class Share:
    """How many of n are true, counted one by one."""

    count: int = 0
    n: int = 0

    def add(self, hit: bool) -> None:
        """Count one more."""
        self.count += hit
        self.n += 1

    def estimate(self) -> Estimate:
        """Return the share of true values with Wilson's interval."""
        return wilson(self.count, self.n)


def wilson(count: float, n: int) -> Estimate:
    """Return a share of n with Wilson's interval; the count behind a mean share may be no whole."""
    if not n:
        return NOTHING
    with first_import:
        from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(count, n, method="wilson")
    return Estimate(count / n, float(low), float(high), n)


@dataclass
class Moments:
    """The sums of values and of their squares, exact whatever the order.

    Both are whole numbers in units of 2 ** -UNIT and its square.
    """

    total: int = 0
    squares: int = 0
    n: int = 0

    def add(self, value: float) -> None:
        """Count one more value between 0 and 1."""
        scaled = _scaled(value)
        self.total += scaled
        self.squares += scaled * scaled
        self.n += 1

    def estimate(self) -> Estimate:
        """Return the mean with Student's interval, cut to [0, 1]; n = 1 has the widest one."""
        if not self.n:
            return NOTHING
        middle = self.total / (1 << UNIT) / self.n
        if self.n == 1:
            return Estimate(middle, 0.0, 1.0, 1)
        with first_import:
            from scipy.stats import t

        centre = _scaled(middle)
        spread = self.squares - 2 * centre * self.total + self.n * centre * centre
        variance = spread / (1 << 2 * UNIT) / (self.n - 1)
        half = float(t.ppf(0.975, self.n - 1)) * math.sqrt(variance / self.n)
        return Estimate(middle, max(0.0, middle - half), min(1.0, middle + half), self.n)


UNIT = 200  # bits behind the point: no probability that a model gives has more


def _scaled(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return (numerator << UNIT) // denominator


def share(hits: Sequence[bool]) -> Estimate:
    """Return the share of true values with Wilson's interval."""
    return Share(sum(hits), len(hits)).estimate()


def mean(values: Sequence[float]) -> Estimate:
    """Return the mean with Student's interval, cut to [0, 1]; n = 1 has the widest interval."""
    moments = Moments()
    for value in values:
        moments.add(value)
    return moments.estimate()


def mean_score(task: Task, scores: Sequence[float]) -> Estimate:
    """Return the mean score of answers: of labels with Wilson's interval, of spans with Student's.

    A score of a label may be a mean over several models, such as a third.
    """
    return mean(scores) if task.has_spans else wilson(sum(scores), len(scores))


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
