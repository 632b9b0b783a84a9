"""What the cells of a mitigation say together: what each method finds, and what it costs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from finetune.experiments.mitigation.plan import BASE, METHODS, Method, Plan, is_largest
from finetune.experiments.mitigation.point import Point
from probe.runs.run import Json

COLLAPSED = 0.95
"""The share of clean answers from which a model counts as collapsed to one class."""
REJECTING = 0.5
"""The share of clean examples called invalid from which a repair costs too much."""


@dataclass(frozen=True)
class Outcome:
    """What a method comes to at one size, means over the seeds; shares from 0 to 1."""

    method: Method
    size: int
    seeds: int
    clean: float
    rejected: float
    invalid_found: float
    threshold: float
    temperature: float
    collapsed: bool
    per_transform: dict[str, float]


def collapsed(point: Point) -> bool:
    """Whether a training ends with one answer to nearly all clean examples, unlike their golds."""
    return point.cell.size > 0 and point.commonest >= COLLAPSED > point.gold_commonest


def outcomes(points: Sequence[Point]) -> tuple[Outcome, ...]:
    """Return the outcome of each method and size, in the order of the points."""
    groups: dict[tuple[Method, int], list[Point]] = {}
    for point in points:
        groups.setdefault((point.cell.method, point.cell.size), []).append(point)
    return tuple(_outcome(group) for group in groups.values())


def _outcome(points: Sequence[Point]) -> Outcome:
    cell = points[0].cell
    return Outcome(
        cell.method,
        cell.size,
        len(points),
        fmean(point.clean.share for point in points),
        fmean(point.rejected.share for point in points),
        fmean(point.invalid_found for point in points),
        fmean(point.threshold for point in points),
        fmean(point.temperature for point in points),
        any(collapsed(point) for point in points),
        {
            name: fmean(point.found[name].share for point in points if name in point.found)
            for name in points[0].found
        },
    )


def conclude(plan: Plan, points: Sequence[Point]) -> Json | None:
    """Return the verdict: the first method at its largest size, and every outcome.

    None before the model as it was and that are measured.
    """
    measured = outcomes(points)
    before = next((each for each in measured if each.method == BASE.method), None)
    chosen = [point for point in points if is_largest(plan, point.cell)]
    if before is None or not chosen:
        return None
    after = _outcome(chosen)
    return {
        "name": METHODS[after.method].title,
        "explanation": explanation(before, after),
        "method": after.method,
        "clean": after.clean,
        "clean_before": before.clean,
        "invalid_found": after.invalid_found,
        "per_transform": after.per_transform,
        "methods": [asdict(each) for each in measured],
        "warnings": [warning for each in measured for warning in _warnings(each)],
    }


def explanation(before: Outcome, after: Outcome) -> str:
    """Say what a repair finds, and what it costs."""
    title = METHODS[after.method].title
    lost = 100 * (before.clean - after.clean)
    cost = f"loses {lost:.1f} points" if lost > 0 else "loses nothing"
    return (
        f"{title}: the model finds {after.invalid_found:.0%} of the broken texts and {cost} on "
        f"whole ones ({before.clean:.1%} before, {after.clean:.1%} after)."
    )


def _warnings(outcome: Outcome) -> Iterator[str]:
    trained = f"{METHODS[outcome.method].title}, {outcome.size} examples"
    if outcome.collapsed:
        yield (
            f"{trained}: the model collapsed, it gives nearly every whole text the same answer; a "
            "smaller share of transforms that ask the model, such as 0.4 or 0.3, may help."
        )
    if outcome.rejected >= REJECTING:
        yield (
            f"{trained}: the model calls {outcome.rejected:.0%} of whole texts invalid; more "
            "examples, more epochs or a smaller share that is destroyed may help."
        )
