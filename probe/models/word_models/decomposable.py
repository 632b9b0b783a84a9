"""Decomposable Attention (Parikh et al. 2016): attend, compare, aggregate.

It compares aligned words without their order or context. The defaults are the AllenNLP
configuration of Liu et al. 2019; `finetune.training.recipes` has the original paper's as well.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from transformers import (
    AutoModelForSequenceClassification,
    PreTrainedModel,
)
from transformers import initialization as init
from transformers.modeling_outputs import SequenceClassifierOutput

from probe.models.word_models.layers import (
    WordConfig,
    WordVectors,
    align,
    classifier_output,
    initialise_vectors,
    join_sides,
    other_side,
    register,
    stack_sides,
)

INITIALISERS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "xavier": init.xavier_normal_,  # AllenNLP's configuration
    "normal": partial(init.normal_, std=0.01),  # the paper, section 4
}


class DecomposableConfig(WordConfig):
    """Sizes of the model. `aggregate` is the number of hidden layers before the outputs."""

    model_type = "decomposable"

    def __init__(
        self,
        hidden_size: int = 200,
        aggregate: int = 1,
        dropout: float = 0.2,
        initial: str = "xavier",
        unit_vectors: bool = False,
        **options: Any,  # what every config of transformers takes
    ) -> None:
        self.hidden_size = hidden_size
        self.aggregate, self.dropout, self.initial = aggregate, dropout, initial
        self.unit_vectors = unit_vectors
        super().__init__(**{"num_labels": 3} | options)


def feed_forward(sizes: list[int], dropout: float) -> nn.Sequential:
    """Return linear layers of these sizes, each followed by ReLU and then dropout."""
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*layers)


class DecomposableForSequenceClassification(PreTrainedModel):
    """The classifier behind the Auto classes."""

    config_class = DecomposableConfig
    config: DecomposableConfig
    base_model_prefix = "decomposable"

    def __init__(self, config: DecomposableConfig) -> None:
        super().__init__(config)
        size, drop = config.hidden_size, config.dropout
        self.words = WordVectors(
            config.vocab_size,
            config.word_size,
            config.vectors,
            config.correction,
            config.unit_vectors,
        )
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
        elif isinstance(module, WordVectors):
            initialise_vectors(module)

    def get_input_embeddings(self) -> nn.Module:
        """Return the module that looks words up, where importance is taken."""
        return self.words

    def forward(
        self,
        input_ids: torch.Tensor,  # (batch, tokens)
        attention_mask: torch.Tensor | None = None,
        token_type_ids: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,  # (batch,)
        **_: Any,  # what callers of the Auto classes may add, such as return_dict
    ) -> SequenceClassifierOutput:
        """Classify; raises ValueError where a side is empty or token_type_ids are missing."""
        sides = stack_sides(self.words(input_ids), attention_mask, token_type_ids)
        words = self.projection(sides.vectors)  # (2 * batch, words, hidden)
        keys = self.attend(words)
        aligned = align(keys, other_side(keys), other_side(words), other_side(sides.mask))
        compared = self.compare(torch.cat([words, aligned], -1)) * sides.mask[..., None]
        logits = self.outputs(self.aggregate(join_sides(compared.sum(1))))  # (batch, labels)
        return classifier_output(logits, labels)


register(
    DecomposableConfig, DecomposableForSequenceClassification, AutoModelForSequenceClassification
)
