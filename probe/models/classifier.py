"""One loaded model: pairs in, probabilities in our label order out."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import softmax
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

from probe.labels import LABELS, Label
from probe.pairs import Pair

Precision = Literal["auto", "fp32", "bf16"]
PADDED_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert"})
"""Architectures that number positions from padding_idx + 1 and pass over padding."""
UNUSED = re.compile(r"\[unused\d+\]|madeupword\d+|<extra_id_\d+>|<unk_\d+>")


def fast_bf16() -> bool:
    """Whether this machine multiplies bf16 natively; elsewhere it is 6 to 100 times slower."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # torch names no public test; these two are what its own kernels ask
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def resolve(precision: Precision) -> Literal["fp32", "bf16"]:
    """Return what `precision` means on this machine."""
    if precision == "auto":
        return "bf16" if fast_bf16() else "fp32"
    return precision


@dataclass(frozen=True)
class Prediction:
    """What the model says about a pair; probabilities follow `LABELS` and sum to one."""

    label: Label
    probabilities: tuple[float, ...]

    @property
    def confidence(self) -> float:
        """The largest probability."""
        return max(self.probabilities)


@dataclass(frozen=True)
class Classifier:
    """A sequence classifier with its tokenizer.

    `order[i]` is the label of the model's i-th output; `device` is where the model lies. One
    thread at a time runs the model, under `lock`: Captum hangs hooks on it that another thread's
    pass would set off.
    """

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    order: tuple[Label, ...]
    device: torch.device
    lock: AbstractContextManager[bool] = field(default_factory=RLock, compare=False, repr=False)

    @property
    def columns(self) -> list[int]:
        """Return where each of `LABELS` stands among the model's outputs."""
        return [self.order.index(label) for label in LABELS]

    @property
    def max_tokens(self) -> int:
        """The longest input in sub-words, special tokens included."""
        # Transformers marks "no limit" with an enormous number
        positions = getattr(self.model.config, "max_position_embeddings", 512)
        if self.model.config.model_type in PADDED_POSITIONS:
            positions -= 2  # padding_idx is 1
        return int(min(self.tokenizer.model_max_length, positions))

    @cached_property
    def vocabulary(self) -> tuple[int, ...]:
        """The ids of real sub-words: no special, no unused ones."""
        special = set(self.tokenizer.all_special_ids)
        return tuple(
            sorted(
                id_
                for token, id_ in self.tokenizer.get_vocab().items()
                if id_ not in special and not UNUSED.match(token)
            )
        )

    def decode(self, ids: Sequence[int]) -> str:
        """Turn sub-word ids into text."""
        text = self.tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=True
        )
        return str(text).strip()

    def sub_words(self, text: str) -> list[int]:
        """Turn text into sub-word ids, without special tokens."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def too_long(self, pair: Pair) -> bool:
        """Whether the pair has more sub-words than the model reads, so that its end is cut."""
        # a sub-word covers at least one byte, so most pairs need no second look
        if len((pair.premise + pair.hypothesis).encode()) + 4 <= self.max_tokens:
            return False
        ids = self.tokenizer(pair.premise, pair.hypothesis, truncation=False)["input_ids"]
        return len(ids) > self.max_tokens

    def encode(self, pairs: Sequence[Pair], max_tokens: int | None = None) -> BatchEncoding:
        """Tokenise pairs together, padded to the longest, longest side cut first."""
        encoded: BatchEncoding = self.tokenizer(
            [pair.premise for pair in pairs],
            [pair.hypothesis for pair in pairs],
            truncation="longest_first",
            max_length=max_tokens or self.max_tokens,
            padding=True,
            return_tensors="pt",
        )
        return encoded

    def logits(self, inputs: BatchEncoding | dict[str, torch.Tensor]) -> torch.Tensor:
        """Return logits in our label order, as float32.  # (batch, 3)"""
        moved = {name: value.to(self.device) for name, value in inputs.items()}
        logits: torch.Tensor = self.model(**moved).logits
        return logits[:, self.columns].float()

    def probabilities(
        self, pairs: Sequence[Pair], precision: Precision = "fp32", batch: int = 32
    ) -> NDArray[np.float64]:
        """Return the probabilities of the pairs, in their order.  # (pairs, 3)"""
        result = np.zeros((len(pairs), len(LABELS)))
        lengths = [len(pair.premise) + len(pair.hypothesis) for pair in pairs]
        for rows in by_length(lengths, batch):
            with self.lock, torch.inference_mode(), autocast(self.device, precision):
                logits = self.logits(self.encode([pairs[row] for row in rows]))
            result[rows] = softmax(logits.double(), dim=-1).cpu().numpy()
        return result

    def predict(
        self, pairs: Sequence[Pair], precision: Precision = "fp32", batch: int = 32
    ) -> list[Prediction]:
        """Classify pairs, in their order."""
        return [as_prediction(row) for row in self.probabilities(pairs, precision, batch)]


def as_prediction(probabilities: Iterable[float]) -> Prediction:
    """Turn one row of probabilities into a prediction; ties go to the earlier label."""
    values = tuple(float(value) for value in probabilities)
    return Prediction(LABELS[int(np.argmax(values))], values)


def autocast(device: torch.device, precision: Precision) -> torch.autocast:
    """Return the context in which a model runs at this precision."""
    return torch.autocast(device.type, torch.bfloat16, enabled=resolve(precision) == "bf16")


def by_length(lengths: Sequence[int], batch: int) -> Iterator[list[int]]:
    """Group row numbers into batches of like length, so that little padding is computed."""
    order = sorted(range(len(lengths)), key=lambda row: lengths[row], reverse=True)
    for start in range(0, len(order), batch):
        yield order[start : start + batch]
