"""What a model says about an example, read from its logits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probe.errors import ModelError
from probe.tasks.task import INVALID, Label


@dataclass(frozen=True)
class Prediction:
    """What a model says about an example; probabilities follow `labels` and sum to one at most.

    `labels` are the task's, or where the answer is a span the candidate answers. The label may be
    `INVALID`, which is one of them only where the model has a class for it. Where a file tells the
    answer alone there are no probabilities.
    """

    label: Label
    probabilities: tuple[float, ...]
    labels: tuple[Label, ...]

    @property
    def confidence(self) -> float:
        """The largest probability, NaN where none is known."""
        return max(self.probabilities, default=math.nan)

    @property
    def sure(self) -> str:
        """The confidence as it is shown, or that there is none."""
        return f"{self.confidence:.2f}" if self.probabilities else "no confidence"

    @property
    def entropy(self) -> float:
        """How evenly the probabilities are spread: 0 all on one label, 1 the same on each.

        Shannon's entropy divided by the largest that there is, the logarithm of the labels' number.
        """
        if len(self.probabilities) < 2:
            return 0.0
        terms = (p * math.log(p) for p in self.probabilities if p > 0)
        return min(1.0, max(0.0, -math.fsum(terms) / math.log(len(self.probabilities))))

    @property
    def answer(self) -> Label:
        """The most probable label, also where the model does not give it as its answer."""
        if self.label in self.labels:
            return self.label
        return self.labels[self.probabilities.index(self.confidence)]

    @property
    def by_label(self) -> dict[Label, float]:
        """The probability of each label, in their order; empty where none is known."""
        return dict(zip(self.labels, self.probabilities, strict=bool(self.probabilities)))


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
        raise ModelError("the model's answers are no numbers (NaN): its weights are broken")
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
TEXTS_CHANGED = "trained_on_texts_changed_by"
"""The entry that names what changed every text that a model was trained on."""


def read_temperature(config: Any) -> float:  # Any: transformers' configs take any attribute
    """Return a config's temperature, 1 where it has none. Raises ModelError for no such number."""
    return _number(config, TEMPERATURE, 1.0, "above 0", lambda value: value > 0)


def read_invalid_below(config: Any) -> float:  # Any: as above
    """Return a config's threshold, 0 where it has none. Raises ModelError for no share."""
    return _number(config, INVALID_BELOW, 0.0, "from 0 to 1", lambda value: 0 <= value <= 1)


def _number(
    config: Any, name: str, default: float, bounds: str, within: Callable[[float], bool]
) -> float:
    value = getattr(config, name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ModelError(f"{name} in the config is no number: {value!r}")
    if not within(value):
        raise ModelError(f"{name} in the config must be {bounds}, and is {float(value)}")
    return float(value)
