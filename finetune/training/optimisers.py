"""The optimisers that training recipes name, and their clipping of gradients."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import increment_version
from torch.nn import Parameter
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim import Adagrad, Adam, AdamW, Optimizer
from transformers import PreTrainedModel

from probe.models.architectures import Recipe


def adamw(weights: Sequence[Parameter], lr: float, weight_decay: float = 0.01) -> AdamW:
    """Return AdamW over weights; biases and layer norms are not decayed."""
    return AdamW(
        [
            {"params": [w for w in weights if w.ndim > 1], "weight_decay": weight_decay},
            {"params": [w for w in weights if w.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=lr,
        fused=True,
    )


OPTIMISERS: Mapping[str, Callable[..., Optimizer]] = {  # each takes settings of its own
    "adamw": adamw,
    "adam": partial(Adam, fused=True),
    "adagrad": Adagrad,
}


def make_optimiser(recipe: Recipe, weights: Sequence[Parameter], lr: float) -> Optimizer:
    """Return a recipe's optimiser over weights, without state from earlier steps."""
    optimiser = OPTIMISERS[recipe.optimiser](weights, lr=lr, **recipe.settings)
    optimiser.register_step_post_hook(_count_change)
    return optimiser


def _count_change(optimiser: Optimizer, *_: Any) -> None:  # Any: what the step was called with
    """Count a step as a change of the weights, by which copies in bf16 know that they are stale.

    torch's fused steps change weights and do not count that.
    """
    for group in optimiser.param_groups:
        increment_version(group["params"])


def clip_gradients(recipe: Recipe, weights: Iterable[Parameter]) -> None:
    """Clip the gradients of weights as a recipe says."""
    if recipe.clip_norm is not None:
        clip_grad_norm_(weights, recipe.clip_norm)
    if recipe.clip_value is not None:
        clip_grad_value_(weights, recipe.clip_value)


Weights = dict[str, torch.Tensor]
"""Weights by name."""


@dataclass(frozen=True)
class MovingAverage:
    """Averages of weights by name, changed in place. A decay of zero follows the weights."""

    decay: float
    weights: Weights

    @torch.no_grad()
    def update(self, model: PreTrainedModel, step: int) -> None:
        """Move towards the weights after this step, counted from one; faster in early steps.

        The decay is at most (step + 1) / (step + 10), as in AllenNLP.
        """
        decay = min(self.decay, (step + 1) / (step + 10))
        for name, weight in model.named_parameters():
            self.weights[name].lerp_(weight, 1 - decay)


def average_of(
    recipe: Recipe, model: PreTrainedModel, saved: Mapping[str, torch.Tensor] = {}
) -> MovingAverage | None:
    """Return an average that begins at a model's weights, or at saved ones; None without any."""
    if recipe.average is None:
        return None
    own = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    return MovingAverage(recipe.average, own | dict(saved))


@contextmanager
@torch.no_grad()
def averaged(model: PreTrainedModel, average: MovingAverage | None) -> Iterator[None]:
    """Give a model its averages within the context, where there are any."""
    weights = {} if average is None else average.weights
    own = {name: model.get_parameter(name).clone() for name in weights}
    try:
        _copy(weights, model)
        yield
    finally:
        _copy(own, model)


def _copy(weights: Weights, model: PreTrainedModel) -> None:
    for name, weight in weights.items():
        model.get_parameter(name).copy_(weight)
