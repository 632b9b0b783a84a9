"""Transfer as a kind of run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from finetune.trials.base import Training, TrialKind, check_repair, names_problem
from finetune.trials.datasets import SourceData, source_artefacts, source_from, source_json
from finetune.trials.mitigation import Found
from finetune.trials.word_salad import salad_names
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
        "Upper layers anew, whole texts", "The upper layers begin anew and see whole texts only."
    ),
    "salad_only": Term(
        "Upper layers anew, shuffled texts",
        "The upper layers begin anew and see shuffled texts only; the lower ones learnt the task "
        "from whole texts, which are those of the test.",
    ),
}
WORDS = {"transfer": LESSONS["one"], "salad-only": LESSONS["salad_only"]}
SHUFFLE = "shuffle"
"""The transform of the texts that alone the upper layers see. Gupta et al. 2021, table 11, train a
whole model on them: `finetune train --transform`."""


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
    """One training: on clean examples and one transform, "" for none, or on one kind of text."""

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


def check(plan: Plan, source: SourceData) -> None:
    """Refuse a plan that cannot run on these examples. Raises ExperimentError with a sentence."""
    own = {
        **names_problem("transforms", plan.transforms, salad_names(source.task)),
        "the share that is destroyed must be above 0 and at most 1": not 0 < plan.share <= 1,
    }
    check_repair(plan, source, own)


@dataclass(frozen=True)
class Point:
    """What a cell came to: clean examples that are right, broken ones found, where it learnt to."""

    cell: Cell
    clean: Found
    found: Mapping[str, Found]
    epochs: int
    seconds: float


def largest(plan: Plan, points: Sequence[Point], lesson: Lesson) -> list[Point]:
    """Return the points of a lesson at the largest size."""
    size = max(plan.sizes)
    return [each for each in points if each.cell.lesson == lesson and each.cell.size == size]


def matrix(plan: Plan, points: Sequence[Point]) -> list[list[float | None]]:
    """Return the share found by trained row and tested column, means over seeds.

    None where nothing is measured, or the transform changed no text.
    """

    def mean(row: str, column: str) -> float | None:
        shares = [
            point.found[column].share
            for point in largest(plan, points, "one")
            if point.cell.transform == row and column in point.found
        ]
        return fmean(shares) if shares else None

    return [[mean(row, column) for column in plan.transforms] for row in plan.transforms]


def own_and_others(values: Sequence[Sequence[float | None]]) -> tuple[list[float], list[float]]:
    """Return what is measured of a matrix on its diagonal, and beside it."""
    own = [each for at, row in enumerate(values) if (each := row[at]) is not None]
    others = [
        each
        for at, row in enumerate(values)
        for place, each in enumerate(row)
        if place != at and each is not None
    ]
    return own, others


def conclude(plan: Plan, points: Sequence[Point]) -> Json | None:
    """Return the verdict, None before every row is measured."""
    names = plan.transforms
    values = matrix(plan, points)
    measured = {each.cell.transform for each in largest(plan, points, "one")}
    if measured != set(names):
        return None
    clean, salad = (
        [point.clean.share for point in largest(plan, points, lesson)]
        for lesson in ("clean_only", "salad_only")
    )
    only = {"clean": fmean(clean), "salad": fmean(salad)} if clean and salad else None
    return {
        "name": "Transfer",
        "explanation": explanation(names, values, only),
        "rows": list(names),
        "columns": list(names),
        "matrix": values,
        "clean": [
            fmean(
                point.clean.share
                for point in largest(plan, points, "one")
                if point.cell.transform == name
            )
            for name in names
        ],
        "salad_only": only,
    }


def explanation(
    names: Sequence[str], values: Sequence[Sequence[float | None]], only: dict[str, float] | None
) -> str:
    """Say how far a repair reaches, and what salad alone teaches the upper layers."""
    own, others = own_and_others(values)
    words = f"Taught one kind of broken text, the model finds {fmean(own):.0%} of that kind"
    words += f" and {fmean(others):.0%} of the others." if others else "."
    if only is None:
        return words
    return (
        f"{words} Where its upper layers begin anew on shuffled texts only, it is right on "
        f"{only['salad']:.1%} of whole ones, on whole ones only on {only['clean']:.1%}."
    )


def row_of(cell: Cell) -> str:
    """Name what a cell was trained on."""
    return cell.transform if cell.lesson == "one" else cell.lesson.replace("_", " ")


KIND = "transfer"
TRIALS = TrialKind(
    KIND, Plan, Cell, Point, cells, ("sizes", "seeds", "salad_only"), source_json,
    source_from, source_artefacts,
)  # fmt: skip
plan_from, point_from, points_of = TRIALS.plan_from, TRIALS.point_from, TRIALS.points_of
run_request, known_results = TRIALS.request, TRIALS.known_results
TRANSFER = TRIALS.repair(
    "Transfer of",
    lambda result: {name: result.get(name) for name in ("clean", "found", "seconds")},
    conclude,
)
