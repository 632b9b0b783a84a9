"""Word salad of an experiment's examples: all transforms that leave no label right.

A model as it was before the experiment destroys the texts: gradient transforms ask it which tokens
matter, with the sign that Gupta et al. 2021 published. So all cells of a run see the same texts.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from finetune.trials.datasets import Examples
from probe.models.classifier import Classifier
from probe.tasks.task import Label, Task
from probe.transforms import Options, apply, default_of
from probe.transforms.options import PUBLISHED
from probe.transforms.registry import REGISTRY, presets

Salad = Mapping[str, Examples]
"""What each transform makes of the examples that it changes, by its name; ids are theirs."""
PRESET = "Word salad"
OPTIONS = Options(sign=PUBLISHED.sign)  # drawn once
KEPT = 8
"""Calls whose texts a worker keeps for other cells."""
GRADIENT = "gradient"
"""The family that asks the model which tokens matter."""


def salad_names(task: Task) -> tuple[str, ...]:
    """Return the transforms that leave no label right and can run here for a task."""
    return presets(task).get(PRESET, ())


def gradient_names(task: Task) -> tuple[str, ...]:
    """Return those of them that ask the model which tokens matter."""
    return tuple(name for name in salad_names(task) if REGISTRY[name].family == GRADIENT)


@lru_cache(maxsize=KEPT)
def destroy(
    classifier: Classifier, examples: Examples, names: tuple[str, ...], seed: int = 0
) -> Salad:
    """Return what transforms make of examples; those that one leaves as they are, it leaves out.

    Kept for the other cells that a worker computes of a run. Raises Unavailable.
    """
    from probe.analysis.transformed import ImportanceReader  # with pandas

    answers = classifier.predict(examples)
    labels = [answer.label for answer in answers]
    reader = ImportanceReader(classifier, OPTIONS, dict(zip(examples, labels, strict=True)))
    return {
        name: tuple(
            results[0].example
            for results in apply(name, examples, classifier.task, seed, OPTIONS, reader, labels)
            if results[0].changed
        )
        for name in names
    }


def agreeing(
    name: str, task: Task, before: Mapping[str, Label], after: Sequence[tuple[str, Label]]
) -> int:
    """Count the destroyed examples whose answer is the one expected.

    `before` are the answers to the originals by id, `after` the ids and answers of what a transform
    made of them. Expected of a copy is the task's default label (Gupta et al. 2021).
    """
    default = default_of(name, task)
    return sum(task.agrees(default or before[id_], label) for id_, label in after)
