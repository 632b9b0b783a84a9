"""A moving average of a model's weights, which is measured and kept in their place."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel

from probe.models.architectures import Recipe

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
