"""Pairs tokenised once for all epochs and cells, stored without padding."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from transformers import BatchEncoding, PreTrainedTokenizerBase

from finetune.training.losses import admissible
from probe.models.classifier import Classifier, Precision, autocast, by_length
from probe.models.word_models.word_tokenizer import CHARACTER_IDS
from probe.stopping import Stop, halt, never
from probe.tasks.task import Example

STORED_TYPES = {
    "input_ids": torch.int32,
    "token_type_ids": torch.uint8,
    "attention_mask": torch.uint8,
    CHARACTER_IDS: torch.uint8,
}
PAIRS_PER_CALL = 1000  # of the tokenizer
SCORING_BATCH = {"cpu": 32, "cuda": 256}
"""Pairs in a scored batch: more exceed a core's cache, and a run is stopped between two batches."""


@dataclass(frozen=True)
class Encoded:
    """Pairs as tensors on one device, their lengths in tokens and the labels right for each.

    Every input holds the tokens of all pairs, one pair after the other, integers in STORED_TYPES;
    `padding` is its value behind a pair that is shorter than its batch, or before it with `left`.
    """

    inputs: Mapping[str, torch.Tensor]  # (all tokens, ...)
    padding: Mapping[str, int]
    left: bool
    lengths: Sequence[int]
    admissible: torch.Tensor  # (pairs, labels), true where right

    @cached_property
    def starts(self) -> torch.Tensor:
        """Return where each pair begins.  # (pairs,)"""
        lengths = torch.tensor(self.lengths, device=self.admissible.device)
        return lengths.cumsum(0) - lengths

    @property
    def size(self) -> int:
        """The bytes of the inputs."""
        return sum(value.nbytes for value in self.inputs.values())

    @property
    def digest(self) -> str:
        """A hash of the inputs: equal where all inputs are."""
        digest = hashlib.sha256(repr(list(self.lengths)).encode())
        for name, value in self.inputs.items():
            digest.update(name.encode())
            digest.update(value.contiguous().cpu().numpy().tobytes())
        return digest.hexdigest()

    def first(self, pairs: int) -> "Encoded":
        """Return the first pairs alone."""
        return replace(self, lengths=self.lengths[:pairs], admissible=self.admissible[:pairs])

    def batch(self, rows: Sequence[int]) -> tuple[BatchEncoding, torch.Tensor]:
        """Return the inputs of some rows, padded to their longest, and their admissible labels."""
        row_numbers = torch.tensor(rows, device=self.admissible.device)
        lengths = torch.tensor([self.lengths[row] for row in rows], device=row_numbers.device)
        longest = max(self.lengths[row] for row in rows)
        padded = (longest - lengths)[:, None] if self.left else 0  # before a pair's first token
        positions = torch.arange(longest, device=row_numbers.device) - padded
        is_token = (positions >= 0) & (positions < lengths[:, None])  # (rows, longest)
        index = torch.where(is_token, self.starts[row_numbers, None] + positions, 0)
        inputs = {
            name: _fill(value[index], ~is_token, self.padding.get(name, 0))
            for name, value in self.inputs.items()
        }
        return BatchEncoding(inputs), self.admissible[row_numbers]


def _fill(
    values: torch.Tensor,  # (rows, longest, ...)
    gaps: torch.Tensor,  # (rows, longest)
    padding: int,
) -> torch.Tensor:
    values = values if values.is_floating_point() else values.long()
    return values.masked_fill_(gaps.view(*gaps.shape, *[1] * (values.ndim - 2)), padding)


def encode(
    classifier: Classifier, pairs: Sequence[Example], max_tokens: int, device: torch.device
) -> Encoded:
    """Tokenise pairs once for all epochs."""
    parts: dict[str, list[torch.Tensor]] = {}
    lengths: list[int] = []
    for start in range(0, len(pairs), PAIRS_PER_CALL):
        encoded = classifier.encode(pairs[start : start + PAIRS_PER_CALL], max_tokens)
        is_token = encoded["attention_mask"].bool()
        lengths += is_token.sum(1).tolist()
        for name, value in encoded.items():
            parts.setdefault(name, []).append(value[is_token].to(device, STORED_TYPES[name]))
    tokenizer = classifier.tokenizer
    return Encoded(
        {name: torch.cat(values) for name, values in parts.items()},
        paddings(tokenizer),
        tokenizer.padding_side == "left",
        lengths,
        admissible(pairs, classifier.task, classifier.labels).to(device),
    )


def paddings(tokenizer: PreTrainedTokenizerBase) -> Mapping[str, int]:
    """Return a tokenizer's padding of each input; 0 for inputs not named."""
    return {
        "input_ids": int(tokenizer.pad_token_id or 0),
        "token_type_ids": int(tokenizer.pad_token_type_id),
    }


def unscaled_logits(
    classifier: Classifier, data: Encoded, precision: Precision = "fp32", stop: Stop = never
) -> torch.Tensor:
    """Return the logits of each pair before any temperature, float32. Raises Cancelled.

    # (pairs, labels)
    """
    values = torch.zeros(data.admissible.shape, device=data.admissible.device)
    for rows in by_length(data.lengths, SCORING_BATCH[classifier.device.type]):
        halt(stop)
        inputs, _ = data.batch(rows)
        with torch.inference_mode(), autocast(classifier.device, precision):
            logits = classifier.unscaled_logits(inputs)
        values[rows] = logits.to(values.device)
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
