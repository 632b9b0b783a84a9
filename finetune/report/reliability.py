"""Reliability diagrams: accuracy over confidence in 15 bins, before and after a calibration."""

from collections.abc import Iterator, Sequence

import pandas as pd
from markupsafe import Markup

from finetune.trials.calibration import METHODS, Point, outcomes
from probe.pictures import svg
from probe.statistics import Bin, Calibration, mean_error

SIDE, MARGIN, HEAD, FOOT = 220, 56, 84, 64
"""Pixels of a diagram's side, around it, above and below."""
BAR, GAP = "#0072b2", "#d89000"
"""An accuracy, and how far confidence is from it."""
LEGEND = (
    "Blue: accuracy of the answers in a bin. Orange: how far their mean confidence is from it. "
    "Dashed: as often right as sure."
)


def reliability_svg(points: Sequence[Point]) -> Markup:
    """Draw a diagram for each method: its point of the largest size and first seed."""
    chosen = {point.cell.method: point for point in sorted(points, key=_rank)}
    agreements = {
        each.method: each.agreement for each in sorted(outcomes(points), key=lambda one: one.size)
    }
    width = max(MARGIN + len(chosen) * (SIDE + MARGIN), svg.width_of([LEGEND]))
    parts = [svg.text(16, 26, "Reliability")]
    for at, (method, point) in enumerate(chosen.items()):
        title = METHODS[method].title
        left = MARGIN + at * (SIDE + MARGIN)
        parts += _diagram(point.calibration, title, agreements[method], left)
    parts.append(svg.text(16, HEAD + SIDE + FOOT - 6, LEGEND, fill=svg.SOFT))
    return svg.drawing(width, HEAD + SIDE + FOOT + 8, "Reliability", parts)


def _rank(point: Point) -> tuple[int, int]:
    """Sort the point that is drawn of a method behind its others."""
    return point.cell.size, -point.cell.seed


def _diagram(measured: Calibration, title: str, agreement: float, left: float) -> Iterator[Markup]:
    yield svg.text(left, 50, title)
    by_chance = mean_error([measured]).chance.value
    words = f"ECE {measured.ece:.3f}, {by_chance:.3f} by chance · {agreement:.0%} stay"
    yield svg.text(left, 70, words, fill=svg.SOFT)
    yield svg.box(left, HEAD, SIDE, SIDE, svg.TRACK)
    for each in measured.bins:
        if each.n:
            yield from _bar(each, left)
    yield Markup(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-dasharray="4 4"/>'
    ).format(left, HEAD + SIDE, left + SIDE, HEAD, svg.SOFT)
    yield svg.text(left, HEAD + SIDE + 18, "0", fill=svg.SOFT)
    yield svg.text(left + SIDE / 2, HEAD + SIDE + 18, "confidence", "middle", svg.SOFT)
    yield svg.text(left + SIDE, HEAD + SIDE + 18, "1", "end", svg.SOFT)


def _bar(each: Bin, left: float) -> Iterator[Markup]:
    start, width = left + SIDE * each.low, SIDE * (each.high - each.low) - 1
    low, high = sorted((each.accuracy, each.confidence))
    yield svg.box(start, HEAD + SIDE * (1 - each.accuracy), width, SIDE * each.accuracy, BAR)
    yield svg.box(start + width / 3, HEAD + SIDE * (1 - high), width / 3, SIDE * (high - low), GAP)


def points_frame(points: Sequence[Point]) -> pd.DataFrame:
    """Return a row for each cell: its calibration on clean test, and agreement by transform."""
    return pd.DataFrame([_row(point) for point in points])


def _row(point: Point) -> dict[str, object]:
    measured = point.calibration
    numbers = ("n", "accuracy", "confidence", "ece", "brier", "log_loss")
    return {
        **vars(point.cell),
        **{name: getattr(measured, name) for name in numbers},
        "temperature": point.temperature,
        "agreement": point.agreement,
        **{f"agreement_{name}": each.agree / each.n for name, each in point.salad.items()},
        **{f"confidence_{name}": each.confidence for name, each in point.salad.items()},
        "seconds": point.seconds,
    }
