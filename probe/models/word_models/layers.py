"""The layers that several word models have: vectors, characters, dropout, attention and sides.

A question and its passage, or two texts, are one flat sequence (first [NULL] second [NULL],
`token_type_ids` 0 and 1). Both are taken out of it and encoded by the same layers, each alike
whatever stands beside it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn.functional import cross_entropy, embedding, normalize, pad
from transformers import AutoConfig, AutoTokenizer, PreTrainedConfig, PreTrainedModel
from transformers import initialization as init
from transformers.modeling_outputs import (
    QuestionAnsweringModelOutput,
    SequenceClassifierOutput,
)

from probe.models.weights import VECTORS
from probe.models.word_models.word_tokenizer import WordTokenizer

LEVELS = 256


class ByteDropout(nn.Module):
    """Zeroes elements in training with a chance rounded to 256ths, and scales up the others.

    It draws one random byte an element; torch's own draws a float for each, which takes a tenth of
    the training of a small BiDAF on a processor and a fifth of a QANet's.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.kept = round((1 - rate) * LEVELS)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return values of the same shape."""
        if not self.training or self.kept == LEVELS:
            return values
        words = torch.empty(-(-values.numel() // 8), dtype=torch.int64, device=values.device)
        draws = words.random_(-(2**63), None).view(torch.uint8)[: values.numel()]
        factors = (draws < self.kept).to(values.dtype) * (LEVELS / self.kept)
        return values * factors.view_as(values)


@dataclass(frozen=True)
class Side:
    """The same side of all sequences of a batch, or both: first all premises, then all hypotheses.

    `vectors` (rows, words, size); `mask` (rows, words) is true at words; `places` (rows, words) are
    the positions of the words in their sequences.
    """

    vectors: torch.Tensor
    mask: torch.Tensor
    places: torch.Tensor

    @property
    def lengths(self) -> torch.Tensor:
        """The words of each row, on the CPU, where packing needs them.  # (rows,)"""
        return self.mask.sum(1).cpu()


def passage_and_question(
    vectors: torch.Tensor,  # (batch, tokens, size)
    mask: torch.Tensor | None,  # (batch, tokens); None where nothing is padding
    types: torch.Tensor | None,  # (batch, tokens)
) -> tuple[Side, Side]:
    """Split sequences into their passages and questions. Raises ValueError where one is empty."""
    question, passage = _in_sides(mask, types)
    return _side(vectors, passage), _side(vectors, question)


def stack_sides(
    vectors: torch.Tensor,  # (batch, tokens, size)
    mask: torch.Tensor | None,  # (batch, tokens); None where nothing is padding
    types: torch.Tensor | None,  # (batch, tokens)
) -> Side:
    """Split sequences into sides, all premises first. Raises ValueError where one is empty."""
    return _side(torch.cat([vectors, vectors]), torch.cat(_in_sides(mask, types)))


def _in_sides(
    mask: torch.Tensor | None, types: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return which tokens are of the first text and which of the second.  # (batch, tokens)"""
    if types is None:
        raise ValueError("token_type_ids say which words are of the second text; there are none")
    is_token = torch.ones_like(types, dtype=torch.bool) if mask is None else mask.bool()
    return is_token & (types == 0), is_token & (types == 1)


def _side(vectors: torch.Tensor, in_side: torch.Tensor) -> Side:
    lengths = in_side.sum(1)
    if not bool(lengths.all()):
        raise ValueError("the model reads two texts, and one of them is empty")
    # a stable sort puts the tokens of the side first, in their order
    places = (~in_side).long().argsort(dim=1, stable=True)[:, : int(lengths.max())]
    return Side(take_rows(vectors, places), in_side.gather(1, places), places)


def take_rows(vectors: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Return the vectors at some places of their own sequences.

    # (batch, tokens, size) and (batch, words) to (batch, words, size)
    """
    starts = torch.arange(len(vectors), device=vectors.device) * vectors.shape[1]
    rows = vectors.flatten(0, 1).index_select(0, (starts[:, None] + places).flatten())
    return rows.view(*places.shape, -1)


def other_side(rows: torch.Tensor) -> torch.Tensor:
    """Return for each row of (2 * batch, ...) the row of its pair's other side."""
    return rows.roll(len(rows) // 2, 0)


def join_sides(rows: torch.Tensor) -> torch.Tensor:
    """Concatenate both sides of each pair.  # (2 * batch, size) to (batch, 2 * size)"""
    return torch.cat(rows.chunk(2), -1)


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor, dim: int) -> torch.Tensor:
    """Return the softmax over a dimension, zero where the mask is false."""
    return scores.masked_fill(~mask, -torch.inf).softmax(dim)


def align(
    queries: torch.Tensor,  # (rows, m, size)
    keys: torch.Tensor,  # (rows, n, size)
    values: torch.Tensor,  # (rows, n, width)
    mask: torch.Tensor,  # (rows, n), true where the key is no padding
) -> torch.Tensor:
    """Return each query's softmax-weighted sum of the values.  # (rows, m, width)"""
    return masked_softmax(queries @ keys.transpose(1, 2), mask[:, None], 2) @ values


class WordConfig(PreTrainedConfig):
    """What every word model's config has: its words, their vectors, and its size.

    `vectors` names the shared table, "" stands for a table of its own; `correction` is the rank of
    what is added to it.
    """

    vocab_size: int = 25_000
    word_size: int = 300
    vectors: str = ""
    correction: int = 0
    pad_token_id: int | None = 0


@cache
def shared_table(name: str) -> torch.Tensor:
    """Return assets/vectors/NAME.safetensors, fp16.  # (words, size)

    Raises OSError where it is missing.
    """
    return load_file(VECTORS / f"{name}.safetensors")["vectors"]


class WordVectors(nn.Module):
    """Looks words up: ids (batch, tokens) in, vectors (batch, tokens, size) out.

    A frozen table is that of the config's shared vectors, and a correction to it is trained;
    `unit` gives every vector the length one.
    """

    def __init__(self, config: WordConfig, unit: bool = False) -> None:
        super().__init__()
        words, size, rank = config.vocab_size, config.word_size, config.correction
        self.shared, self.unit = config.vectors, unit
        self.table: torch.Tensor
        if self.shared:
            self.register_buffer("table", torch.zeros(words, size), persistent=False)
        else:
            self.table = nn.Parameter(torch.zeros(words, size))
        self.left = nn.Parameter(torch.zeros(words, rank)) if rank else None
        self.right = nn.Parameter(torch.zeros(rank, size)) if rank else None

    def initialise(self) -> None:
        """Read the shared table, or draw a trained one; the correction starts at zero.

        Raises ValueError for a shared table of another shape.
        """
        if self.shared:
            table = shared_table(self.shared)
            if table.shape != self.table.shape:
                stored, expected = (" x ".join(map(str, t.shape)) for t in (table, self.table))
                raise ValueError(
                    f"the word vectors {self.shared!r} are {stored}, the model's {expected}"
                )
            self.table.copy_(table)
        else:
            init.normal_(self.table, std=0.4)  # the spread of GloVe's
        if self.left is not None and self.right is not None:
            init.zeros_(self.left)
            init.normal_(self.right, std=0.4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the words' vectors; outside training they require a gradient, frozen or not."""
        vectors = embedding(ids, self.table)
        if self.unit:
            vectors = normalize(vectors, dim=-1)
        if self.left is not None and self.right is not None:
            vectors = vectors + embedding(ids, self.left) @ self.right
        if torch.is_grad_enabled() and not (self.training or vectors.requires_grad):
            vectors.requires_grad_()  # importance is taken here
        return vectors


class Embeddings(nn.Module):
    """A word's vector and, where the model has them, its characters, in one output.

    Importance is taken there. `characters` encodes the bytes of words.
    """

    def __init__(self, config: WordConfig, characters: nn.Module | None) -> None:
        super().__init__()
        self.words, self.characters = WordVectors(config), characters
        self.padding = int(config.pad_token_id or 0)

    def forward(self, ids: torch.Tensor, characters: torch.Tensor | None = None) -> torch.Tensor:
        """Return (batch, tokens, size); at padding, also a baseline's, the characters are blank."""
        vectors: torch.Tensor = self.words(ids)
        if self.characters is None:
            return vectors
        if characters is None:
            raise ValueError("a character-aware model needs character_ids from its own tokenizer")
        visible = characters * (ids != self.padding)[..., None]
        return torch.cat([vectors, self.characters(visible)], -1)


@contextmanager
def differentiable_lstm(training: bool) -> Iterator[None]:
    """Switch cuDNN off where an LSTM in eval mode needs gradients, which cuDNN does not give."""
    needed = torch.is_grad_enabled() and not training
    with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled and not needed):
        yield


BYTE_IDS, FIRST, LAST = 262, 259, 260
"""AllenNLP's ids of characters: bytes from 1 on, then marks around a word; 0 is padding."""


def passage_logits(logits: torch.Tensor, passage: Side, tokens: int) -> torch.Tensor:
    """Put logits of a passage's words at their places among the tokens of the sequence.

    The lowest number stands at all other tokens, also at the [NULL] behind a passage.

    # (batch, words) to (batch, tokens), float32
    """
    lowest = torch.finfo(torch.float32).min
    before_null = pad(passage.mask[:, 1:], (0, 1))  # (batch, words)
    inside = logits.float().masked_fill(~before_null, lowest)
    outside = torch.full((len(logits), tokens), lowest, device=logits.device)
    return outside.scatter(1, passage.places, inside)


class CharacterConvolution(nn.Module):
    """Encodes a word's bytes: a convolution, ReLU, the maximum over the word; then dropout.

    A convolution begins at every character of a word and of its marks, and at none behind it, so
    that a longer word beside it changes nothing. A word without bytes, such as [NULL], is zero.
    """

    def __init__(self, size: int, filters: int, width: int, dropout: float) -> None:
        super().__init__()
        self.bytes = nn.Embedding(BYTE_IDS, size, padding_idx=0)
        self.convolution = nn.Conv1d(size, filters, width)
        self.dropout = ByteDropout(dropout)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Turn (batch, tokens, bytes) into (batch, tokens, filters)."""
        words, rows = distinct(ids.flatten(0, 1))
        characters = marked(words)  # (words, characters)
        characters = characters[:, : max(1, int((characters != 0).sum(1).max()))]
        width = self.convolution.kernel_size[0]
        vectors = self.bytes(pad(characters, (0, width - 1)))
        features = self.convolution(vectors.transpose(1, 2)).relu()  # (words, filters, characters)
        encoded = (features * (characters != 0)[:, None]).amax(2)
        dropped: torch.Tensor = self.dropout(encoded.index_select(0, rows))
        return dropped.view(*ids.shape[:2], -1)


def distinct(words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return each word once, and where among them each word is; eight bytes are compared at once.

    # (words, bytes) to (distinct words, bytes) and (words,)
    """
    packed = pad(words, (0, -words.shape[1] % 8)).to(torch.uint8).view(torch.int64)
    rows = torch.zeros_like(packed[:, 0])
    for eight in packed.unbind(1):
        numbers = torch.unique(eight, return_inverse=True)[1]
        rows = torch.unique(rows * len(words) + numbers, return_inverse=True)[1]
    order = torch.arange(len(words), device=words.device)
    places = torch.zeros_like(order[: int(rows.max()) + 1]).scatter(0, rows, order)
    return words[places], rows


def marked(words: torch.Tensor) -> torch.Tensor:
    """Put marks around the bytes of words that have any.

    # (words, bytes) to (words, bytes + 2)
    """
    lengths = (words != 0).sum(1, keepdim=True)
    characters = pad(words, (1, 1))
    characters[:, 0] = FIRST
    return characters.scatter(1, lengths + 1, LAST) * (lengths > 0)


class HighwayLayer(nn.Linear):
    """Mixes a word's features with a transformation of them; its last half is the gate."""

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return vectors of the same shape."""
        transformed, gate = super().forward(vectors).chunk(2, -1)
        keep = gate.sigmoid()
        return keep * vectors + (1 - keep) * transformed.relu()


def highway(size: int, layers: int) -> nn.Sequential:
    """Return highway layers over vectors of a size (Srivastava et al. 2015)."""
    return nn.Sequential(*(HighwayLayer(size, 2 * size) for _ in range(layers)))


class Similarity(nn.Module):
    """The similarity of each passage word p and question word q: w . [p; q; p * q] + b."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, size))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, passage: torch.Tensor, question: torch.Tensor) -> torch.Tensor:
        """Return the similarities.  # (batch, passage words, question words)"""
        of_passage, of_question, of_both = self.weight
        products = (passage * of_both) @ question.transpose(1, 2)
        each = (passage @ of_passage)[:, :, None] + (question @ of_question)[:, None]
        scores: torch.Tensor = products + each + self.bias
        return scores


def initialise(module: nn.Module) -> None:
    """Draw Xavier weights and orthogonal ones of recurrent states; what is a vector starts at zero.

    Forget gates of LSTMs and highways are open at first.
    """
    if isinstance(module, WordVectors):
        module.initialise()
    elif isinstance(module, nn.LSTM | nn.GRU):
        for name, weight in module.named_parameters(recurse=False):
            if name.startswith("weight_ih"):
                init.xavier_uniform_(weight)
            elif name.startswith("weight_hh"):
                init.orthogonal_(weight)
            else:
                start = torch.zeros(len(weight))
                if isinstance(module, nn.LSTM) and name.startswith("bias_hh"):  # of two summed ones
                    start[module.hidden_size : 2 * module.hidden_size] = 1.0  # second of four gates
                init.copy_(weight, start)
    elif isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Embedding | Similarity):
        init.xavier_uniform_(module.weight)
        bias = getattr(module, "bias", None)
        if isinstance(module, HighwayLayer):
            init.copy_(module.bias, torch.arange(module.out_features) >= module.in_features)
        elif bias is not None:
            init.zeros_(bias)
        if isinstance(module, nn.Embedding):  # the first stands for padding
            rows = module.weight
            init.copy_(rows, torch.cat([torch.zeros_like(rows[:1]), rows[1:]]))


class WordModel(PreTrainedModel):
    """A model of words behind the Auto classes; importance is taken where they are looked up."""

    config: WordConfig
    _input_embed_layer = "embeddings"

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        initialise(module)

    def embed(self, ids: torch.Tensor, characters: torch.Tensor | None) -> torch.Tensor:
        """Return the vectors of words, with their characters where those are given."""
        lookup = self.get_input_embeddings()
        vectors: torch.Tensor = lookup(ids) if characters is None else lookup(ids, characters)
        return vectors


class WordClassifier(WordModel):
    """A classifier of two texts, each read alike."""

    def forward(
        self,
        input_ids: torch.Tensor,  # (batch, tokens)
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        character_ids: torch.Tensor | None = None,  # (batch, tokens, bytes)
        labels: torch.Tensor | None = None,  # (batch,)
        **_: Any,  # what callers of the Auto classes may add, such as return_dict
    ) -> SequenceClassifierOutput:
        """Classify, with the mean cross-entropy of labels that are given.

        Raises ValueError where a side is empty or an input is missing.
        """
        vectors = self.embed(input_ids, character_ids)
        with differentiable_lstm(self.training):
            logits = self.classify(stack_sides(vectors, attention_mask, token_type_ids))
        loss = None if labels is None else cross_entropy(logits, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    def classify(self, sides: Side) -> torch.Tensor:
        """Return the logits of pairs.  # (batch, labels)"""
        raise NotImplementedError


class WordReader(WordModel):
    """A reader of a question and its passage."""

    def forward(
        self,
        input_ids: torch.Tensor,  # (batch, tokens)
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        character_ids: torch.Tensor | None = None,  # (batch, tokens, bytes)
        **_: Any,  # what callers of the Auto classes may add, such as return_dict
    ) -> QuestionAnsweringModelOutput:
        """Return the logits of each token to begin and to end the answer.

        Raises ValueError where a side is empty or an input is missing.
        """
        vectors = self.project(self.embed(input_ids, character_ids))
        passage, question = passage_and_question(vectors, attention_mask, token_type_ids)
        with differentiable_lstm(self.training):
            start, end = self.answer(self.encode(passage), self.encode(question))
        tokens = input_ids.shape[1]
        return QuestionAnsweringModelOutput(
            start_logits=passage_logits(start, passage, tokens),
            end_logits=passage_logits(end, passage, tokens),
        )

    def project(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return what is divided into passage and question of the words' vectors."""
        return vectors

    def encode(self, side: Side) -> Side:
        """Encode a passage or a question by itself."""
        raise NotImplementedError

    def answer(self, passage: Side, question: Side) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of the passage's words.  # (batch, passage words) each"""
        raise NotImplementedError


def register(
    network: type[WordModel],
    auto: Any,  # Any: one of transformers' Auto classes
) -> None:
    """Let transformers' Auto classes find a word model, its config and its tokenizer."""
    config: Any = network.config_class
    AutoConfig.register(config.model_type, config, exist_ok=True)
    auto.register(config, network, exist_ok=True)
    AutoTokenizer.register(config, fast_tokenizer_class=WordTokenizer, exist_ok=True)
