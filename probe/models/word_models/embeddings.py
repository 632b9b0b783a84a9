"""What a word model knows of each word before it reads any other: its vector and its characters."""

import torch
from torch import nn

from probe.models.word_models.word_vectors import WordVectors


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
