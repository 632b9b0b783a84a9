"""The matrix of a transfer: trained on a row's transform, tested on a column's."""

from collections.abc import Sequence

import pandas as pd
from markupsafe import Markup

from finetune.trials.transfer import Plan, Point, matrix, row_of
from probe.pictures.heat_map import Head, HeatMap, heat_svg, share_cell
from probe.statistics import NOTHING, Estimate

TITLE = "Share of broken texts found invalid: taught the row's transform, tested on the column's"


def transfer_heat(plan: Plan, points: Sequence[Point]) -> HeatMap:
    """Return the matrix, means over the seeds of the largest size."""
    heads = [Head(name) for name in plan.transforms]
    cells = [[share_cell(_estimate(value)) for value in row] for row in matrix(plan, points)]
    return HeatMap(heads, heads, cells, "taught ↓ tested →")


def _estimate(value: float | None) -> Estimate:
    return NOTHING if value is None else Estimate(value, value, value, 1)


def transfer_svg(plan: Plan, points: Sequence[Point]) -> Markup:
    """Draw it as a file."""
    return heat_svg(transfer_heat(plan, points), TITLE)


def transfer_frame(points: Sequence[Point]) -> pd.DataFrame:
    """Return a row for each cell: what it was trained on, clean accuracy, what is found."""
    return pd.DataFrame([_row(point) for point in points])


def _row(point: Point) -> dict[str, object]:
    return {
        "trained_on": row_of(point.cell),
        "size": point.cell.size,
        "seed": point.cell.seed,
        "n": point.clean.n,
        "clean": point.clean.share,
        **{f"found_{name}": each.share for name, each in point.found.items()},
        **{f"n_{name}": each.n for name, each in point.found.items()},
        "seconds": point.seconds,
    }
