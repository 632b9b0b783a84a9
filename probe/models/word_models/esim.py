"""ESIM (Chen et al. 2017), and its character-aware variant (Liu et al. 2019).

Encode each side with a BiLSTM, align the two softly, compare, encode again, pool. The defaults are
the AllenNLP configuration of Liu et al.; `finetune.training.recipes` has the original paper's.
[NULL] ends both sides here, as the original code's end mark does and AllenNLP's reader does not.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import nn
from torch.nn.functional import dropout
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AutoModelForSequenceClassification

from probe.models.word_models.layers import (
    Embeddings,
    Side,
    WordClassifier,
    WordConfig,
    align,
    join_sides,
    other_side,
    register,
)

ACTIVATIONS: Mapping[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}
BYTE_IDS = 256  # bytes count from 1; 0 is padding


class EsimConfig(WordConfig):
    """Sizes of the model. `characters` adds an encoding of each word's bytes to its vector."""

    model_type = "esim"

    hidden_size: int = 300
    activation: str = "relu"
    dropout: float = 0.5
    characters: bool = False
    character_size: int = 20
    character_hidden: int = 50


class Characters(nn.Module):
    """Encodes a word's bytes with a bidirectional GRU: both final states, concatenated."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.bytes = nn.Embedding(BYTE_IDS, size, padding_idx=0)
        self.reader = nn.GRU(size, hidden, batch_first=True, bidirectional=True)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Turn (batch, tokens, bytes) into (batch, tokens, 2 * hidden), zeros for no byte."""
        flat = ids.flatten(0, 1)  # (batch * tokens, bytes)
        lengths = (flat != 0).sum(1)
        words = torch.nonzero(lengths).squeeze(1)
        result = torch.zeros(len(flat), 2 * self.reader.hidden_size, device=flat.device)
        if len(words):
            packed = pack_padded_sequence(
                self.bytes(flat[words]), lengths[words].cpu(), True, enforce_sorted=False
            )
            last = self.reader(packed)[1]  # (2, words, hidden)
            result = result.index_copy(0, words, torch.cat([last[0], last[1]], -1).float())
        return result.view(*ids.shape[:2], -1)


class SideEncoder(nn.Module):
    """A BiLSTM over each side; dropout zeroes the same features at every word of a side."""

    def __init__(self, size: int, hidden: int, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.lstm = nn.LSTM(size, hidden, batch_first=True, bidirectional=True)

    def forward(self, sides: Side) -> torch.Tensor:
        """Return (batch, words, 2 * hidden), zeros at padding."""
        ones = torch.ones_like(sides.vectors[:, :1])  # (batch, 1, size): one draw for all words
        dropped = sides.vectors * dropout(ones, self.rate, self.training)
        packed = pack_padded_sequence(dropped, sides.lengths, True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=sides.mask.shape[1]
        )
        return states


class EsimForSequenceClassification(WordClassifier):
    """The classifier behind the Auto classes."""

    config: EsimConfig

    def __init__(self, config: EsimConfig) -> None:
        super().__init__(config)
        hidden, activation = config.hidden_size, ACTIVATIONS[config.activation]
        characters, size = None, config.word_size
        if config.characters:
            characters = Characters(config.character_size, config.character_hidden)
            size += 2 * config.character_hidden
        self.embeddings = Embeddings(config, characters)
        self.encoding = SideEncoder(size, hidden, config.dropout)
        self.projection = nn.Sequential(nn.Linear(8 * hidden, hidden), activation())
        self.composition = SideEncoder(hidden, hidden, config.dropout)
        self.hidden = nn.Sequential(
            nn.Dropout(config.dropout),
            nn.Linear(8 * hidden, hidden),
            activation(),
            nn.Dropout(config.dropout),
        )
        self.outputs = nn.Linear(hidden, int(config.num_labels or 3))
        self.post_init()  # type: ignore[no-untyped-call]

    def classify(self, sides: Side) -> torch.Tensor:
        """Return the logits of pairs.  # (batch, labels)"""
        states = self.encoding(sides)  # (2 * batch, words, 2 * hidden)
        aligned = align(states, other_side(states), other_side(states), other_side(sides.mask))
        joined = torch.cat([states, aligned, states - aligned, states * aligned], -1)
        composed = self.composition(replace(sides, vectors=self.projection(joined)))
        logits: torch.Tensor = self.outputs(self.hidden(join_sides(pool(composed, sides.mask))))
        return logits


def pool(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean and the maximum over a side's words.  # (rows, words, size): (rows, 2 * size)

    Padding is zero in the states.
    """
    mean = states.sum(1) / mask.sum(1, keepdim=True)
    return torch.cat([mean, states.masked_fill(~mask[..., None], -torch.inf).amax(1)], -1)


register(EsimForSequenceClassification, AutoModelForSequenceClassification)
