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

from probe.models.architectures import Architecture, architecture
from probe.tasks.examples import Pair
from probe.tasks.nli import NON_ENTAILMENT, WAYS, Gold

Precision = Literal["auto", "fp32", "bf16"]
DEFAULT_TOKENS = 512
"""The longest input of a model without positions of its own; XLNet was trained on so many."""
SPECIAL_TOKENS = 4  # at most, around and between two texts
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
    """What the model says about a pair; probabilities follow `labels` and sum to one."""

    label: Gold
    probabilities: tuple[float, ...]

    @property
    def labels(self) -> tuple[Gold, ...]:
        """What the model tells apart: our three labels, or two with two of them merged."""
        return WAYS[len(self.probabilities)]

    @property
    def confidence(self) -> float:
        """The largest probability."""
        return max(self.probabilities)


@dataclass(frozen=True)
class Classifier:
    """A sequence classifier with its tokenizer.

    `order[i]` is the label of the model's i-th output; `device` is where the model lies;
    `revision` is the commit of a hub's model, None for one from a folder. One thread at a time
    runs the model, under `lock`: Captum hangs hooks on it that another thread's pass would set off.
    """

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    order: tuple[Gold, ...]
    device: torch.device
    revision: str | None = None
    lock: AbstractContextManager[bool] = field(default_factory=RLock, compare=False, repr=False)

    @property
    def architecture(self) -> Architecture:
        """What is known of the model's architecture."""
        return architecture(self.model.config.model_type)

    @property
    def columns(self) -> list[int]:
        """Return where each of `labels` stands among the model's outputs."""
        return [self.order.index(label) for label in self.labels]

    @property
    def labels(self) -> tuple[Gold, ...]:
        """What it tells apart, in our order: the last axis of logits and probabilities."""
        return WAYS[len(self.order)]

    def nearest(self, label: Gold) -> Gold:
        """Return the label under which this model counts one: it may have merged two."""
        return label if label in self.labels else NON_ENTAILMENT

    @property
    def max_tokens(self) -> int:
        """The longest input in sub-words, special tokens included."""
        # Transformers marks "no limit" with an enormous number
        positions = getattr(self.model.config, "max_position_embeddings", DEFAULT_TOKENS)
        if positions <= 0:  # XLNet's way of saying that there is no limit
            positions = DEFAULT_TOKENS
        if self.architecture.padded_positions:
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
        found = self.tokenizer(
            text, add_special_tokens=False, split_special_tokens=self.splits_special
        )
        return list(found["input_ids"])

    @property
    def splits_special(self) -> bool:
        """Whether a special token that a person typed is read as plain text.

        BART answers at the last </s> and wants as many of them in every pair.
        """
        return bool(self.model.config.is_encoder_decoder)

    def too_long(self, pair: Pair) -> bool:
        """Whether the pair has more sub-words than the model reads, so that its end is cut."""
        # a sub-word covers at least one ASCII character, or the blank that SentencePiece puts
        # before a text, so most pairs need no second look; others may be normalised into many
        both = pair.premise + pair.hypothesis
        if both.isascii() and len(both) + 2 + SPECIAL_TOKENS <= self.max_tokens:
            return False
        whole = self.tokenizer(
            pair.premise,
            pair.hypothesis,
            truncation=False,
            split_special_tokens=self.splits_special,
        )
        return len(whole["input_ids"]) > self.max_tokens

    def encode(self, pairs: Sequence[Pair], max_tokens: int | None = None) -> BatchEncoding:
        """Tokenise pairs together, padded to the longest, longest side cut first."""
        encoded: BatchEncoding = self.tokenizer(
            [pair.premise for pair in pairs],
            [pair.hypothesis for pair in pairs],
            truncation="longest_first",
            max_length=max_tokens or self.max_tokens,
            padding=True,
            split_special_tokens=self.splits_special,
            return_token_type_ids=self.architecture.segment_ids or None,
            return_tensors="pt",
        )
        return encoded

    def logits(self, inputs: BatchEncoding | dict[str, torch.Tensor]) -> torch.Tensor:
        """Return logits in our label order, as float32.  # (batch, labels)"""
        moved = {name: value.to(self.device) for name, value in inputs.items()}
        logits: torch.Tensor = self.model(**moved).logits
        return logits[:, self.columns].float()

    def probabilities(
        self, pairs: Sequence[Pair], precision: Precision = "fp32", batch: int = 32
    ) -> NDArray[np.float64]:
        """Return the probabilities of the pairs, in their order.  # (pairs, labels)"""
        result = np.zeros((len(pairs), len(self.labels)))
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
    return Prediction(WAYS[len(values)][int(np.argmax(values))], values)


def autocast(device: torch.device, precision: Precision) -> torch.autocast:
    """Return the context in which a model runs at this precision."""
    return torch.autocast(device.type, torch.bfloat16, enabled=resolve(precision) == "bf16")


def by_length(lengths: Sequence[int], batch: int) -> Iterator[list[int]]:
    """Group row numbers into batches of like length, so that little padding is computed."""
    order = sorted(range(len(lengths)), key=lambda row: lengths[row], reverse=True)
    for start in range(0, len(order), batch):
        yield order[start : start + batch]
