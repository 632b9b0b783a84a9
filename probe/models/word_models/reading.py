"""What BiDAF and QANet share: a passage and a question, characters, highways and the attention.

A question and its passage are one flat sequence (question [NULL] passage [NULL], `token_type_ids`
0 and 1), as for every other reader. Both are taken out of it and encoded by the same layers, each
alike whatever stands beside it.
"""

from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.nn.functional import pad
from transformers import initialization as init

from probe.models.word_models.decomposable import initialise_vectors
from probe.models.word_models.esim import without_padding
from probe.models.word_models.layers import ByteDropout, WordVectors

BYTE_IDS, FIRST, LAST = 262, 259, 260
"""AllenNLP's ids of characters: bytes from 1 on, then marks around a word; 0 is padding."""


@dataclass(frozen=True)
class Side:
    """The passages, or the questions, of a batch.

    `vectors` (batch, words, size); `mask` (batch, words) is true at words; `places` (batch, words)
    are the positions of the words in their sequences.
    """

    vectors: torch.Tensor
    mask: torch.Tensor
    places: torch.Tensor

    def with_vectors(self, vectors: torch.Tensor) -> "Side":
        """Return the side with other vectors of its words."""
        return replace(self, vectors=vectors)


def passage_and_question(
    vectors: torch.Tensor,  # (batch, tokens, size)
    mask: torch.Tensor | None,  # (batch, tokens); None where nothing is padding
    types: torch.Tensor | None,  # (batch, tokens)
) -> tuple[Side, Side]:
    """Split sequences into their passages and questions. Raises ValueError where one is empty."""
    if types is None:
        raise ValueError("token_type_ids say which words are the passage; there are none")
    is_token = torch.ones_like(types, dtype=torch.bool) if mask is None else mask.bool()
    return _side(vectors, is_token & (types == 1)), _side(vectors, is_token & (types == 0))


def _side(vectors: torch.Tensor, in_side: torch.Tensor) -> Side:
    lengths = in_side.sum(1)
    if not bool(lengths.all()):
        raise ValueError("the model reads a question and a passage, and one of them is empty")
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


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor, dim: int) -> torch.Tensor:
    """Return the softmax over a dimension, zero where the mask is false."""
    return scores.masked_fill(~mask, -torch.inf).softmax(dim)


def initialise(module: nn.Module) -> None:
    """Draw Xavier weights of a layer that both share; highways carry their input at first."""
    if isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d):
        init.xavier_uniform_(module.weight)
        if module.bias is not None:
            init.zeros_(module.bias)
        if isinstance(module, HighwayLayer):
            init.copy_(module.bias, torch.arange(module.out_features) >= module.in_features)
    elif isinstance(module, nn.Embedding):
        init.xavier_uniform_(module.weight)
        init.copy_(module.weight, without_padding(module.weight))
    elif isinstance(module, Similarity):
        init.xavier_uniform_(module.weight)
        init.zeros_(module.bias)
    elif isinstance(module, WordVectors):
        initialise_vectors(module)
