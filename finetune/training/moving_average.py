"""A moving average of a model's weights, which is measured and kept in their place."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel

from finetune.training.loop import Weights


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
