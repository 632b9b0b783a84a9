"""Shares and means with 95 % intervals, tests of differences, the bootstrap, and calibration.

SciPy and statsmodels load slowly, so that they are imported where an interval is computed: a worker
that only trains needs neither.

The calibration error (Gupta et al. 2021, calibration; Guo et al. 2017) has 15 bins of equal width
over the largest probability; an edge counts to the bin above it, and 1.0 to the last.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probe.first_import import first_import
from probe.tasks.task import Example, Label, Task
from probe.terms import Word

Array = NDArray[np.float64]
MEASURES: Mapping[str, Word] = {
    "agreement": Word(
        "Agreement",
        "How often the model gives a changed text the answer that it gave the original, or for a "
        "copy the default label.",
        "Of 240 pairs with sorted words 202 keep their answer: 84 %.",
    ),
    "confidence": Word(
        "Confidence",
        "The probability that the model gives its answer, on average over all texts.",
        "0.99 for one pair and 0.61 for another make 0.80.",
    ),
    "entropy": Word(
        "Entropy",
        "How evenly the model spreads its probability over the labels, as a share of the most that "
        "there can be, on average over all texts: low is sure.",
        "0.98, 0.01 and 0.01 make 10 %, three times a third 100 %.",
    ),
    "accuracy": Word(
        "Accuracy", "How often the answer is the gold label.", "216 of 240 are right: 90 %."
    ),
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


def exactly(value: float) -> Estimate:
    """Return a value that is no sample's, with itself as its interval."""
    return Estimate(value, value, value, 1)


@dataclass
class Share:
    """The sum of n values from 0 to 1, such as how many are true, and of their squares.

    Values of one text, such as of several changes of it, are not independent. Of the sum and the
    number of each text's values `clusters` has the sums of squares and of products, behind how many
    texts there are; such an interval is over texts (as `clustered`).
    """

    count: float = 0
    n: int = 0
    squares: float = 0
    clusters: tuple[int, float, float, int] = (0, 0.0, 0.0, 0)
    _last: tuple[Hashable, float, int] = (None, 0.0, 0)

    def add(self, value: float, text: Hashable = None) -> None:
        """Count one more; those of the same text, if it is named, follow each other."""
        self.count += value
        self.squares += value * value
        self.n += 1
        last, total, size = self._last
        if text is None or text != last:
            total, size = 0.0, 0
        now = total + value
        self.join(
            (not size, now * now - total * total, now * (size + 1) - total * size, 2 * size + 1)
        )
        self._last = text, now, size + 1

    def join(self, clusters: Sequence[float]) -> None:
        """Count more texts, of whose values the sums stand elsewhere."""
        texts, *sums, sizes = (a + b for a, b in zip(self.clusters, clusters, strict=True))
        self.clusters = int(texts), sums[0], sums[1], int(sizes)

    @property
    def is_clustered(self) -> bool:
        """Whether some texts have several values."""
        return self.clusters[-1] > self.n

    def estimate(self) -> Estimate:
        """Return the share of true values with Wilson's interval, or over texts."""
        return self._over_texts(wilson(self.count, self.n))

    def mean(self) -> Estimate:
        """Return the mean with Student's interval, or over texts, cut to [0, 1].

        n = 1 has the widest one.
        """
        if not self.n:
            return NOTHING
        middle = self.count / self.n
        deviations = max(0.0, self.squares - middle * self.count)
        return self._over_texts(_student(middle, deviations, self.n, 0.0, 1.0))

    def _over_texts(self, plain: Estimate) -> Estimate:
        if not self.is_clustered:
            return plain
        texts, totals, products, sizes = self.clusters
        mean, scale = plain.value, (texts / self.n) ** 2  # deviations of a text's sum, as its mean
        deviations = scale * (totals - 2 * mean * products + mean * mean * sizes)
        return widest(plain, _student(mean, max(0.0, deviations), texts, 0.0, 1.0))


def widest(*intervals: Estimate) -> Estimate:
    """Return the first of some estimates with an interval that covers those of all."""
    low, high = min(each.low for each in intervals), max(each.high for each in intervals)
    first = intervals[0]
    return Estimate(first.value, low, high, first.n)


def over_repeats(found: Estimate, repeats: Sequence[float]) -> Estimate:
    """Widen the interval of a mean over repeats, such as seeds, to what their own values ask for.

    All are about the same texts. One repeat does not tell how far others would be from it.
    """
    return widest(found, mean(repeats)) if found.n and len(repeats) > 1 else found


def share(hits: Sequence[bool]) -> Estimate:
    """Return the share of true values with Wilson's interval."""
    return wilson(sum(hits), len(hits))


def wilson(count: float, n: int) -> Estimate:
    """Return a share of n with Wilson's interval; the count behind a mean share may be no whole."""
    if not n:
        return NOTHING
    with first_import:
        from scipy.special import (
            ndtri,
        )  # there half a second before statsmodels

    value, z = count / n, -float(ndtri(0.025))
    scale = 1 + z**2 / n
    middle = (value + z**2 / (2 * n)) / scale
    half = z * math.sqrt(value * (1.0 - value) / n + z**2 / (4.0 * n**2)) / scale
    return Estimate(value, max(0.0, middle - half), min(1.0, middle + half), n)


def mean(values: Sequence[float], least: float = 0.0, most: float = 1.0) -> Estimate:
    """Return the mean with Student's interval, cut to what values can be."""
    if not values:
        return NOTHING
    middle = math.fsum(values) / len(values)
    return _student(middle, math.fsum((x - middle) ** 2 for x in values), len(values), least, most)


def _student(middle: float, deviations: float, n: int, least: float, most: float) -> Estimate:
    """Return a mean with its interval, from the sum of squared deviations."""
    if n == 1:
        return Estimate(middle, least, most, 1)
    with first_import:
        from scipy.special import stdtrit

    half = float(stdtrit(n - 1, 0.975)) * math.sqrt(deviations / (n - 1) / n)
    return Estimate(middle, max(least, middle - half), min(most, middle + half), n)


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


def averaged(several: Sequence[Estimate]) -> Estimate:
    """Return the mean of estimates over the same examples and of their bounds, as of several seeds.

    The interval is about the examples, of which n are the fewest.
    """
    known = [each for each in several if each.n]
    if not known:
        return NOTHING
    value, low, high = (
        fmean(getattr(each, end) for each in known) for end in ("value", "low", "high")
    )
    return Estimate(value, low, high, min(each.n for each in known))


def mean_share(repeats: Sequence[float], n: int) -> Estimate:
    """Return the mean share of repeats, each over the same n examples.

    The interval is over the examples, as if each were asked about once: what several changes make
    of one is not independent; and over the repeats (`over_repeats`).
    """
    value = fmean(repeats) if repeats else 0.0
    return over_repeats(wilson(value * n, n), repeats) if repeats else NOTHING


def spread(drawn: Sequence[Estimate]) -> float | None:
    """Return the standard deviation of such estimates, None of a single one."""
    values = [each.value for each in drawn if each.n]
    return stdev(values) if len(values) > 1 else None


def percent(estimate: Estimate, to: str = " to ") -> str:
    """Write a share with its interval, such as 81.3 % (78.0 to 84.2); a dash where n is 0."""
    if not estimate.n:
        return "–"
    return f"{100 * estimate.value:.1f} % ({interval(estimate, to)})"


def spread_words(value: float | None) -> str:
    """Say how far figures of several seeds lie apart, "" of one."""
    return "" if value is None or math.isnan(value) else f", ± {100 * value:.1f} by seed"


def interval(estimate: Estimate, to: str = " to ") -> str:
    """Write the two ends of an interval in per cent."""
    return f"{100 * estimate.low:.1f}{to}{100 * estimate.high:.1f}"


def joined_difference(first: Estimate, second: Estimate) -> Estimate:
    """Return second less first, their intervals joined as if independent (Newcombe 1998, 10)."""
    value = second.value - first.value
    down = math.hypot(second.value - second.low, first.high - first.value)
    up = math.hypot(second.high - second.value, first.value - first.low)
    return Estimate(value, value - down, value + up, min(first.n, second.n))


class Drawn(NamedTuple):
    """How many of n texts are right that one repeat drew from one source, such as a template."""

    repeat: Hashable
    source: Hashable
    right: float
    n: int


def clustered(drawn: Sequence[Drawn], n: int | None = None) -> Estimate:
    """Return a share right with an interval over repeats and sources at once.

    What one trained model says, and what is said of texts of one source, goes right or wrong
    together. The variance is that over repeats plus that over sources less that of their crossing
    (Cameron, Gelbach and Miller 2011), or the largest of these, which a few clusters ask for;
    Student's t has one degree less than the fewer of both. A bootstrap of two or five repeats would
    be too narrow (Cameron, Gelbach and Miller 2008); statsmodels has this for rows of a regression,
    of sums it is a few lines. Where one way has a single member the interval is over the other
    alone, where both have, the widest. It is never narrower than Wilson's of independent texts, `n`
    of them where repeats have the same.
    """
    if not (tested := sum(each.n for each in drawn)):
        return NOTHING
    plain = wilson((n or tested) * sum(each.right for each in drawn) / tested, n or tested)
    half, value = _half_interval([(1, drawn)]), plain.value
    return widest(plain, Estimate(value, max(0.0, value - half), min(1.0, value + half), plain.n))


def clustered_difference(first: Sequence[Drawn], second: Sequence[Drawn]) -> Estimate:
    """Return the second share less the first, with such an interval; repeats and sources pair."""
    apart = joined_difference(_as_if_independent(first), _as_if_independent(second))
    half = _half_interval([(-1, first), (1, second)])
    low, high = min(apart.low, apart.value - half), max(apart.high, apart.value + half)
    return Estimate(apart.value, max(-1.0, low), min(1.0, high), apart.n)


def _as_if_independent(drawn: Sequence[Drawn]) -> Estimate:
    """Return the share right with Wilson's interval, as if all texts were independent."""
    return wilson(sum(each.right for each in drawn), sum(each.n for each in drawn))


def _half_interval(parts: Sequence[tuple[int, Sequence[Drawn]]]) -> float:
    """Return half the interval of a sum of shares with their signs, infinity for no second member.

    Each way's deviations from the shares are summed by its clusters, each part's with the
    correction for as many clusters as it has.
    """
    ways: Sequence[slice] = (slice(0, 1), slice(1, 2), slice(0, 2))
    variances, members = list[float](), list[int]()
    for way in ways:
        sums, counts = defaultdict[Hashable, float](float), list[int]()
        for sign, drawn in parts:
            n, clusters = sum(each.n for each in drawn), {each[way] for each in drawn}
            value, k = sum(each.right for each in drawn) / n, len(clusters)
            scale = sign * math.sqrt(k / (k - 1)) / n if k > 1 else 0.0
            counts.append(k)
            for each in drawn:
                sums[each[way]] += scale * (each.right - value * each.n)
        variances.append(math.fsum(each * each for each in sums.values()))
        members.append(min(counts))
    if not (known := [k for k in members[:2] if k > 1]):
        return math.inf
    with first_import:
        from scipy.special import stdtrit

    repeats, sources, crossed = variances
    variance = max(repeats, sources, repeats + sources - crossed)
    return float(stdtrit(min(known) - 1, 0.975)) * math.sqrt(variance)


MAX_P = 0.05  # below which a difference is called one


def p_text(p: float) -> str:
    """Write a p value with three decimals."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def exact_p(only_first: int, only_second: int) -> float:
    """Return the two-sided p of the discordant counts (McNemar 1947; exact, binomial)."""
    with first_import:
        from statsmodels.stats.contingency_tables import mcnemar

    table = np.array([[0, only_first], [only_second, 0]])  # the concordant do not count
    return float(mcnemar(table, exact=True).pvalue)


def paired_p(first: Sequence[float], second: Sequence[float]) -> float:
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


def interval_p(found: Estimate) -> float:
    """Return the p-value that is 5 % where one end of the 95 % interval is 0 (normal)."""
    with first_import:
        from scipy.stats import norm

    spread = found.value - (found.low if found.value > 0 else found.high)
    if not spread:
        return 1.0 if not found.value else 0.0
    return float(2 * norm.sf(norm.ppf(0.975) * abs(found.value / spread)))


def adjusted(ps: Sequence[float]) -> list[float]:
    """Return p-values after the correction of Benjamini and Hochberg (1995) over all of them.

    Those that are not known stay NaN and count not.
    """
    with first_import:
        from scipy.stats import false_discovery_control

    corrected = np.array(ps, dtype=float)
    known = ~np.isnan(corrected)
    corrected[known] = false_discovery_control(corrected[known])
    return [float(p) for p in corrected]


DRAWN_AT_ONCE = 2_000_000
"""Counts of resamples that are drawn at once: 16 MB of them."""


def resampled_means(rows: Array, times: int, rng: np.random.Generator) -> Array:
    """Return the column means of bootstrap resamples of the rows.  # (times, columns)

    Rows that are alike are drawn together by a multinomial, which is the same distribution as
    drawing row by row and needs no (times, rows) array.
    """
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    shares, at_once = counts / len(rows), max(1, DRAWN_AT_ONCE // len(distinct))
    drawn = [
        rng.multinomial(len(rows), shares, size=min(at_once, times - done)) @ distinct / len(rows)
        for done in range(0, times, at_once)
    ]
    return np.concatenate(drawn)


RESAMPLES, SEED = 10_000, 0
TIE = 1e-9
"""Differences nearer to 0 than this are 0, whatever their rounding."""


@dataclass(frozen=True)
class PairedTest:
    """Whether two models differ on the same `n` examples, p two-sided; NaN where n is 0.

    `first_higher` and `second_higher` are the discordant counts: examples on which one's score is
    above the other's. McNemar's exact test has a p from the binomial distribution. The bootstrap
    of F1 has the mean `difference` of the first less the second with its percentile interval
    (95 %) over the resamples, and p is twice the smaller share of resamples in which it is at most,
    or at least, 0, each with one more resample on its side (Davison and Hinkley 1997, section 4.4).
    """

    n: int
    first_higher: int
    second_higher: int
    p: float
    name: Literal["mcnemar", "bootstrap"] = "mcnemar"
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def discordant(self) -> int:
        """On how many examples the scores of the two differ."""
        return self.first_higher + self.second_higher

    @property
    def turned_round(self) -> "PairedTest":
        """The same with the second model as the first."""
        counts, ends = (self.second_higher, self.first_higher), (-self.high, -self.low)
        return PairedTest(self.n, *counts, self.p, self.name, -self.difference, *ends)


def paired_bootstrap(differences: Sequence[float]) -> PairedTest:
    """Test whether the mean of the rows' differences is 0, with 10,000 resamples of the rows."""
    n = len(differences)
    if not n:
        return PairedTest(0, 0, 0, math.nan, "bootstrap")
    means = _resampled(tuple(sorted(Counter(differences).items())))
    tails = int((means <= TIE).sum()), int((means >= -TIE).sum())
    return PairedTest(
        n,
        sum(value > TIE for value in differences),
        sum(value < -TIE for value in differences),
        min(1.0, 2 * (min(tails) + 1) / (RESAMPLES + 1)),
        "bootstrap",
        math.fsum(differences) / n,
        *np.percentile(means, (2.5, 97.5)).tolist(),
    )


@lru_cache(maxsize=200)  # a page asks again for the same rows
def _resampled(counts: tuple[tuple[float, int], ...]) -> Array:
    """Return the mean difference of each resample, from how many rows have which difference."""
    values, sizes = zip(*counts, strict=True)
    rows = np.repeat(np.array(values, dtype=float), sizes)[:, None]
    return resampled_means(rows, RESAMPLES, np.random.default_rng(SEED))[:, 0]


BINS = 15
SAMPLES = 2000
"""Sets that are drawn anew for the interval of a calibration error."""
OFF = 0.05
"""Our line: a calibration error up to which a model counts as well calibrated."""
SMALLEST = float(np.finfo(np.float64).tiny)
"""No probability is taken to be smaller, so that a log loss stays finite."""


@dataclass(frozen=True)
class Bin:
    """The answers whose confidence lies between `low` and `high`; both means are 0 where n is 0."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """How well n answers are calibrated, as shares from 0 to 1.

    `brier` is the sum over the labels, from 0 to 2, mean over the examples; `log_loss` is in nats.
    """

    n: int
    accuracy: float
    confidence: float
    ece: float
    brier: float
    log_loss: float
    bins: tuple[Bin, ...]


def calibration(
    probabilities: Array,  # (examples, labels)
    admissible: NDArray[np.bool_],  # (examples, labels), true where right
    answers: NDArray[np.int64] | None = None,  # (examples,)
) -> Calibration:
    """Measure probabilities against the labels that are right.

    `answers` are the numbers of the labels that were given, by default the most probable. Labels
    that are only right together, as both others are for non-entailment, are one class: an answer is
    as sure as its class. Raises ValueError without examples, or where an example has no right
    label.
    """
    if not len(probabilities) or not admissible.any(axis=1).all():
        raise ValueError("calibration needs examples, each with a right label")
    given = probabilities.argmax(axis=1) if answers is None else answers
    # labels right of the same examples are of the class of the first; one never right is alone
    alike = (admissible[:, :, None] == admissible[:, None]).all(axis=0) & admissible.any(axis=0)
    first = (alike | np.eye(len(alike), dtype=bool)).argmax(axis=1)  # (labels,)
    classes, class_of = np.unique(first, return_inverse=True)
    given, admissible = class_of[given], admissible[:, classes]
    probabilities = probabilities @ (class_of[:, None] == np.arange(len(classes)))
    confidence = probabilities[np.arange(len(given)), given]
    bins = reliability(confidence, admissible[np.arange(len(given)), given])
    of_right = np.where(admissible, probabilities, 0).sum(axis=1)
    wrong = np.where(admissible, 0, probabilities)
    return Calibration(
        len(given),
        float(admissible[np.arange(len(given)), given].mean()),
        float(confidence.mean()),
        expected_calibration_error(bins),
        float(((1 - of_right) ** 2 + (wrong**2).sum(axis=1)).mean()),
        float(-np.log(np.clip(of_right, SMALLEST, 1)).mean()),
        bins,
    )


def expected_calibration_error(bins: Sequence[Bin]) -> float:
    """Return the mean over all answers of |confidence - accuracy| of their bin."""
    errors = math.fsum(each.n * abs(each.confidence - each.accuracy) for each in bins)
    return errors / sum(each.n for each in bins)


@dataclass(frozen=True)
class CalibrationError:
    """A calibration error with its interval, and those that chance alone gives.

    `chance` is what perfectly calibrated answers, as sure and as many, come to on average, with the
    bounds of 95 % of them. Where many answers are spread thinly over the bins it is not small.
    """

    found: Estimate
    chance: Estimate

    @property
    def is_fault(self) -> bool:
        """Whether it is beyond what chance gives, and larger than we let pass."""
        return self.found.value > max(OFF, self.chance.high)

    @property
    def is_small(self) -> bool:
        """Whether it is so small that it speaks for the model: chance could have shown more."""
        return self.found.value <= OFF and self.chance.high <= OFF

    @property
    def beside(self) -> str:
        """Its interval, and what chance alone gives, in points."""
        return f"{interval(self.found)}; {100 * self.chance.value:.1f} by chance alone"


def mean_error(measured: Sequence[Calibration], seed: int = 0) -> CalibrationError:
    """Return the mean calibration error of repeats, with the means of their bounds."""
    means = np.mean([_error(each, seed) for each in measured], axis=0)  # (2, 3)
    found, chance = (
        Estimate(value, low, high, measured[0].n) for value, low, high in means.tolist()
    )
    return CalibrationError(found, chance)


def _error(measured: Calibration, seed: int) -> Array:
    """Return the error, and what it is where answers are right as often as their bin is sure.

    Each with the ends of its interval.  # (2, 3)
    For the first, answers are drawn by bin and whether they are right; each has its bin's mean
    confidence. An error is never below 0, so that chance alone makes that of a drawn set larger:
    the bootstrap's interval is moved by as much.
    """
    n, confidence, accuracy = np.array([(b.n, b.confidence, b.accuracy) for b in measured.bins]).T
    shares = np.concatenate([n * accuracy, n * (1 - accuracy)]).clip(min=0) / measured.n
    drawn = np.random.default_rng(seed).multinomial(measured.n, shares / shares.sum(), SAMPLES)
    right, wrong = np.split(drawn, 2, axis=1)  # (samples, bins)
    errors = np.abs((right + wrong) * confidence - right).sum(axis=1) / measured.n
    low, high = np.quantile(errors, [0.025, 0.975]) - (errors.mean() - measured.ece)
    right = np.random.default_rng(seed).binomial(n.astype(np.int64), confidence, (SAMPLES, BINS))
    by_chance = np.abs(right - n * confidence).sum(axis=1) / measured.n
    ends = np.quantile(by_chance, [0.025, 0.975])
    return np.array([(measured.ece, max(0.0, low), high), (by_chance.mean(), *ends)])


def reliability(
    confidence: Array,  # (examples,)
    correct: NDArray[np.bool_],  # (examples,)
) -> tuple[Bin, ...]:
    """Return the bins of a reliability diagram, lowest first."""
    places, bins = np.minimum(confidence * BINS, BINS - 1).astype(np.int64), []
    for at in range(BINS):
        own = places == at
        means = [float(each[own].mean()) if own.any() else 0.0 for each in (confidence, correct)]
        bins.append(Bin(at / BINS, (at + 1) / BINS, int(own.sum()), *means))
    return tuple(bins)


def first_bin(bins: Sequence[Bin], labels: int) -> int:
    """Return the bin from which on answers can lie: of some labels the surest is not below 1/n."""
    lowest = next((at for at, each in enumerate(bins) if each.n), BINS - 1)
    return min(lowest, BINS // labels)


def pooled(repeats: Sequence[Sequence[Bin]]) -> tuple[Bin, ...]:
    """Return the bins of the answers of all repeats together."""
    together = []
    for same in zip(*repeats, strict=True):
        n = sum(each.n for each in same)
        sums = [(each.n * each.confidence, each.n * each.accuracy) for each in same]
        means = [sum(values) / max(1, n) for values in zip(*sums, strict=True)]
        together.append(Bin(same[0].low, same[0].high, n, *means))
    return tuple(together)
