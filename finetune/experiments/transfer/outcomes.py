"""What the trainings of a transfer say together: the matrix, and what salad alone teaches."""

from collections.abc import Sequence
from statistics import fmean

from finetune.experiments.transfer.plan import Cell, Lesson, Plan
from finetune.experiments.transfer.point import Point
from probe.runs.run import Json


def largest(plan: Plan, points: Sequence[Point], lesson: Lesson) -> list[Point]:
    """Return the points of a lesson at the largest size."""
    size = max(plan.sizes)
    return [each for each in points if each.cell.lesson == lesson and each.cell.size == size]


def matrix(plan: Plan, points: Sequence[Point]) -> list[list[float | None]]:
    """Return the share found by trained row and tested column, means over seeds.

    None where nothing is measured, or the transform changed no text.
    """
    chosen = largest(plan, points, "one")
    return [[_mean(chosen, row, column) for column in plan.transforms] for row in plan.transforms]


def _mean(points: Sequence[Point], row: str, column: str) -> float | None:
    shares = [
        point.found[column].share
        for point in points
        if point.cell.transform == row and column in point.found
    ]
    return fmean(shares) if shares else None


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
    """Say how far a repair reaches, and what salad alone teaches."""
    own, others = own_and_others(values)
    words = f"Taught one kind of broken text, the model finds {fmean(own):.0%} of that kind"
    words += f" and {fmean(others):.0%} of the others." if others else "."
    if only is None:
        return words
    return (
        f"{words} Trained on shuffled texts only it is right on {only['salad']:.1%} of whole ones, "
        f"trained on whole ones on {only['clean']:.1%}."
    )


def row_of(cell: Cell) -> str:
    """Name what a cell was trained on."""
    return cell.transform if cell.lesson == "one" else cell.lesson.replace("_", " ")
