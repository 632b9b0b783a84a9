"""Distillation: a model learns from the probabilities of others beside the gold labels.

As in Hinton et al. 2015 at a temperature of one, with gold labels that may admit several.
"""

from collections.abc import Hashable, Sequence

import torch

from probe.errors import TrainingError
from probe.models.classifier import Classifier, Precision
from probe.models.inputs.token_rows import TokenRows
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
    """Return the mean of the teachers' probabilities.  # (examples, labels)

    Teachers that read texts alike have them tokenised once.
    """
    tokens: dict[Hashable, TokenRows] = {}
    answers = []
    for teacher in teachers:
        reading = _reading(teacher)
        if reading not in tokens:
            tokens[reading] = teacher.token_rows(examples)
        answers.append(torch.tensor(teacher.probabilities_of(tokens[reading], precision)))
    return torch.stack(answers).mean(0).float()


def _reading(model: Classifier) -> Hashable:
    """Return what decides the tokens that a model reads of a text."""
    tokenizer = model.tokenizer
    fast = getattr(tokenizer, "backend_tokenizer", None)
    words = fast.to_str() if fast else model  # without a fast tokenizer none is known to be alike
    kind = model.model.config.model_type
    return words, tuple(tokenizer.model_input_names), kind, model.max_tokens


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
