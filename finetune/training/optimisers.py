"""The optimisers that training recipes name, and their clipping of gradients."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

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
    return OPTIMISERS[recipe.optimiser](weights, lr=lr, **recipe.settings)


def clip_gradients(recipe: Recipe, weights: Iterable[Parameter]) -> None:
    """Clip the gradients of weights as a recipe says."""
    if recipe.clip_norm is not None:
        clip_grad_norm_(weights, recipe.clip_norm)
    if recipe.clip_value is not None:
        clip_grad_value_(weights, recipe.clip_value)
