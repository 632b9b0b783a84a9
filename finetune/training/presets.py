"""How the papers' word-level models are made and trained: Liu et al.'s AllenNLP files, the papers.

Vectors are ours throughout (finetune.training.word_vectors), where both took GloVe's. The ESIM
paper's are cased: make them with `python -m finetune vectors --cased`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim import Adagrad, Adam, Optimizer
from transformers import PreTrainedConfig

from probe.models.word_models.decomposable import DecomposableConfig
from probe.models.word_models.esim import EsimConfig

Weights = Iterable[torch.nn.Parameter]


@dataclass(frozen=True)
class Preset:
    """A model's settings and its training's.

    `halve` the rate after an epoch without a gain, or let it `fall` to zero over all epochs;
    `patience` is how many epochs without a gain end the training; `max_tokens` cuts training pairs.
    """

    architecture: Callable[..., PreTrainedConfig]  # the configs take different settings
    settings: Mapping[str, object]
    optimiser: Callable[..., Optimizer]  # of weights and lr
    lr: float
    clip: Callable[[Weights], object]
    batch: int
    epochs: int
    patience: int
    halve: bool = False
    fall: bool = False
    max_tokens: int = 96

    def rate(self, gone: float) -> float:
        """Return the falling rate after `gone` epochs."""
        return self.lr * (1 - gone / self.epochs)


@dataclass(frozen=True)
class Family:
    """The presets of a model by name, and what all of them share."""

    presets: Mapping[str, Preset]
    shared: Mapping[str, object] = field(default_factory=dict)


DA = {
    "allennlp": Preset(
        DecomposableConfig,
        {"aggregate": 1, "initial": "xavier", "unit_vectors": True},
        Adagrad,
        0.01,
        partial(clip_grad_value_, clip_value=5.0),
        batch=64,
        epochs=140,
        patience=20,
    ),
    "paper": Preset(
        DecomposableConfig,
        {"aggregate": 2, "initial": "normal", "unit_vectors": True},
        partial(Adagrad, initial_accumulator_value=0.1),
        0.05,
        lambda weights: None,
        batch=4,
        epochs=140,
        patience=20,
    ),
}
ESIM = {
    "allennlp": Preset(
        EsimConfig,
        {"activation": "relu"},
        partial(Adam, fused=True),
        4e-4,
        partial(clip_grad_norm_, max_norm=10.0),
        batch=32,
        epochs=75,
        patience=5,
        halve=True,
    ),
    "paper": Preset(
        EsimConfig,
        {"activation": "tanh"},
        partial(Adam, fused=True),
        4e-4,
        partial(clip_grad_norm_, max_norm=10.0),
        batch=32,
        epochs=75,
        patience=7,
    ),
}
FAMILIES: Mapping[str, Family] = {
    "da": Family(DA),
    "esim": Family(ESIM),
    "esim_char": Family(ESIM, {"characters": True}),
}
