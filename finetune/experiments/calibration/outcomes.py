"""What the cells of a calibration say together: before and after, method by method."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from finetune.experiments.calibration.plan import BASE, METHODS, Method, Plan
from finetune.experiments.calibration.point import Point
from probe.calibration import CalibrationError, mean_error
from probe.metrics import joined_difference
from probe.runs.run import Json

LESS = 0.01
"""The change of a calibration error, or of agreement, that a sentence speaks of."""


@dataclass(frozen=True)
class Outcome:
    """What a method comes to at one size, means over the seeds; shares from 0 to 1.

    `error` is the calibration error with its interval, and what chance alone gives.
    """

    method: Method
    size: int
    seeds: int
    accuracy: float
    confidence: float
    ece: float
    brier: float
    log_loss: float
    temperature: float
    agreement: float
    error: CalibrationError


def outcomes(points: Sequence[Point]) -> tuple[Outcome, ...]:
    """Return the outcome of each method and size, in the order of the points."""
    groups: dict[tuple[Method, int], list[Point]] = {}
    for point in points:
        groups.setdefault((point.cell.method, point.cell.size), []).append(point)
    return tuple(_outcome(group) for group in groups.values())


def _outcome(points: Sequence[Point]) -> Outcome:
    cell = points[0].cell
    means = {
        name: fmean(getattr(point.calibration, name) for point in points)
        for name in ("accuracy", "confidence", "ece", "brier", "log_loss")
    }
    temperature = fmean(point.temperature for point in points)
    agreement = fmean(point.agreement for point in points)
    return Outcome(
        cell.method,
        cell.size,
        len(points),
        **means,
        temperature=temperature,
        agreement=agreement,
        error=mean_error([point.calibration for point in points]),
    )


def conclude(plan: Plan, points: Sequence[Point]) -> Json | None:
    """Return the verdict: before and after the first method, and every outcome.

    None before the model as it was and the largest size of that method are measured.
    """
    measured = outcomes(points)
    before = next((each for each in measured if each.method == BASE.method), None)
    after = [each for each in measured if each.method == plan.methods[0]]
    wanted = 0 if plan.methods[0] == "temperature" else max(plan.sizes)
    if before is None or not after or max(each.size for each in after) < wanted:
        return None
    largest = max(after, key=lambda each: each.size)
    return {
        "name": METHODS[largest.method].title,
        "explanation": explanation(before, largest),
        "method": largest.method,
        "ece_before": before.ece,
        "ece_after": largest.ece,
        "ece_by_chance": largest.error.chance.value,
        "temperature": largest.temperature,
        "agreement_before": before.agreement,
        "agreement_after": largest.agreement,
        "methods": [asdict(each) for each in measured],
        "per_transform": _per_transform(points),
    }


def _per_transform(points: Sequence[Point]) -> Json:
    """Return by method what share of each transform's texts gets the answer expected."""
    shares: dict[str, dict[str, list[float]]] = {}
    for point in points:
        own = shares.setdefault(point.cell.method, {})
        for name, each in point.salad.items():
            own.setdefault(name, []).append(each.agree / each.n)
    return {
        method: {name: fmean(values) for name, values in own.items()}
        for method, own in shares.items()
    }


def explanation(before: Outcome, after: Outcome) -> str:
    """Say what calibration changed, and whether it cured word salad."""
    title = METHODS[after.method].title
    error = f"from {_with_interval(before.error)} to {_with_interval(after.error)}"
    agreement = f"{before.agreement:.1%} before, {after.agreement:.1%} after"
    change = joined_difference(before.error.found, after.error.found)
    first = (
        f"{title} brings the calibration error down {error}."
        if change.value < -LESS and change.high < 0
        else f"{title} takes the calibration error up {error}."
        if change.value > LESS and change.low > 0
        else f"{title} does not measurably change the calibration error, {error}."
    )
    first += (
        f" Perfectly calibrated answers would come to {after.error.chance.value:.3f} by chance."
    )
    lost = before.agreement - after.agreement
    second = "As many answers stay on word salad as before"
    if abs(lost) > LESS:
        second = f"{'Fewer' if lost > 0 else 'More'} answers stay on word salad than before"
    return f"{first} {second}: {agreement}."


def _with_interval(error: CalibrationError) -> str:
    found = error.found
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
