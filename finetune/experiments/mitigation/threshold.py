"""The confidence below which an answer is taken back (Gupta et al. 2021, section 5)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP, TOLERANCE = 0.001, 0.03
"""The grid's step, and the clean accuracy that may be lost, a rejected example being an error."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Threshold:
    """A threshold, the clean accuracy that is left, and the share of invalid texts it finds."""

    value: float
    accuracy: float
    found: float


def grid(labels: int) -> NDArray[np.float64]:
    """Return the thresholds from 1 / labels to 1: 667 for three labels, 501 for two."""
    steps = math.floor((1 - 1 / labels) / STEP + ROUNDING)
    return np.linspace(1 / labels, 1 / labels + steps * STEP, steps + 1)


def best_threshold(
    confidence: NDArray[np.float64],  # (clean examples,)
    correct: NDArray[np.bool_],  # (clean examples,)
    invalid: NDArray[np.float64],  # (invalid texts,) confidence
    labels: int,
    tolerance: float = TOLERANCE,
) -> Threshold:
    """Return the threshold that finds most invalid texts of those that cost at most `tolerance`.

    Of several that find as many the smallest. The first of the grid rejects nothing.
    """
    kept = np.sort(confidence[correct])
    doubted = np.sort(invalid)
    thresholds = grid(labels)
    # those below a threshold are invalid, so that those at it are not counted
    lost = np.searchsorted(kept, thresholds, side="left")
    found = np.searchsorted(doubted, thresholds, side="left")
    allowed = lost <= tolerance * len(confidence) + ROUNDING
    at = int(np.argmax(np.where(allowed, found, -1)))
    accuracy = (len(kept) - int(lost[at])) / len(confidence)
    return Threshold(float(thresholds[at]), accuracy, int(found[at]) / max(1, len(doubted)))
