"""The optimisers that training recipes name, and their clipping of gradients."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from torch.autograd.graph import increment_version
from torch.nn import Parameter
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim import Adagrad, Adam, AdamW, Optimizer

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
