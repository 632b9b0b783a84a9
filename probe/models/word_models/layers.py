"""Dropout that draws one random byte an element.

torch's own draws a float for each, which takes a tenth of the training of a small BiDAF on a
processor and a fifth of a QANet's.
"""

from dataclasses import dataclass
from functools import cache

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn.functional import embedding, normalize

from probe.models.weights import VECTORS

LEVELS = 256


class ByteDropout(nn.Module):
    """Zeroes elements in training with a chance rounded to 256ths, and scales up the others."""

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
class Sides:
    """All premises, then all hypotheses: rows 0 to batch - 1, rows batch to 2 * batch - 1.

    `vectors` (2 * batch, words, size), `mask` (2 * batch, words) true at words; `lengths`
    (2 * batch,) is on the CPU, where packing needs it.
    """

    vectors: torch.Tensor
    mask: torch.Tensor
    lengths: torch.Tensor


def stack_sides(
    vectors: torch.Tensor,  # (batch, tokens, size)
    mask: torch.Tensor | None,  # (batch, tokens); None where nothing is padding
    types: torch.Tensor | None,  # (batch, tokens)
) -> Sides:
    """Split flat sequences into sides. Raises ValueError where a side has no token."""
    if types is None:
        raise ValueError("token_type_ids say which words are the hypothesis; there are none")
    is_token = torch.ones_like(types, dtype=torch.bool) if mask is None else mask.bool()
    in_side = torch.cat([is_token & (types == 0), is_token & (types == 1)])  # (2 * batch, tokens)
    lengths = in_side.sum(1).cpu()
    if not bool(lengths.all()):
        raise ValueError("the model reads two texts, and one of them is empty")
    # a stable sort puts the tokens of the side first, in their order
    order = (~in_side).long().argsort(dim=1, stable=True)[:, : int(lengths.max())]
    index = order[..., None].expand(-1, -1, vectors.shape[-1])  # (2 * batch, words, size)
    words = torch.cat([vectors, vectors]).gather(1, index)
    return Sides(words, in_side.gather(1, order), lengths)


def other_side(rows: torch.Tensor) -> torch.Tensor:
    """Return for each row of (2 * batch, ...) the row of its pair's other side."""
    return rows.roll(len(rows) // 2, 0)


def join_sides(rows: torch.Tensor) -> torch.Tensor:
    """Concatenate both sides of each pair.  # (2 * batch, size) to (batch, 2 * size)"""
    return torch.cat(rows.chunk(2), -1)


def align(
    queries: torch.Tensor,  # (rows, m, size)
    keys: torch.Tensor,  # (rows, n, size)
    values: torch.Tensor,  # (rows, n, width)
    mask: torch.Tensor,  # (rows, n), true where the key is no padding
) -> torch.Tensor:
    """Return each query's softmax-weighted sum of the values.  # (rows, m, width)"""
    scores = queries @ keys.transpose(1, 2)  # (rows, m, n)
    weights = scores.masked_fill(~mask[:, None, :], -torch.inf).softmax(-1)
    return weights @ values


@cache
def shared_table(name: str) -> torch.Tensor:
    """Return assets/vectors/NAME.safetensors, fp16.  # (words, size)

    Raises OSError where it is missing.
    """
    return load_file(VECTORS / f"{name}.safetensors")["vectors"]


class WordVectors(torch.nn.Module):
    """Looks words up: ids (batch, tokens) in, vectors (batch, tokens, size) out.

    `shared` names the frozen table, "" stands for a trained table. `rank` adds a trained
    correction of that rank to a frozen one; `unit` gives every vector the length one.
    """

    def __init__(
        self, words: int, size: int, shared: str = "", rank: int = 0, unit: bool = False
    ) -> None:
        super().__init__()
        self.shared, self.unit = shared, unit
        self.table: torch.Tensor
        if shared:
            self.register_buffer("table", torch.zeros(words, size), persistent=False)
        else:
            self.table = torch.nn.Parameter(torch.zeros(words, size))
        self.left = torch.nn.Parameter(torch.zeros(words, rank)) if rank else None
        self.right = torch.nn.Parameter(torch.zeros(rank, size)) if rank else None

    def initial_table(self) -> torch.Tensor | None:
        """Return the frozen table, None for a trained one. Raises ValueError for a wrong shape."""
        if not self.shared:
            return None
        table = shared_table(self.shared)
        if table.shape != self.table.shape:
            stored, expected = (" x ".join(map(str, t.shape)) for t in (table, self.table))
            raise ValueError(
                f"the word vectors {self.shared!r} are {stored}, the model's {expected}"
            )
        return table

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

    Importance is taken there. `characters` encodes the bytes of words, `padding` is the id of none.
    """

    def __init__(self, words: WordVectors, characters: nn.Module | None, padding: int) -> None:
        super().__init__()
        self.words, self.characters, self.padding = words, characters, padding

    def forward(self, ids: torch.Tensor, characters: torch.Tensor | None = None) -> torch.Tensor:
        """Return (batch, tokens, size); at padding, also a baseline's, the characters are blank."""
        vectors: torch.Tensor = self.words(ids)
        if self.characters is None:
            return vectors
        if characters is None:
            raise ValueError("a character-aware model needs character_ids from its own tokenizer")
        visible = characters * (ids != self.padding)[..., None]
        return torch.cat([vectors, self.characters(visible)], -1)
