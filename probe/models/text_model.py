"""What every loaded model of texts has: the network, its tokenizer, and who may run it when."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar

from probe.errors import ExampleError
from probe.models.architectures import Architecture, architecture
from probe.models.hardware import Bf16Copy, Precision, autocast, copy_bytes, resolve
from probe.models.inputs import (
    BATCH_ROWS,
    BATCH_TOKENS,
    SIDE_BY_SIDE_TOKENS,
    by_tokens,
    embedding_rows,
)
from probe.stopping import check_stop

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

ModelT = TypeVar("ModelT", bound="TextModel")
Batch = TypeVar("Batch")
Result = TypeVar("Result")
DEFAULT_MAX_TOKENS = 512
"""The longest input of a model without positions of its own; XLNet was trained on so many."""
WORDPIECE_LETTERS = 100
"""The longest word that WordPiece takes apart; a longer one is unknown to it."""
UNUSED_TOKEN = re.compile(r"\[unused\d+\]|madeupword\d+|<extra_id_\d+>|<unk_\d+>")


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
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    """What a person should know of how it was read, each a sentence about it."""
    bf16: Bf16Copy = field(default_factory=Bf16Copy, init=False, compare=False, repr=False)

    @property
    def batches_at_once(self) -> int:
        """How many batches `each` computes side by side in this thread."""
        from probe.models.hardware import batches_at_once

        several = self.model.device.type == "cpu" and self.architecture.stateless
        return batches_at_once() if several else 1

    def each_of_like_length(
        self: ModelT,
        precision: Precision,
        lengths: Sequence[int],
        compute: Callable[[ModelT, Sequence[int]], Result],
    ) -> Iterator[tuple[Sequence[int], Result]]:
        """Give what `each` gives of batches of rows, by the length of each row in tokens."""
        alone = self.batches_at_once == 1
        tokens = BATCH_TOKENS[self.model.device.type] if alone else SIDE_BY_SIDE_TOKENS
        rows = BATCH_ROWS if self.tokenizer.pad_token_id is not None else 1
        batches = by_tokens(lengths, tokens, rows, not self.architecture.ignores_padding)
        return self.each(precision, batches, compute)

    @property
    def pads(self) -> bool:
        """Whether an answer stays the same where its example is padded to a longer one's length."""
        return self.architecture.ignores_padding and self.tokenizer.pad_token_id is not None

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
        from probe.models.hardware import side_by_side

        waiting = iter(batches)
        while group := list(islice(waiting, self.batches_at_once)):
            check_stop()
            with self.lock:
                answer = partial(self._compute, precision, compute, self.at(precision))
                answers = side_by_side(answer, group)
            yield from zip(group, answers, strict=True)

    def _compute(
        self: ModelT,
        precision: Precision,
        compute: Callable[[ModelT, Batch], Result],
        model: ModelT,
        batch: Batch,
    ) -> Result:
        with self._inference(precision):
            return compute(model, batch)

    def at(self: ModelT, precision: Precision) -> ModelT:
        """Return the model as it computes at a precision, without gradients.

        In bf16 an encoder computes with a copy of its weights, a word model under autocast: what
        its layers keep between two words is fp32.
        """
        in_copy = resolve(precision) == "bf16" and not self.architecture.word_table
        network = self.scoring_model
        return replace(self, model=self.bf16.of(network) if in_copy else network)

    @contextmanager
    def _inference(self, precision: Precision) -> Iterator[None]:
        """Compute without gradients in this thread, and a word model under autocast."""
        import torch

        of_products: Precision = precision if self.architecture.word_table else "fp32"
        with torch.inference_mode(), autocast(self.model.device, of_products):
            yield

    @property
    def scoring_model(self) -> PreTrainedModel:
        """The network without what its answers do not need; it shares all weights."""
        return self.model

    @property
    def bf16_bytes(self) -> int:
        """The size of the copy with which it computes in bf16; a word model has none."""
        return 0 if self.architecture.word_table else copy_bytes(self.model)

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
        known = embedding_rows(self.model)
        return tuple(
            sorted(
                id_
                for token, id_ in ids.items()
                if id_ not in special
                and not UNUSED_TOKEN.match(token)
                and (known is None or id_ < known)
            )
        )

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
            if self.strangers:
                self._check_known(encoded)
        return encoded

    def _check_known(self, encoded: BatchEncoding) -> None:
        ids = encoded["input_ids"]
        rows = ids.tolist() if hasattr(ids, "tolist") else ids
        flat = rows if not rows or isinstance(rows[0], int) else chain.from_iterable(rows)
        if unknown := self.strangers.intersection(flat):
            token = self.tokenizer.convert_ids_to_tokens(min(unknown))
            raise ExampleError(
                f"the tokenizer of {self.name!r} makes the token {token!r} of this text, and the "
                "model has no vector for it"
            )
