"""ESIM (Chen et al. 2017), and its character-aware variant (Liu et al. 2019).

Encode each side with a BiLSTM, align the two softly, compare, encode again, pool. The defaults are
the AllenNLP configuration of Liu et al.; `finetune.training.recipes` has the original paper's.
[NULL] ends both sides here, as the original code's end mark does and AllenNLP's reader does not.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.nn.functional import dropout
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import (
    AutoModelForSequenceClassification,
    PreTrainedModel,
)
from transformers import initialization as init
from transformers.modeling_outputs import SequenceClassifierOutput

from probe.models.word_models.layers import (
    Embeddings,
    Sides,
    WordConfig,
    WordVectors,
    align,
    classifier_output,
    differentiable_lstm,
    initialise_recurrent,
    initialise_vectors,
    join_sides,
    other_side,
    register,
    stack_sides,
    without_padding,
)

ACTIVATIONS: Mapping[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}
BYTE_IDS = 256  # bytes count from 1; 0 is padding


class EsimConfig(WordConfig):
    """Sizes of the model. `characters` adds an encoding of each word's bytes to its vector."""

    model_type = "esim"

    def __init__(
        self,
        hidden_size: int = 300,
        activation: str = "relu",
        dropout: float = 0.5,
        characters: bool = False,
        character_size: int = 20,
        character_hidden: int = 50,
        **options: Any,  # what every config of transformers takes
    ) -> None:
        self.hidden_size = hidden_size
        self.activation, self.dropout, self.characters = activation, dropout, characters
        self.character_size, self.character_hidden = character_size, character_hidden
        super().__init__(**{"num_labels": 3} | options)


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

    def forward(self, sides: Sides) -> torch.Tensor:
        """Return (batch, words, 2 * hidden), zeros at padding."""
        ones = torch.ones_like(sides.vectors[:, :1])  # (batch, 1, size): one draw for all words
        dropped = sides.vectors * dropout(ones, self.rate, self.training)
        packed = pack_padded_sequence(dropped, sides.lengths, True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=sides.mask.shape[1]
        )
        return states


class EsimForSequenceClassification(PreTrainedModel):
    """The classifier behind the Auto classes."""

    config_class = EsimConfig
    config: EsimConfig
    base_model_prefix = "esim"

    def __init__(self, config: EsimConfig) -> None:
        super().__init__(config)
        hidden, activation = config.hidden_size, ACTIVATIONS[config.activation]
        size = config.word_size + (2 * config.character_hidden if config.characters else 0)
        self.embeddings = Embeddings(
            WordVectors(config.vocab_size, config.word_size, config.vectors, config.correction),
            Characters(config.character_size, config.character_hidden)
            if config.characters
            else None,
            int(config.pad_token_id or 0),
        )
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

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Draw Xavier input weights and orthogonal state weights; open the forget gates."""
        if isinstance(module, nn.Linear):
            init.xavier_uniform_(module.weight)
            init.zeros_(module.bias)
        elif isinstance(module, nn.LSTM | nn.GRU):
            initialise_recurrent(module)
        elif isinstance(module, nn.Embedding):
            init.xavier_uniform_(module.weight)
            init.copy_(module.weight, without_padding(module.weight))
        elif isinstance(module, WordVectors):
            initialise_vectors(module)

    def get_input_embeddings(self) -> nn.Module:
        """Return the module whose output, words and characters, importance is taken of."""
        return self.embeddings

    def forward(
        self,
        input_ids: torch.Tensor,  # (batch, tokens)
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        character_ids: torch.Tensor | None = None,  # (batch, tokens, bytes)
        labels: torch.Tensor | None = None,  # (batch,)
        **_: Any,  # what callers of the Auto classes may add, such as return_dict
    ) -> SequenceClassifierOutput:
        """Classify; raises ValueError where a side is empty or an input is missing."""
        vectors = self.embeddings(input_ids, character_ids)
        with differentiable_lstm(self.training):
            sides = stack_sides(vectors, attention_mask, token_type_ids)
            states = self.encoding(sides)  # (2 * batch, words, 2 * hidden)
            aligned = align(states, other_side(states), other_side(states), other_side(sides.mask))
            joined = torch.cat([states, aligned, states - aligned, states * aligned], -1)
            composed = self.composition(replace(sides, vectors=self.projection(joined)))
        logits = self.outputs(self.hidden(join_sides(pool(composed, sides))))  # (batch, labels)
        return classifier_output(logits, labels)


def pool(states: torch.Tensor, sides: Sides) -> torch.Tensor:
    """Return the mean and the maximum over a side's words.  # (2 * batch, 2 * size)"""
    mean = states.sum(1) / sides.mask.sum(1, keepdim=True)  # padding is zero
    return torch.cat([mean, states.masked_fill(~sides.mask[..., None], -torch.inf).amax(1)], -1)


register(EsimConfig, EsimForSequenceClassification, AutoModelForSequenceClassification)
