"""Which learning rate speaks for a size: Liu et al.'s choice and the one that peeks at no test.

The paper reports the rate with the best challenge test score, though it says in the same
paragraph that the rate is tuned on original dev; both are here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean
from typing import Literal

import numpy as np

from finetune.experiments.inoculation.point import Point

Selection = Literal["oracle_lr", "dev_lr"]


@dataclass(frozen=True)
class SelectedPoint:
    """The scores at one size with the learning rate chosen there, means over the seeds.

    The two of rows hold for each test row its mean score, of labels the share of seeds that got it
    right; `control` is None where there is no control set, `counter_tests` hold the scores of rows
    by the name of the test.
    """

    size: int
    lr: float
    seeds: int
    original: float
    challenge: float
    dev: float
    original_right: tuple[float, ...]
    challenge_right: tuple[float, ...]
    control: float | None = None
    counter_tests: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    diverged: bool = False


def choose(points: Iterable[Point], selection: Selection) -> tuple[SelectedPoint, ...]:
    """Choose a learning rate for each size, smallest size first; ties go to the smaller rate.

    One at which a training diverged is chosen only where it did so at all.
    """
    merged = [merge(group) for group in _groups(points)]
    chosen = []
    for _, rates in groupby(merged, key=lambda point: point.size):
        chosen.append(max(rates, key=lambda point: (*_score(point, selection), -point.lr)))
    return tuple(chosen)


def _score(point: SelectedPoint, selection: Selection) -> tuple[bool, float]:
    return not point.diverged, point.challenge if selection == "oracle_lr" else point.dev


def _groups(points: Iterable[Point]) -> list[list[Point]]:
    ordered = sorted(points, key=lambda point: (point.cell.size, point.cell.lr))
    by_rate = groupby(ordered, key=lambda point: (point.cell.size, point.cell.lr))
    return [list(group) for _, group in by_rate]


def merge(points: Sequence[Point]) -> SelectedPoint:
    """Average the seeds of one size and learning rate."""
    return SelectedPoint(
        points[0].cell.size,
        points[0].cell.lr,
        len(points),
        fmean(point.original for point in points),
        fmean(point.challenge for point in points),
        fmean(point.dev for point in points),
        _mean_rows([point.original_right for point in points]),
        _mean_rows([point.challenge_right for point in points]),
        _mean([point.control for point in points if point.control is not None]),
        {
            name: _mean_rows([point.counter_tests[name] for point in points])
            for name in points[0].counter_tests
        },
        any(point.diverged for point in points),
    )


def _mean_rows(scores: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(np.mean(scores, axis=0).tolist())


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
