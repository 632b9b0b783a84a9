"""What every loaded model of texts has: the network, its tokenizer, and who may run it when.

Examples are tokens without padding, and batches are made of such as are about equally long.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar

from probe.errors import ExampleError
from probe.models.architectures import Architecture, architecture
from probe.models.hardware import Bf16Copy, Precision, autocast, resolve
from probe.stopping import check_stop

if TYPE_CHECKING:
    import torch
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

ModelT = TypeVar("ModelT", bound="TextModel")
Batch = TypeVar("Batch")
Result = TypeVar("Result")
DEFAULT_MAX_TOKENS = 512
"""The longest input of a model without positions of its own; XLNet was trained on so many."""
WORDPIECE_LETTERS = 100
"""The longest word that WordPiece takes apart; a longer one is unknown to it."""
UNUSED_TOKEN = re.compile(r"\[unused\d+\]|madeupword\d+|<extra_id_\d+>|<unk_\d+>")
BATCH_TOKENS: Mapping[str, int] = {"cpu": 2048, "cuda": 16_384}
"""Of a scored batch, padding included: on a core more is not quicker, and a run is stopped between
two batches."""
SIDE_BY_SIDE_TOKENS = 1024
"""Of a batch that is scored beside others: as quick, and they take as much memory as one alone."""
BATCH_ROWS = 256
"""Of the shortest examples."""
FULL_TOKENS, SHORTER = 384, 0.8
"""A batch of so many tokens ends before an example that is shorter than this share of its longest:
few examples differ much in length, and padding them costs more than another batch."""


@dataclass(frozen=True)
class TokenRows:
    """The tokens of examples on one device, and the length of each example in tokens.

    Every input holds the tokens of all examples, one example after the other; `padding` is its
    value behind an example that is shorter than its batch, or before it with `left`.
    """

    inputs: Mapping[str, torch.Tensor]  # (all tokens, ...)
    padding: Mapping[str, int]
    left: bool
    lengths: Sequence[int]

    @property
    def device(self) -> torch.device:
        """Where the tokens lie."""
        import torch

        return next((value.device for value in self.inputs.values()), torch.device("cpu"))

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

    @cached_property
    def _bounds(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Where each example begins, and how long it is.  # (examples,) each"""
        import torch

        lengths = torch.tensor(self.lengths, device=self.device)
        return lengths.cumsum(0) - lengths, lengths

    def padded(self, rows: Sequence[int]) -> BatchEncoding:
        """Return the inputs of some examples, padded to their longest."""
        import torch
        from transformers import BatchEncoding

        at = torch.tensor(rows, device=self.device)
        starts, lengths = (each[at, None] for each in self._bounds)
        longest = max(self.lengths[row] for row in rows)
        before = longest - lengths if self.left else torch.zeros_like(lengths)
        positions = torch.arange(longest, device=self.device) - before
        is_token = (positions >= 0) & (positions < lengths)  # (rows, longest)
        index = torch.where(is_token, starts + positions, 0)
        padded = {}
        for name, value in self.inputs.items():
            values = value[index] if value.is_floating_point() else value[index].long()
            gaps = ~is_token.view(*is_token.shape, *[1] * (values.ndim - 2))
            padded[name] = values.masked_fill_(gaps, self.padding.get(name, 0))
        return BatchEncoding(padded)


def by_length(lengths: Sequence[int], batch: int) -> Iterator[list[int]]:
    """Group row numbers into batches of similar length, so that little padding is computed."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
    for start in range(0, len(order), batch):
        yield order[start : start + batch]


def by_tokens(
    lengths: Sequence[int], tokens: int, most_rows: int = BATCH_ROWS, equal: bool = False
) -> Iterator[list[int]]:
    """Group row numbers, the longest first, into batches of so many tokens, padding included.

    A row that is longer is a batch of its own; with `equal` no row of a batch is padded.
    """
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        longest = max(1, lengths[batch[0]]) if batch else 1
        full = len(batch) == most_rows or (len(batch) + 1) * longest > tokens
        shorter = len(batch) * longest >= FULL_TOKENS and lengths[row] < SHORTER * longest
        shorter |= equal and bool(batch) and lengths[row] != lengths[batch[0]]
        if batch and (full or shorter):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def embedding_rows(model: PreTrainedModel) -> int | None:
    """Return how many tokens a network has vectors for, None where it keeps no table of them."""
    try:
        return getattr(model.get_input_embeddings(), "num_embeddings", None)
    except NotImplementedError:  # CANINE hashes characters
        return None


@dataclass(frozen=True)
class TokenPlace:
    """A token of an example: its text's number among the task's, and where it stands in it."""

    text: int
    token: str
    id: int
    start: int
    end: int


def token_places(row: Any) -> list[TokenPlace | None]:  # Any: tokenizers leaves Encoding untyped
    """Return the place of each token of an encoded example, None where it is of no text."""
    each = zip(row.sequence_ids, row.tokens, row.ids, row.offsets, strict=True)
    return [
        TokenPlace(side, token, id_, *offset) if side is not None else None
        for side, token, id_, offset in each
    ]


@dataclass(frozen=True)
class Explainable:
    """The inputs of some examples, the place of each token, and the function that is explained.

    `places` has None for tokens of no text; padding at the end may be missing. `log_probability`
    takes the model, or it as it computes without gradients, and inputs like these, or several
    copies of them stacked, and returns for each example the logarithm of the probability of its
    label.  # (copies * batch,)

    A model that reads an example in several rows says in `units` which of the example's places
    each token of a row is, -1 for one of no text.
    """

    inputs: Mapping[str, torch.Tensor]  # (rows, tokens) each
    places: Sequence[Sequence[TokenPlace | None]]  # of each example
    # Any: a model of the type that made this
    log_probability: Callable[[Any, Mapping[str, torch.Tensor]], torch.Tensor]
    units: torch.Tensor | None = None  # (rows, tokens)

    @cached_property
    def numbers(self) -> torch.Tensor:
        """Which of its example's places each token is, -1 for one of no text.  # (rows, tokens)"""
        import torch

        if self.units is not None:
            return self.units
        rows, tokens = self.inputs["input_ids"].shape
        numbers = torch.full((rows, tokens), -1)
        for row, places in enumerate(self.places):
            of_text = torch.tensor([place is not None for place in places])
            numbers[row, : len(places)] = torch.where(of_text, torch.arange(len(places)), -1)
        return numbers

    @property
    def tokens(self) -> int:
        """How many tokens an example is to the network: those of all its rows, as of one text."""
        rows, tokens = self.inputs["input_ids"].shape
        if self.units is None:
            return len(self.places[0])
        return math.isqrt(len(self.places[0]) * rows * tokens // len(self.places))

    def summed(self, scores: torch.Tensor) -> torch.Tensor:
        """Add up what the tokens of each row have by place.  # (rows, tokens) -> (batch, places)"""
        import torch

        if self.units is None:
            return scores
        width = max(map(len, self.places))
        numbers = self.units.to(scores.device)
        at = torch.where(numbers >= 0, numbers, width).view(len(self.places), -1)
        total = torch.zeros(len(self.places), width + 1, device=scores.device, dtype=scores.dtype)
        return total.scatter_add(1, at, scores.reshape(len(self.places), -1))[:, :width]


def of_labels(scores: torch.Tensor, targets: torch.Tensor, against: torch.Tensor) -> torch.Tensor:
    """Return the score of each example's label, less that of another where there is one.

    `scores` may be of several copies of the examples.
    # (copies * batch, labels), (batch,), (batch,) or (0,) -> (copies * batch,)
    """

    def of(labels: torch.Tensor) -> torch.Tensor:
        copies = len(scores) // len(labels)
        return scores.gather(1, labels.repeat(copies)[:, None]).squeeze(1)

    return of(targets) - of(against) if len(against) else of(targets)


@dataclass(frozen=True)
class TextModel:
    """A network with its tokenizer.

    One caller at a time runs the model, under `lock`: Captum registers hooks on it, which would run
    in the passes of others. One thread at a time tokenises, under `tokenizer_lock`: a fast
    tokenizer keeps the padding and truncation of the last call, which would be those of another
    thread's texts. Nobody waits for a pass of the model to learn how long a text is.
    """

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    lock: AbstractContextManager[bool] = field(
        default_factory=RLock, compare=False, repr=False, kw_only=True
    )
    tokenizer_lock: AbstractContextManager[bool] = field(
        default_factory=Lock, compare=False, repr=False, kw_only=True
    )
    revision: str | None = field(default=None, kw_only=True)
    """The commit of a hub's model, None for one from a folder."""
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    """What a person should know of how it was read, each a sentence about it."""
    bf16: Bf16Copy = field(default_factory=Bf16Copy, init=False, compare=False, repr=False)

    @property
    def device(self) -> torch.device:
        """Where the network lies."""
        return self.model.device

    @property
    def batches_at_once(self) -> int:
        """How many batches `each` computes side by side in this thread."""
        from probe.models.hardware import batches_at_once

        several = self.device.type == "cpu" and self.architecture.stateless
        return batches_at_once() if several else 1

    @property
    def pads(self) -> bool:
        """Whether an answer stays the same where its example is padded to a longer one's length."""
        return self.architecture.ignores_padding and self.tokenizer.pad_token_id is not None

    def each_of_like_length(
        self: ModelT,
        precision: Precision,
        lengths: Sequence[int],
        compute: Callable[[ModelT, Sequence[int]], Result],
    ) -> Iterator[tuple[Sequence[int], Result]]:
        """Give what `each` gives of batches of rows, by the length of each row in tokens."""
        alone = self.batches_at_once == 1
        tokens = BATCH_TOKENS[self.device.type] if alone else SIDE_BY_SIDE_TOKENS
        rows = BATCH_ROWS if self.tokenizer.pad_token_id is not None else 1
        batches = by_tokens(lengths, tokens, rows, not self.architecture.ignores_padding)
        return self.each(precision, batches, compute)

    def each(
        self: ModelT,
        precision: Precision,
        batches: Iterable[Batch],
        compute: Callable[[ModelT, Batch], Result],
    ) -> Iterator[tuple[Batch, Result]]:
        """Give what a function of the model as it computes at a precision says of each batch.

        On a CPU some are computed side by side, where the architecture allows it. Between two such
        groups others may run the model. Raises Stopped there.
        """
        import torch

        from probe.models.hardware import side_by_side

        of_products: Precision = precision if self.architecture.word_table else "fp32"

        def answer(model: ModelT, batch: Batch) -> Result:  # in a thread of its own
            with torch.inference_mode(), autocast(self.model.device, of_products):
                return compute(model, batch)

        waiting = iter(batches)
        while group := list(islice(waiting, self.batches_at_once)):
            check_stop()
            with self.lock:
                answers = side_by_side(partial(answer, self.at(precision)), group)
            yield from zip(group, answers, strict=True)

    def at(self: ModelT, precision: Precision) -> ModelT:
        """Return the model as it computes at a precision, without gradients.

        In bf16 an encoder computes with a copy of its weights, a word model under autocast: what
        its layers keep between two words is fp32.
        """
        in_copy = resolve(precision) == "bf16" and not self.architecture.word_table
        network = self.scoring_model
        return replace(self, model=self.bf16.of(network) if in_copy else network)

    @property
    def scoring_model(self) -> PreTrainedModel:
        """The network without what its answers do not need; it shares all weights."""
        return self.model

    @property
    def bf16_bytes(self) -> int:
        """The size of the copy with which it computes in bf16; a word model has none."""
        bytes_each = 0 if self.architecture.word_table else 4  # as it is and as oneDNN reads it
        return bytes_each * sum(weight.numel() for weight in self.model.parameters())

    @property
    def architecture(self) -> Architecture:
        """The facts of the model's architecture."""
        return architecture(self.model.config.model_type)

    @property
    def max_tokens(self) -> int:
        """The longest input in sub-words, special tokens included."""
        # transformers marks "no limit" with a very large number
        positions = getattr(self.model.config, "max_position_embeddings", DEFAULT_MAX_TOKENS)
        if positions <= 0:  # XLNet has no limit and says so with -1
            positions = DEFAULT_MAX_TOKENS
        if self.architecture.padded_positions:
            positions -= 1 + int(self.model.config.pad_token_id)
        return int(min(self.tokenizer.model_max_length, positions))

    @property
    def splits_special(self) -> bool:
        """Whether a special token that a person typed is read as plain text.

        BART classifies at the last </s> and needs equally many of them in every pair.
        """
        return bool(self.model.config.is_encoder_decoder)

    @cached_property
    def vocabulary(self) -> tuple[int, ...]:
        """The ids of real sub-words: no special, no unused ones."""
        with self.tokenizer_lock:
            special, ids = set(self.tokenizer.all_special_ids), self.tokenizer.get_vocab()
        rows = embedding_rows(self.model) or max(ids.values(), default=0) + 1
        used = {id_ for token, id_ in ids.items() if not UNUSED_TOKEN.match(token)}
        return tuple(id_ for id_ in sorted(used - special) if id_ < rows)

    @cached_property
    def strangers(self) -> frozenset[int]:
        """The ids of tokens that the tokenizer has and the network no vector for."""
        rows = embedding_rows(self.model)
        if rows is None or len(self.tokenizer) <= rows:
            return frozenset()
        return frozenset(id_ for id_ in self.tokenizer.get_vocab().values() if id_ >= rows)

    @property
    def reads_letters(self) -> bool:
        """Whether it reads the letters of words, too, so that unknown ones differ."""
        return "character_ids" in self.tokenizer.model_input_names

    @cached_property
    def spells_ascii(self) -> bool:
        """Whether it puts together any word of ASCII characters from what its vocabulary has."""
        printed = map(chr, range(33, 127))
        return self.tokenizer.unk_token_id not in self.sub_words(
            " ".join(f"{character} zq{character}" for character in printed)
        )

    def unknown_share(self, texts: Iterable[str]) -> float:
        """Return the share of the tokens of some texts that the vocabulary has not, from 0 to 1."""
        whole, unknown = " ".join(texts), self.tokenizer.unk_token_id
        plain = whole.isascii() and max(map(len, whole.split()), default=0) <= WORDPIECE_LETTERS
        if unknown is None or (plain and self.spells_ascii):
            return 0.0
        ids = self.sub_words(whole)
        return ids.count(unknown) / max(1, len(ids))

    def decode(self, ids: Sequence[int]) -> str:
        """Turn sub-word ids into text."""
        with self.tokenizer_lock:
            text = self.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=True
            )
        return str(text).strip()

    def sub_words(self, text: str) -> list[int]:
        """Turn text into sub-word ids, without special tokens."""
        encoded = self.tokenise(text, add_special_tokens=False)
        return list(encoded["input_ids"])

    def tokenise(self, *texts: str | list[str], **options: Any) -> BatchEncoding:
        """Call the tokenizer. Any: each option has a type of its own.

        Raises ExampleError for a token that the network has no vector for.
        """
        with self.tokenizer_lock:
            encoded: BatchEncoding = self.tokenizer(
                *texts, split_special_tokens=self.splits_special, **options
            )
            if not self.strangers:
                return encoded
        ids = encoded["input_ids"]
        rows = ids.tolist() if hasattr(ids, "tolist") else ids
        flat = rows if not rows or isinstance(rows[0], int) else chain.from_iterable(rows)
        if unknown := self.strangers.intersection(flat):
            token = self.tokenizer.convert_ids_to_tokens(min(unknown))
            raise ExampleError(
                f"the tokenizer of {self.name!r} makes the token {token!r} of this text, and the "
                "model has no vector for it"
            )
        return encoded
