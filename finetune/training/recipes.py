"""How each kind of model was trained: an inoculation keeps all but the learning rate.

"All else as in the original training" (Liu et al. 2019): the word models' AllenNLP configurations,
and for every other architecture the recipe of `finetune.training.loop`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from finetune.training.loop import Recipe, adamw
from finetune.training.presets import DA, ESIM, Preset, Weights
from probe.models.classifier import Classifier


@dataclass(frozen=True)
class Habit:
    """An optimiser of weights and learning rate, how gradients are clipped, pairs in a batch."""

    optimiser: Callable[[Sequence[torch.nn.Parameter], float], Optimizer]
    clip: Callable[[Weights], object]
    batch: int


def _of(preset: Preset) -> Habit:
    return Habit(preset.optimiser, preset.clip, preset.batch)


USUAL = Habit(adamw, partial(clip_grad_norm_, max_norm=Recipe.clip), Recipe.batch)
HABITS: Mapping[str, Habit] = {"decomposable": _of(DA["allennlp"]), "esim": _of(ESIM["allennlp"])}
"""By `model_type`; all others have the usual one."""


def habit(classifier: Classifier) -> Habit:
    """Return how a model of this architecture was trained."""
    return HABITS.get(classifier.model.config.model_type, USUAL)
