"""How far confidence and accuracy are apart (Gupta et al. 2021, section 4; Guo et al. 2017).

The expected calibration error has 15 bins of equal width over the largest probability. Torchmetrics
counts an edge to the bin above it, the released code to the one below, and torchmetrics would give
a probability of exactly 1.0 a sixteenth bin of its own: here it counts to the last of the 15.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probe.first_import import first_import
from probe.metrics import Estimate

BINS = 15
SAMPLES = 2000
"""Sets that are drawn anew for an interval."""
OFF = 0.05
"""Our line: a calibration error up to which a model counts as well calibrated."""
BELOW_ONE = float(np.nextafter(np.float32(1), np.float32(0)))
"""The largest probability below 1.0, in torchmetrics' precision."""
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
    probabilities: NDArray[np.float64],  # (examples, labels)
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
    first = [_class_of(admissible, label) for label in range(admissible.shape[1])]
    classes, class_of = np.unique(first, return_inverse=True)
    given, admissible = class_of[given], admissible[:, classes]
    probabilities = probabilities @ (class_of[:, None] == np.arange(len(classes)))
    confidence = probabilities[np.arange(len(given)), given]
    correct = admissible[np.arange(len(given)), given]
    of_right = np.where(admissible, probabilities, 0).sum(axis=1)
    wrong = np.where(admissible, 0, probabilities)
    return Calibration(
        len(given),
        float(correct.mean()),
        float(confidence.mean()),
        expected_calibration_error(confidence, correct),
        float(((1 - of_right) ** 2 + (wrong**2).sum(axis=1)).mean()),
        float(-np.log(np.clip(of_right, SMALLEST, 1)).mean()),
        reliability(confidence, correct),
    )


def _class_of(admissible: NDArray[np.bool_], label: int) -> int:
    """Return the first label that is right of the same examples; a label never right stands alone.

    # (examples, labels)
    """
    if not admissible[:, label].any():
        return label
    return int((admissible == admissible[:, [label]]).all(axis=0).argmax())


def expected_calibration_error(
    confidence: NDArray[np.float64],  # (examples,)
    correct: NDArray[np.bool_],  # (examples,)
) -> float:
    """Return the mean over all examples of |confidence - accuracy| of their bin."""
    with first_import:
        import torch
        from torchmetrics.functional.classification import binary_calibration_error

    # the binary error is that of a probability and whether what it was given to is so
    shares = torch.from_numpy(np.minimum(confidence, BELOW_ONE)).float()
    outcomes = torch.from_numpy(correct.astype(np.int64))
    return float(binary_calibration_error(shares, outcomes, n_bins=BINS, norm="l1"))


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
        low, high = (f"{100 * end:.1f}" for end in (self.found.low, self.found.high))
        return f"{low} to {high}; {100 * self.chance.value:.1f} by chance alone"


def mean_error(measured: Sequence[Calibration], seed: int = 0) -> CalibrationError:
    """Return the mean calibration error of repeats, with the means of their bounds."""
    found = [_drawn_anew(each, seed) for each in measured]
    chance = [_by_chance(each, seed) for each in measured]
    return CalibrationError(_mean(found), _mean(chance))


def _mean(each: Sequence[Estimate]) -> Estimate:
    value, low, high = np.mean([(one.value, one.low, one.high) for one in each], axis=0).tolist()
    return Estimate(value, low, high, each[0].n)


def _drawn_anew(measured: Calibration, seed: int) -> Estimate:
    """Return the error with a bootstrap's interval, moved by what drawn errors are too large.

    Answers are drawn by bin and whether they are right; each has its bin's mean confidence. An
    error is never below 0, so that chance alone makes that of a drawn set larger.
    """
    n, confidence, accuracy = _columns(measured)
    shares = np.concatenate([n * accuracy, n * (1 - accuracy)]).clip(min=0) / measured.n
    drawn = np.random.default_rng(seed).multinomial(measured.n, shares / shares.sum(), SAMPLES)
    hits, misses = np.split(drawn, 2, axis=1)  # (samples, bins)
    errors = np.abs((hits + misses) * confidence - hits).sum(axis=1) / measured.n
    low, high = np.quantile(errors, [0.025, 0.975]) - (errors.mean() - measured.ece)
    return Estimate(measured.ece, max(0.0, float(low)), float(high), measured.n)


def _by_chance(measured: Calibration, seed: int) -> Estimate:
    """Return what the error is where answers are right as often as their bin is sure."""
    n, confidence, _ = _columns(measured)
    hits = np.random.default_rng(seed).binomial(n.astype(np.int64), confidence, (SAMPLES, BINS))
    errors = np.abs(hits - n * confidence).sum(axis=1) / measured.n
    low, high = np.quantile(errors, [0.025, 0.975])
    return Estimate(float(errors.mean()), float(low), float(high), measured.n)


def _columns(measured: Calibration) -> NDArray[np.float64]:
    """Return n, confidence and accuracy of the bins.  # (3, bins)"""
    return np.array([(each.n, each.confidence, each.accuracy) for each in measured.bins]).T


def reliability(
    confidence: NDArray[np.float64],  # (examples,)
    correct: NDArray[np.bool_],  # (examples,)
) -> tuple[Bin, ...]:
    """Return the bins of a reliability diagram, lowest first."""
    places = np.minimum(confidence * BINS, BINS - 1).astype(np.int64)
    return tuple(_bin(at, confidence[places == at], correct[places == at]) for at in range(BINS))


def _bin(at: int, confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> Bin:
    n = len(confidence)
    means = (float(confidence.mean()), float(correct.mean())) if n else (0.0, 0.0)
    return Bin(at / BINS, (at + 1) / BINS, n, *means)


def first_bin(bins: Sequence[Bin], labels: int) -> int:
    """Return the bin from which on answers can lie: of some labels the surest is not below 1/n."""
    lowest = next((at for at, each in enumerate(bins) if each.n), BINS - 1)
    return min(lowest, BINS // labels)


def in_words(each: Bin) -> str:
    """Say how often the answers of a bin are right."""
    return (
        f"sure by {each.low:.2f} to {each.high:.2f}: right on {100 * each.accuracy:.0f} % of "
        f"{each.n:,}"
    )
