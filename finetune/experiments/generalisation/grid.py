"""The figures of a generalisation: accuracy by what was trained on and what is tested.

Of several learning rates the one is taken that does best on held-out pairs of what was trained
on; of several repeats the counts are added up.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from finetune.experiments.generalisation.point import Point, Scores, share_right, total
from probe.metrics import Estimate, Share
from probe.tasks.task import Label

Results = Mapping[tuple[str, int], Sequence[Point]]
"""The repeats with the chosen rate, by condition trained on and size."""


@dataclass(frozen=True)
class Loss:
    """What is lost, as a share, where a model trained on one condition is tested on another."""

    row: str
    column: str
    own: Estimate
    away: Estimate
    loss: Estimate


def chosen(points: Iterable[Point]) -> Results:
    """Choose a learning rate for each condition and size; ties go to the smaller rate.

    One at which a training diverged is chosen only where it did so at all.
    """

    def merit(own: Sequence[Point]) -> tuple[bool, float, float]:
        whole = not any(point.diverged for point in own)
        return whole, fmean(point.dev for point in own), -own[0].cell.lr

    by_rate: dict[tuple[str, int], dict[float, list[Point]]] = {}
    for point in points:
        if point.cell.size:
            rates = by_rate.setdefault((point.cell.train, point.cell.size), {})
            rates.setdefault(point.cell.lr, []).append(point)
    return {key: max(rates.values(), key=merit) for key, rates in by_rate.items()}


def untrained(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the model as it was, on the test sets of each repeat."""
    return tuple(point for point in points if not point.cell.size)


def on_condition(points: Iterable[Point], column: str) -> Estimate:
    """Return the accuracy on a condition over all repeats, with Wilson's interval."""
    return estimate(point.tests[column] for point in points)


def on_original(points: Iterable[Point]) -> Estimate:
    """Return the accuracy on the original set, which is the same in all repeats: their mean."""
    hits = [total(point.original) for point in points]
    right, n = fmean(each.right for each in hits), hits[0].n
    return replace(Share(round(right), n).estimate(), value=right / n)


def estimate(scores: Iterable[Scores]) -> Estimate:
    """Return the accuracy over sets of several repeats together, with Wilson's interval."""
    hits = [total(each) for each in scores]
    return Share(sum(each.right for each in hits), sum(each.n for each in hits)).estimate()


def by_label(points: Sequence[Point], column: str) -> dict[Label, Estimate]:
    """Return the accuracy on a condition by gold label over all repeats."""
    return labelled([point.tests[column] for point in points])


def labelled(scores: Sequence[Scores]) -> dict[Label, Estimate]:
    """Return the accuracy by gold label over sets of several repeats."""
    labels = dict.fromkeys(label for each in scores for label in each)
    return {
        label: estimate({label: each[label]} for each in scores if label in each)
        for label in labels
    }


def constant(points: Iterable[Point], column: str) -> float:
    """Return the share of a condition's pairs that the best single answer gets right."""
    counts: dict[Label, int] = {}
    for point in points:
        for label, hits in point.tests[column].items():
            counts[label] = counts.get(label, 0) + hits.n
    return max(counts.values()) / sum(counts.values())


def repeats(points: Iterable[Point], column: str) -> tuple[float, ...]:
    """Return the accuracy on a condition of each repeat."""
    return tuple(share_right(point.tests[column]) for point in points)


def loss(points: Sequence[Point], row: str, column: str) -> Loss:
    """Return what a model trained on a row loses on a column.

    The interval is Newcombe's for a difference of two shares (1998, method 10): it covers which
    pairs were tested, not which templates.
    """
    own, away = on_condition(points, row), on_condition(points, column)
    value = own.value - away.value
    low = value - math.hypot(own.value - own.low, away.high - away.value)
    high = value + math.hypot(own.high - own.value, away.value - away.low)
    return Loss(row, column, own, away, Estimate(value, low, high, min(own.n, away.n)))
