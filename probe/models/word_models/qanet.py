"""QANet (Yu et al. 2018), an extractive reader of convolutions and self-attention.

Words and characters, a projection and a highway, an encoder block over each side, attention between
them, and a stack of blocks applied three times. The defaults are the AllenNLP configuration of Liu
et al. 2019, but for characters, which are bytes here. Convolutions see zeros behind a text, as at
its other end, where AllenNLP's see whatever padding became.
"""

import math
from dataclasses import replace

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AutoModelForQuestionAnswering
from transformers import initialization as init

from probe.models.word_models.layers import (
    ByteDropout,
    CharacterConvolution,
    Embeddings,
    Side,
    Similarity,
    WordConfig,
    WordReader,
    highway,
    initialise,
    masked_softmax,
    register,
)

ENCODER_CONVOLUTIONS, ENCODER_WIDTH = 4, 7
"""Of the block that encodes the passage or the question by itself."""
MODEL_CONVOLUTIONS, MODEL_WIDTH = 2, 5
"""Of each block over the passage that has attended to the question."""
PASSES = 3
"""How often the same blocks are applied."""


class QanetConfig(WordConfig):
    """Sizes of the model. `layer_dropout` is the chance that a block's last sub-layer is passed by.

    Its earlier sub-layers are passed by less often, in proportion to their number. Positions are
    added times `position_scale`: at one, as in the paper, they are more than twice as large as the
    projected words at first, so that words are matched by their places alone for long.
    """

    model_type = "qanet"

    hidden_size: int = 128
    blocks: int = 7
    heads: int = 8
    character_size: int = 64
    filters: int = 200
    filter_width: int = 5
    highway_layers: int = 2
    dropout: float = 0.1
    layer_dropout: float = 0.1
    position_scale: float = 1.0


class SeparableConvolution(nn.Module):
    """A convolution of each feature by itself, then a linear layer and ReLU (Chollet 2017)."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        # over words alone, as Conv1d does, but faster with a dimension more
        self.depthwise = nn.Conv2d(size, size, (width, 1), padding=(width // 2, 0), groups=size)
        self.pointwise = nn.Linear(size, size)

    def forward(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return vectors of the same shape; padding counts as zeros."""
        visible = (vectors * mask[..., None]).transpose(1, 2)  # (batch, size, words)
        convolved = self.depthwise(visible[..., None]).squeeze(-1).transpose(1, 2)
        mixed: torch.Tensor = self.pointwise(convolved)
        return mixed.relu()


class SelfAttention(nn.Module):
    """Scaled dot-product attention of a text's words to each other, in several heads."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inputs, self.outputs = nn.Linear(size, 3 * size), nn.Linear(size, size)

    def forward(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return vectors of the same shape; no word attends to padding."""
        queries, keys, values = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.inputs(vectors).chunk(3, -1)
        )  # (batch, heads, words, size of a head)
        if self.training and vectors.is_cpu:  # which takes twice to five times as long in bf16
            queries, keys, values = queries.float(), keys.float(), values.float()
        with torch.autocast(vectors.device.type, enabled=False):  # all are of one type already
            attended = scaled_dot_product_attention(queries, keys, values, mask[:, None, None])
        joined: torch.Tensor = self.outputs(attended.transpose(1, 2).flatten(2))
        return joined


class FeedForward(nn.Module):
    """Two linear layers with ReLU between them, at each word."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.hidden, self.outputs = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return vectors of the same shape."""
        mixed: torch.Tensor = self.outputs(self.hidden(vectors).relu())
        return mixed


class EncoderBlock(nn.Module):
    """Convolutions, self-attention and a feed-forward layer, each added to its own input.

    Positions are added first. In training a sub-layer is passed by with a chance that grows up to
    `layer_dropout` at the last one (stochastic depth); later each counts by its chance to be used.
    """

    def __init__(self, config: QanetConfig, convolutions: int, width: int) -> None:
        super().__init__()
        size = config.hidden_size
        self.layers = nn.ModuleList(
            [
                *(SeparableConvolution(size, width) for _ in range(convolutions)),
                SelfAttention(size, config.heads),
                FeedForward(size),
            ]
        )
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in self.layers)
        self.layer_dropout, self.position_scale = config.layer_dropout, config.position_scale
        self.dropout = ByteDropout(config.dropout)

    def forward(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return vectors of the same shape."""
        vectors = vectors + self.position_scale * positions(*vectors.shape[1:]).to(vectors)
        for number, (norm, layer) in enumerate(zip(self.norms, self.layers, strict=True), 1):
            skipped = self.layer_dropout * number / len(self.layers)
            if self.training and float(torch.rand(())) < skipped:
                continue
            changed = self.dropout(layer(self.dropout(norm(vectors)), mask))
            vectors = vectors + (changed if self.training else (1 - skipped) * changed)
        return vectors


def positions(words: int, size: int) -> torch.Tensor:
    """Return sines, then cosines, of wavelengths from 2 pi to 20,000 pi.  # (words, size)"""
    half = size // 2
    rates = torch.exp(torch.arange(half) * (-math.log(10_000) / max(1, half - 1)))
    angles = torch.arange(words)[:, None] * rates  # (words, size / 2)
    return torch.cat([angles.sin(), angles.cos()], 1)


class QanetForQuestionAnswering(WordReader):
    """The reader behind the Auto classes."""

    config: QanetConfig

    def __init__(self, config: QanetConfig) -> None:
        super().__init__(config)
        size = config.hidden_size
        characters = CharacterConvolution(
            config.character_size, config.filters, config.filter_width, dropout=0.0
        )
        self.embeddings = Embeddings(config, characters)
        self.dropout = ByteDropout(config.dropout)
        self.projection = nn.Sequential(
            nn.Linear(config.word_size + config.filters, size),
            highway(size, config.highway_layers),
            nn.Linear(size, size, bias=False),
        )
        self.encoder = EncoderBlock(config, ENCODER_CONVOLUTIONS, ENCODER_WIDTH)
        self.similarity = Similarity(size)
        self.merged = nn.Linear(4 * size, size, bias=False)
        self.blocks = nn.ModuleList(
            EncoderBlock(config, MODEL_CONVOLUTIONS, MODEL_WIDTH) for _ in range(config.blocks)
        )
        self.start, self.end = nn.Linear(2 * size, 1), nn.Linear(2 * size, 1)
        self.post_init()  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Draw Xavier weights, small ones of the outputs; highways carry their input at first."""
        initialise(module)
        if module is self.start or module is self.end:
            init.normal_(module.weight, std=0.01)  # the sum of all sub-layers is large
        elif isinstance(module, nn.LayerNorm):
            init.ones_(module.weight)
            init.zeros_(module.bias)

    def project(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return vectors of the model's size."""
        projected: torch.Tensor = self.projection(self.dropout(vectors))
        return projected

    def encode(self, side: Side) -> Side:
        """Encode a passage or a question by itself."""
        return replace(side, vectors=self.dropout(self.encoder(side.vectors, side.mask)))

    def answer(self, passage: Side, question: Side) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of the passage's words.  # (batch, passage words) each"""
        first, second, third = self.model(self.merge(passage, question), passage.mask)
        start = self.start(torch.cat([first, second], -1)).squeeze(-1)
        return start, self.end(torch.cat([first, third], -1)).squeeze(-1)

    def merge(self, passage: Side, question: Side) -> torch.Tensor:
        """Return passage words beside what they attend to, there and back.

        # (batch, passage words, 4 * size)
        """
        words = passage.vectors
        scores = self.similarity(words, question.vectors)
        to_question = masked_softmax(scores, question.mask[:, None], 2)
        to_passage = masked_softmax(scores, passage.mask[..., None], 1).transpose(1, 2)
        aligned = to_question @ question.vectors
        returned = to_question @ (to_passage @ words)  # attention over attention
        return torch.cat([words, aligned, words * aligned, words * returned], -1)

    def model(self, merged: torch.Tensor, mask: torch.Tensor) -> list[torch.Tensor]:
        """Return what the blocks make of the passage, after each pass.

        # (batch, passage words, size) each
        """
        vectors, passes = self.merged(merged), []
        for _ in range(PASSES):
            for block in self.blocks:
                vectors = block(vectors, mask)
            vectors = self.dropout(vectors)
            passes.append(vectors)
        return passes


register(QanetForQuestionAnswering, AutoModelForQuestionAnswering)
