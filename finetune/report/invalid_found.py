"""What each repair finds invalid, by transform, beside what it costs on whole texts."""

from collections.abc import Sequence

import pandas as pd
from markupsafe import Markup

from finetune.trials.mitigation import METHODS, Point, collapsed, outcomes
from probe.pictures.heat_map import Cell, Head, HeatMap, heat_svg, share_cell
from probe.statistics import Estimate

TITLE = "Clean accuracy, and the share of broken texts that is found invalid"


def invalid_heat(points: Sequence[Point]) -> HeatMap:
    """Return a row for each method and size, means over the seeds."""
    measured = outcomes(points)
    names = list(dict.fromkeys(name for each in measured for name in each.per_transform))
    counts = {name: each.n for point in points for name, each in point.found.items()}
    rows = [
        Head(f"{METHODS[each.method].title}{f', {each.size} examples' if each.size else ''}")
        for each in measured
    ]
    cells = [
        [
            Cell(f"{each.clean:.2f}"),
            _share(each.invalid_found, sum(counts.values())),
            *(_share(each.per_transform.get(name, 0.0), counts[name]) for name in names),
        ]
        for each in measured
    ]
    columns = [Head("clean"), Head("all broken"), *(Head(name) for name in names)]
    return HeatMap(rows, columns, cells)


def _share(value: float, n: int) -> Cell:
    return share_cell(Estimate(value, value, value, n))


def invalid_svg(points: Sequence[Point]) -> Markup:
    """Draw it as a file."""
    return heat_svg(invalid_heat(points), TITLE)


def invalid_frame(points: Sequence[Point]) -> pd.DataFrame:
    """Return a row for each cell: clean accuracy, and what is found, by transform."""
    return pd.DataFrame([_row(point) for point in points])


def _row(point: Point) -> dict[str, object]:
    return {
        **vars(point.cell),
        "n": point.clean.n,
        "clean": point.clean.share,
        "rejected": point.rejected.share,
        "invalid_found": point.invalid_found,
        **{f"found_{name}": each.share for name, each in point.found.items()},
        **{f"n_{name}": each.n for name, each in point.found.items()},
        "threshold": point.threshold,
        "temperature": point.temperature,
        "collapsed": collapsed(point),
        "seconds": point.seconds,
    }
