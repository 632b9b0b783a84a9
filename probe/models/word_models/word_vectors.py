"""Word vectors: a frozen table that models share on disk, or a trained table of one model.

A shared table lies once in assets/vectors and in no model's weights: a config names it, and it is
read when a model is built or loaded, also from a copy of the model in another folder.
"""

from functools import cache

import torch
from safetensors.torch import load_file
from torch.nn.functional import embedding, normalize

from probe.models.weights.files import VECTORS


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
