"""BiDAF (Seo et al. 2017), an extractive reader: attention flows both ways.

Words and characters, a highway, a BiLSTM over each side, attention from passage to question and
back, two BiLSTMs over the passage, and one more for the end of the answer. The defaults are the
AllenNLP configuration of Liu et al. 2019, but for word vectors of 300 components instead of 100.
[NULL] ends both sides, as in the other word models here and not in AllenNLP's reader.
"""

from dataclasses import replace

import torch
from torch import nn
from transformers import AutoModelForQuestionAnswering

from probe.models.word_models.layers import (
    ByteDropout,
    CharacterConvolution,
    Embeddings,
    Side,
    Similarity,
    WordConfig,
    WordReader,
    highway,
    masked_softmax,
    register,
    take_rows,
)


class BidafConfig(WordConfig):
    """Sizes of the model. `filters` of `filter_width` read a word's characters."""

    model_type = "bidaf"

    hidden_size: int = 100
    character_size: int = 16
    filters: int = 100
    filter_width: int = 5
    highway_layers: int = 2
    dropout: float = 0.2


class BiLstm(nn.Module):
    """An LSTM over texts and one over the same texts turned around, padding last in both.

    So padding changes no state, and a batch is read at once, without packing.
    """

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(size, hidden, batch_first=True)
        self.backwards = nn.LSTM(size, hidden, batch_first=True)

    def forward(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return (batch, words, 2 * hidden), zeros at padding, which stands last."""
        steps = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
        turned = torch.where(mask, mask.sum(1, keepdim=True) - 1 - steps, steps)  # (batch, words)
        backwards = self.backwards(take_rows(vectors, turned))[0]
        states = torch.cat([self.forwards(vectors)[0], take_rows(backwards, turned)], -1)
        return states * mask[..., None]


class BidafForQuestionAnswering(WordReader):
    """The reader behind the Auto classes."""

    config: BidafConfig

    def __init__(self, config: BidafConfig) -> None:
        super().__init__(config)
        hidden, width = config.hidden_size, 2 * config.hidden_size
        characters = CharacterConvolution(
            config.character_size, config.filters, config.filter_width, config.dropout
        )
        self.embeddings = Embeddings(config, characters)
        size = config.word_size + config.filters
        self.highway = highway(size, config.highway_layers)
        self.phrase = BiLstm(size, hidden)
        self.similarity = Similarity(width)
        self.modelling = nn.ModuleList([BiLstm(4 * width, hidden), BiLstm(width, hidden)])
        self.start = nn.Linear(5 * width, 1)
        self.end_encoder = BiLstm(7 * width, hidden)
        self.end = nn.Linear(5 * width, 1)
        self.dropout = ByteDropout(config.dropout)
        self.post_init()  # type: ignore[no-untyped-call]

    def encode(self, side: Side) -> Side:
        """Encode a passage or a question by itself."""
        states = self.phrase(self.highway(side.vectors), side.mask)
        return replace(side, vectors=self.dropout(states))

    def answer(self, passage: Side, question: Side) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of the passage's words.  # (batch, passage words) each"""
        merged = self.merge(passage, question)  # (batch, passage words, 8 * hidden)
        first, second = self.modelling
        modelled = self.dropout(first(merged, passage.mask))
        modelled = self.dropout(second(modelled, passage.mask))
        start = self.start(self.dropout(torch.cat([merged, modelled], -1))).squeeze(-1)
        begins = masked_softmax(start, passage.mask, 1)[:, None]  # (batch, 1, passage words)
        beginning = (begins.to(modelled.dtype) @ modelled).expand_as(modelled)
        joined = torch.cat([merged, modelled, beginning, modelled * beginning], -1)
        ended = self.dropout(self.end_encoder(joined, passage.mask))
        end = self.end(self.dropout(torch.cat([merged, ended], -1))).squeeze(-1)
        return start, end

    def merge(self, passage: Side, question: Side) -> torch.Tensor:
        """Return passage words beside what they attend to and what the question attends to.

        # (batch, passage words, 4 * size)
        """
        scores = self.similarity(passage.vectors, question.vectors)
        among = question.mask[:, None]  # (batch, 1, question words)
        aligned = masked_softmax(scores, among, 2) @ question.vectors
        closest = scores.masked_fill(~among, -torch.inf).amax(2)  # (batch, passage words)
        summary = masked_softmax(closest, passage.mask, 1)[:, None] @ passage.vectors
        words = passage.vectors
        return torch.cat([words, aligned, words * aligned, words * summary], -1)


register(BidafForQuestionAnswering, AutoModelForQuestionAnswering)
