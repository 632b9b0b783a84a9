"""What to run: one training for each transform, and two that see one kind of text only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from finetune.experiments.further_training import Training, check_training
from finetune.experiments.inoculation.datasets import SourceData
from finetune.experiments.refusal import refuse
from finetune.experiments.source_json import draw_problems
from probe.runs.run import Json
from probe.tasks.nli import NLI
from probe.tasks.task import Label
from probe.terms import Term

Lesson = Literal["one", "clean_only", "salad_only"]
LESSONS: Mapping[Lesson, Term] = {
    "one": Term(
        "Transfer",
        "Whether a model that learnt to call one kind of broken text invalid knows the others.",
    ),
    "clean_only": Term(
        "Trained on clean texts", "The upper layers begin anew and see whole texts only."
    ),
    "salad_only": Term(
        "Trained on salad only",
        "The upper layers begin anew and see shuffled texts only, with the labels of the whole "
        "ones; the test is on whole texts.",
    ),
}
SHUFFLE = "shuffle"
"""The transform of the texts that alone are trained on (Gupta et al. 2021, table 11)."""


@dataclass(frozen=True)
class Plan:
    """What to run. `transforms` are the rows and columns of the matrix.

    `sizes` and `seeds` are of trainings: how many clean examples each has, and its draw. `share` of
    them are destroyed by the row's transform. `tests` is how many test examples are destroyed, and
    `salad_only` whether the two trainings on one kind of text are run too.
    """

    model: str
    training: Training
    transforms: tuple[str, ...]
    sizes: tuple[int, ...] = (1000,)
    seeds: tuple[int, ...] = (0, 1)
    tests: int = 200
    share: float = 0.5
    salad_only: bool = True
    task: str = NLI.name
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One training: on clean examples and one transform, or on one kind of text only.

    `transform` is "" where clean texts alone are trained on.
    """

    lesson: Lesson
    transform: str
    size: int
    seed: int


def cells(plan: Plan) -> tuple[Cell, ...]:
    """Return the cells of a plan, the matrix row by row, then the two others."""
    lessons: list[tuple[Lesson, str]] = [("one", name) for name in plan.transforms]
    if plan.salad_only:
        lessons += [("clean_only", ""), ("salad_only", SHUFFLE)]
    return tuple(
        Cell(lesson, name, size, seed)
        for lesson, name in lessons
        for size in sorted(set(plan.sizes))
        for seed in dict.fromkeys(plan.seeds)
    )


def plan_from(values: Json) -> Plan:
    """Read a plan from its JSON."""
    lists = {name: tuple(values[name]) for name in ("transforms", "sizes", "seeds", "labels")}
    return Plan(**{**values, **lists, "training": Training(**values["training"])})


def check(plan: Plan, source: SourceData, known: tuple[str, ...]) -> None:
    """Refuse a plan that cannot run on these examples. Raises ExperimentError with a sentence.

    `known` are the transforms that leave no label right for the task.
    """
    check_training(plan.training)
    problems = {
        f"transforms are some of {', '.join(known)}, each once": (
            not plan.transforms
            or not set(plan.transforms) <= set(known)
            or len(set(plan.transforms)) < len(plan.transforms)
        ),
        **draw_problems(plan, source),
        "the share that is destroyed must be above 0 and at most 1": not 0 < plan.share <= 1,
    }
    refuse(problems)
