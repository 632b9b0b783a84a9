"""What a model says about an example, read from its logits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probe.errors import ModelError
from probe.tasks.task import INVALID, Label

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
