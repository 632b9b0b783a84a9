"""Pairs tokenised once for all epochs: tensors on the training device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from transformers import BatchEncoding

from finetune.train import targets
from probe.models.classifier import Classifier, by_length
from probe.models.vocabulary import CHARACTERS
from probe.pairs import Pair

SMALL = {
    "input_ids": torch.int32,
    "token_type_ids": torch.uint8,
    "attention_mask": torch.uint8,
    CHARACTERS: torch.uint8,
}


@dataclass(frozen=True)
class Encoded:
    """Pairs as tensors on the training device, their lengths in tokens and gold labels."""

    inputs: Mapping[str, torch.Tensor]  # (pairs, tokens), small integers
    lengths: Sequence[int]
    targets: torch.Tensor  # (pairs,)

    def batch(self, rows: Sequence[int]) -> tuple[BatchEncoding, torch.Tensor]:
        """Return the inputs of some rows, cut to their longest, and their labels."""
        longest = max(self.lengths[row] for row in rows)
        chosen = torch.tensor(rows, device=self.targets.device)
        inputs = {name: value[chosen, :longest].long() for name, value in self.inputs.items()}
        return BatchEncoding(inputs), self.targets[chosen]


def encode(
    classifier: Classifier, pairs: Sequence[Pair], max_tokens: int, device: torch.device
) -> Encoded:
    """Tokenise pairs once for all epochs."""
    parts: list[dict[str, torch.Tensor]] = []
    for begin in range(0, len(pairs), 1000):
        chunk = pairs[begin : begin + 1000]
        encoded = classifier.tokenizer(
            [pair.premise for pair in chunk],
            [pair.hypothesis for pair in chunk],
            truncation="longest_first",
            max_length=max_tokens,
            padding="max_length",
            return_tensors="pt",
        )
        parts.append({name: value.to(device, SMALL[name]) for name, value in encoded.items()})
    inputs = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
    lengths: list[int] = inputs["attention_mask"].sum(1).tolist()
    return Encoded(inputs, lengths, targets(pairs).to(device))


@torch.inference_mode()
def score(classifier: Classifier, data: Encoded, batch: int = 256) -> float:
    """Return the accuracy on encoded pairs."""
    hits = 0
    for rows in by_length(data.lengths, batch):
        inputs, labels = data.batch(rows)
        hits += int((classifier.logits(inputs).argmax(1) == labels).sum())
    return hits / len(data.lengths)
