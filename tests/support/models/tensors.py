"""Small tensors of fixed random numbers, and sides of texts made of them."""

import torch

from probe.models.word_models.layers import Side


def random(*shape: int) -> torch.Tensor:
    """Return normal numbers, always the same."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def side(vectors: torch.Tensor, *lengths: int) -> Side:
    """Return texts of so many words, padded behind.  # (texts, words, size)"""
    mask = torch.arange(vectors.shape[1]) < torch.tensor(lengths)[:, None]
    return Side(vectors, mask, mask)
