"""Decomposable Attention (Parikh et al. 2016): attend, compare, aggregate.

It compares aligned words without their order or context. The defaults are the AllenNLP
configuration of Liu et al. 2019; `finetune.training.recipes` has the original paper's as well.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification
from transformers import initialization as init

from probe.models.word_models.layers import (
    Side,
    WordClassifier,
    WordConfig,
    WordVectors,
    align,
    initialise,
    join_sides,
    other_side,
    register,
)

INITIALISERS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "xavier": init.xavier_normal_,  # AllenNLP's configuration
    "normal": partial(init.normal_, std=0.01),  # the paper, section 4
}


class DecomposableConfig(WordConfig):
    """Sizes of the model. `aggregate` is the number of hidden layers before the outputs."""

    model_type = "decomposable"

    hidden_size: int = 200
    aggregate: int = 1
    dropout: float = 0.2
    initial: str = "xavier"
    unit_vectors: bool = False


def feed_forward(sizes: list[int], dropout: float) -> nn.Sequential:
    """Return linear layers of these sizes, each followed by ReLU and then dropout."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*layers)


class DecomposableForSequenceClassification(WordClassifier):
    """The classifier behind the Auto classes."""

    config: DecomposableConfig
    _input_embed_layer = "words"

    def __init__(self, config: DecomposableConfig) -> None:
        super().__init__(config)
        size, drop = config.hidden_size, config.dropout
        self.words = WordVectors(config, config.unit_vectors)
        self.projection = nn.Linear(config.word_size, size)
        self.attend = feed_forward([size, size, size], drop)
        self.compare = feed_forward([2 * size, size, size], drop)
        self.aggregate = feed_forward([2 * size, *[size] * config.aggregate], drop)
        self.outputs = nn.Linear(size, int(config.num_labels or 3))
        self.post_init()  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Draw linear weights as the config says; initialise the word vectors."""
        if isinstance(module, nn.Linear):
            INITIALISERS[self.config.initial](module.weight)
            init.zeros_(module.bias)
        else:
            initialise(module)

    def classify(self, sides: Side) -> torch.Tensor:
        """Return the logits of pairs.  # (batch, labels)"""
        words = self.projection(sides.vectors)  # (2 * batch, words, hidden)
        keys = self.attend(words)
        aligned = align(keys, other_side(keys), other_side(words), other_side(sides.mask))
        compared = self.compare(torch.cat([words, aligned], -1)) * sides.mask[..., None]
        logits: torch.Tensor = self.outputs(self.aggregate(join_sides(compared.sum(1))))
        return logits


register(DecomposableForSequenceClassification, AutoModelForSequenceClassification)
