"""Distillation: a model learns from the probabilities of others beside the gold labels.

As in Hinton et al. 2015 at a temperature of one, with gold labels that may admit several.
"""

from collections.abc import Sequence

import torch

from probe.errors import TrainingError
from probe.models.classifier import Classifier, Precision
from probe.models.library import load
from probe.tasks.task import Example


def load_teachers(names: Sequence[str], student: Classifier) -> list[Classifier]:
    """Load the models that the student learns from: folders, bundled names or hub ids.

    Raises ModelError, and TrainingError for a model that gives other answers than the student.
    """
    teachers = [load(name) for name in names]
    for name, teacher in zip(names, teachers, strict=True):
        if (teacher.task, teacher.labels) != (student.task, student.labels):
            raise TrainingError(
                f"a model that answers {', '.join(student.labels)} cannot learn from {name!r}, "
                f"which answers {', '.join(teacher.labels)}"
            )
    return teachers


def mean_probabilities(
    teachers: Sequence[Classifier], examples: Sequence[Example], precision: Precision
) -> torch.Tensor:
    """Return the mean of the teachers' probabilities.  # (examples, labels)"""
    answers = [torch.tensor(teacher.probabilities(examples, precision)) for teacher in teachers]
    return torch.stack(answers).mean(0).float()


def soft_targets(
    taught: torch.Tensor,  # (examples, labels), probabilities
    admitted: torch.Tensor,  # (examples, labels), true where admissible
    weight: float,
) -> torch.Tensor:
    """Mix what teachers say, with this weight, and the gold labels.  # (examples, labels)

    Where gold admits several labels their shares are the teachers'; an example without gold has
    the teachers' probabilities alone.
    """
    gold = taught.clamp(min=torch.finfo(taught.dtype).tiny) * admitted
    gold = gold / gold.sum(1, keepdim=True)
    return torch.where(admitted.any(1, keepdim=True), weight * taught + (1 - weight) * gold, taught)
