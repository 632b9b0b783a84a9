"""Points of a generalisation with known numbers of correct predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from finetune.trials.generalisation import (
    TRIALS,
    Cell,
    GeneralisationRun,
    Hits,
    Plan,
    Point,
    base_cell,
    generalisation_run,
    verdict_of,
)
from probe.runs.run import State, StoredRun
from tests.support.runs.stored import stored

LEVELS = ("simple", "medium", "complex")
PLAN = Plan("minilm", "numerical", "complexity", LEVELS, LEVELS, (100,), (1e-3,), (0, 1), tests=300)
TESTS = 300
"""Pairs of each condition and repeat, a third of each label."""


def scores(right: int, n: int = TESTS) -> Mapping[str, Hits]:
    """Return counts by label that add up to so many right of n."""
    first, second = right // 3, right // 3
    parts = zip(
        ("contradiction", "entailment", "neutral"), (first, second, right - 2 * first), strict=True
    )
    return {label: Hits(hits, n // 3) for label, hits in parts}


def make_point(cell: Cell, right: Sequence[int], dev: float = 0.9, original: int = 240) -> Point:
    """Return a point with so many of 300 right on simple, medium and complex sentences."""
    tests = {name: scores(hits) for name, hits in zip(LEVELS, right, strict=True)}
    return Point(cell, scores(original), tests, dev, 3, 2, 1.5, "fp32")


def make_points(matrix: Sequence[Sequence[int]], plan: Plan = PLAN) -> list[Point]:
    """Return both repeats before training, and after it a line of right ones for each row."""
    before = [make_point(base_cell(seed), (100, 100, 100), 0.0) for seed in plan.seeds]
    after = [
        make_point(Cell(row, 100, 1e-3, seed), line)
        for row, line in zip(plan.rows, matrix, strict=True)
        for seed in plan.seeds
    ]
    return [*before, *after]


def make_run(
    points: Sequence[Point], plan: Plan = PLAN, state: State = "done", run_id: str = "run1"
) -> GeneralisationRun:
    """Return a run of these points, judged if there are enough; other cells are queued."""
    return generalisation_run(stored_run(points, plan, state, run_id))


def stored_run(
    points: Sequence[Point], plan: Plan = PLAN, state: State = "done", run_id: str = "run1"
) -> StoredRun:
    """Return such a run as it is stored."""
    finished = 1060.0 if state == "done" else 0.0
    run = stored(TRIALS, plan, points, id=run_id, state=state, finished=finished)
    return replace(run, verdict=verdict_of(run, {}) or {})
