"""What a model says about an example, read from its logits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probe.errors import ModelError
from probe.tasks.task import INVALID, Label

if TYPE_CHECKING:
    import torch


NO_NUMBERS = "the model's answers are no numbers (NaN): its weights are broken"


@dataclass(frozen=True)
class Prediction:
    """What a model says about an example; probabilities follow `labels` and sum to one at most.

    `labels` are the task's, or where the answer is a span the candidate answers. The label may be
    `INVALID`, which is one of them only where the model has a class for it.
    """

    label: Label
    probabilities: tuple[float, ...]
    labels: tuple[Label, ...]

    @property
    def confidence(self) -> float:
        """The largest probability."""
        return max(self.probabilities)

    @property
    def answer(self) -> Label:
        """The most probable label, also where the model does not give it as its answer."""
        if self.label in self.labels:
            return self.label
        return self.labels[self.probabilities.index(self.confidence)]

    @property
    def by_label(self) -> dict[Label, float]:
        """The probability of each label, in their order."""
        return dict(zip(self.labels, self.probabilities, strict=True))


def softmax(
    logits: NDArray[np.float64],  # (examples, labels)
    temperature: float = 1.0,
) -> NDArray[np.float64]:
    """Return the probabilities of logits that are divided by a temperature first.

    Raises ModelError where they are no numbers, as those of a training that went to pieces.
    """
    scaled = (logits - logits.max(axis=1, keepdims=True, initial=-np.inf)) / temperature
    powers = np.exp(scaled)
    probabilities: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    if np.isnan(probabilities).any():
        raise ModelError(NO_NUMBERS)
    return probabilities


def as_predictions(
    logits: NDArray[np.float64],  # (examples, labels)
    labels: tuple[Label, ...],
    temperature: float = 1.0,
    invalid_below: float = 0.0,
) -> list[Prediction]:
    """Turn logits into predictions; ties go to the earlier label.

    Less sure than `invalid_below` the label is `INVALID`.

    The label is that of the logits as they are, so that no temperature changes it: divided, two
    neighbours can become equal.
    """
    return [
        Prediction(labels[at] if max(row) >= invalid_below else INVALID, tuple(row), labels)
        for at, row in zip(
            logits.argmax(axis=1).tolist(), softmax(logits, temperature).tolist(), strict=True
        )
    ]


TEMPERATURE, INVALID_BELOW = "calibration_temperature", "invalid_below"
"""The entries of the config; `temperature` alone is transformers' own, for generated text."""


def read_temperature(config: Any) -> float:  # Any: transformers' configs take any attribute
    """Return a config's temperature, 1 where it has none. Raises ModelError for no such number."""
    value = _number(config, TEMPERATURE, 1.0)
    if value <= 0:
        raise ModelError(f"{TEMPERATURE} in the config must be above 0, and is {value}")
    return value


def read_invalid_below(config: Any) -> float:  # Any: as above
    """Return a config's threshold, 0 where it has none. Raises ModelError for no share."""
    value = _number(config, INVALID_BELOW, 0.0)
    if not 0 <= value <= 1:
        raise ModelError(f"{INVALID_BELOW} in the config must be from 0 to 1, and is {value}")
    return value


def write_temperature(config: Any, temperature: float) -> None:  # Any: as above
    """Keep a temperature in a config."""
    setattr(config, TEMPERATURE, temperature)


def write_invalid_below(config: Any, threshold: float) -> None:  # Any: as above
    """Keep a threshold in a config."""
    setattr(config, INVALID_BELOW, threshold)


def _number(config: Any, name: str, default: float) -> float:  # Any: as above
    value = getattr(config, name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ModelError(f"{name} in the config is no number: {value!r}")
    return float(value)


MAX_ANSWER_TOKENS = 30
"""The longest answer in sub-words."""
LOOKED_AT = 200
"""Spans among which the best ones that do not overlap are sought."""
Place = tuple[int, int] | None
"""The characters of the passage that a token stands for, None for one that is not of it."""


@dataclass(frozen=True)
class ScoredSpan:
    """A span in characters of the passage, and the sum of its two logits."""

    start: int
    end: int
    score: float


@dataclass(frozen=True)
class WindowSpans:
    """The best spans of a window, the best first; none where it holds nothing of the passage.

    `total` is the logarithm of the sum of the exponentials of all its spans' scores.
    """

    best: tuple[ScoredSpan, ...]
    total: float


def span_scores(start: torch.Tensor, end: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """Return the score of each span from a first to a last token, -inf for what is none.

    `start` and `end` are the logits, `inside` says which tokens are of the passage.
    # (rows, tokens) each -> (rows, first, last)
    """
    import torch

    steps = torch.arange(start.shape[1], device=start.device)
    distance = steps[None, :] - steps[:, None]
    allowed = (distance >= 0) & (distance < MAX_ANSWER_TOKENS)
    allowed = allowed[None] & inside[:, :, None] & inside[:, None, :]
    return (start[:, :, None] + end[:, None, :]).masked_fill(~allowed, -math.inf)


def best_spans(
    start: torch.Tensor, end: torch.Tensor, places: Sequence[Place], count: int
) -> WindowSpans:
    """Return the best spans of a window that do not overlap by its logits, of equal ones the first.

    `places` are those of the tokens, without padding.  # (tokens,)
    """
    import torch

    places = [*places, *[None] * (len(start) - len(places))]
    inside = torch.tensor([place is not None for place in places], device=start.device)
    scores = span_scores(start[None], end[None], inside[None]).flatten()
    best = list[ScoredSpan]()
    for at in torch.sort(scores, descending=True, stable=True).indices[:LOOKED_AT].tolist():
        first, last = places[at // len(places)], places[at % len(places)]
        if len(best) == count or not first or not last:
            break  # what follows is no span either
        if all(last[1] <= other.start or other.end <= first[0] for other in best):
            best.append(ScoredSpan(first[0], last[1], float(scores[at])))
    return WindowSpans(tuple(best), float(torch.logsumexp(scores, 0)))


def tokens_of(places: Sequence[Place], start: int, end: int) -> tuple[int, int] | None:
    """Return the first and the last token of the characters, None where they are not all there."""
    inside = [at for at, each in enumerate(places) if each and each[0] < end and each[1] > start]
    if not inside:
        return None
    first, last = places[inside[0]], places[inside[-1]]
    whole = first and last and first[0] <= start and last[1] >= end
    return (inside[0], inside[-1]) if whole else None
