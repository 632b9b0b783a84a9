"""Examples tokenised once for all epochs and cells, with the labels that are right for each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from transformers import BatchEncoding

from finetune.training.losses import admissible
from probe.models.classifier import Classifier, Precision
from probe.models.text_model import TokenRows
from probe.stopping import Stop, halt, never
from probe.tasks.task import Example


@dataclass(frozen=True)
class Encoded(TokenRows):
    """Examples as tensors on one device, and the labels right for each."""

    admissible: torch.Tensor  # (examples, labels), true where right

    def first(self, examples: int) -> "Encoded":
        """Return the first examples alone."""
        return replace(self, lengths=self.lengths[:examples], admissible=self.admissible[:examples])

    def batch(self, rows: Sequence[int]) -> tuple[BatchEncoding, torch.Tensor]:
        """Return the inputs of some rows, padded to their longest, and their admissible labels."""
        return self.padded(rows), self.admissible[torch.tensor(rows, device=self.device)]


def encode(
    classifier: Classifier, examples: Sequence[Example], max_tokens: int, device: torch.device
) -> Encoded:
    """Tokenise examples once for all epochs."""
    rows = classifier.token_rows(examples, max_tokens)
    return Encoded(
        {name: value.to(device) for name, value in rows.inputs.items()},
        rows.padding,
        rows.left,
        rows.lengths,
        admissible(examples, classifier.task, classifier.labels).to(device),
    )


def unscaled_logits(
    classifier: Classifier, data: Encoded, precision: Precision = "fp32", stop: Stop = never
) -> torch.Tensor:
    """Return the logits of each pair before any temperature, float32. Raises Cancelled.

    # (pairs, labels)
    """
    values = torch.zeros(data.admissible.shape, device=data.admissible.device)

    def logits(model: Classifier, rows: Sequence[int]) -> torch.Tensor:
        halt(stop)
        return model.unscaled_logits(data.padded(rows))

    for rows, several in classifier.each_of_like_length(precision, data.lengths, logits):
        values[rows] = several.to(values.device)
    return values


def predictions(
    classifier: Classifier, data: Encoded, precision: Precision = "fp32", stop: Stop = never
) -> torch.Tensor:
    """Return for each pair the number of the label predicted. Raises Cancelled.  # (pairs,)"""
    return unscaled_logits(classifier, data, precision, stop).argmax(1)


def correct(data: Encoded, labels: torch.Tensor) -> tuple[bool, ...]:
    """Return for each pair whether the label of this number is right; never without a gold."""
    return tuple(data.admissible.gather(1, labels[:, None]).squeeze(1).tolist())


def accuracy(outcomes: Sequence[bool]) -> float:
    """Return the share of correct outcomes."""
    return sum(outcomes) / len(outcomes)


def score(
    classifier: Classifier, data: Encoded, precision: Precision = "fp32", stop: Stop = never
) -> float:
    """Return the accuracy on encoded pairs. Raises Cancelled."""
    return accuracy(correct(data, predictions(classifier, data, precision, stop)))
