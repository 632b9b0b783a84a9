"""The two sides of a sequence, and the soft alignment between them.

A pair is one flat sequence (premise [NULL] hypothesis [NULL], `token_type_ids` 0 and 1), as for
every other model. Decomposable Attention and ESIM process both sides alike, so they stack them.
"""

from dataclasses import dataclass

import torch


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
