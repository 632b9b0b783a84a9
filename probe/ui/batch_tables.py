"""Scored rows as a person reads them: the rows a page at a time, the measures, the chart."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from probe.analysis.batch import Row
from probe.analysis.summary import MEASURES, Summary, summary_frame
from probe.analysis.transformed import Transformed
from probe.baselines import BASELINES
from probe.baselines.evaluate import evaluate_baseline
from probe.reports.charts import by_transform

PAGE_ROWS = 20
ALL = "all rows"
FILTERS = {
    "errors": "_error",
    "wrong predictions": "_wrong",
    "changed by a transform": "_changed",
}
CHARTED = ["agreement", "confidence", "accuracy"]
TABLED = {name: name.replace("_", "-") for name in MEASURES} | {
    "entailed": "accuracy, entailed",
    "non_entailed": "accuracy, not entailed",
}


def chart(summary: Summary) -> alt.LayerChart | None:
    """Draw agreement and confidence by transform, accuracy where there is gold."""
    frame = summary_frame(summary)
    frame = frame[(frame["label"] == "all") & (frame["n"] > 0)]
    return by_transform(frame, CHARTED) if len(frame) else None


def measures(summary: Summary) -> pd.DataFrame:
    """Return the measures by transform and gold label as a person reads them."""
    frame = summary_frame(summary)
    frame = frame[frame["n"] > 0]
    shown = [
        _percent(value, low, high, n)
        for value, low, high, n in zip(
            frame["value"], frame["low"], frame["high"], frame["n"], strict=True
        )
    ]
    order = {name: at for at, name in enumerate(["original", *summary.transforms])}
    return (
        frame.assign(shown=shown)
        .pivot_table(
            index=["transform", "label"],
            columns="measure",
            values="shown",
            aggfunc="first",
            sort=False,
        )
        .reindex(columns=list(TABLED))
        .fillna("–")
        .reset_index()
        .sort_values("transform", key=lambda names: names.map(order), kind="stable")
        .rename(columns={"label": "gold label before", **TABLED})
    )


def _percent(value: float, low: float, high: float, n: int) -> str:
    return f"{100 * value:.1f} % ({100 * low:.1f}–{100 * high:.1f}), n = {n}"


def view(rows: Sequence[Row], names: Sequence[str]) -> pd.DataFrame:
    """Return the rows as the page shows them; columns with an underscore serve the filters."""
    return pd.DataFrame([_view(row, names) for row in rows])


def _view(row: Row, names: Sequence[str]) -> dict[str, Any]:
    pair, answer = row.pair, row.prediction
    cells: dict[str, Any] = {
        "row": row.number + 1,
        "premise": pair.premise if pair else "",
        "hypothesis": pair.hypothesis if pair else "",
        "gold": (pair.gold or "") if pair else "",
        "prediction": f"{answer.label} {answer.confidence:.2f}"
        if answer
        else f"error: {row.error}",
    }
    for name in names:
        cells[name] = " ¶ ".join(map(_transformed_text, row.transformed.get(name, ())))
    every = (each for several in row.transformed.values() for each in several)
    return cells | {
        "_error": bool(row.error),
        "_wrong": row.right is False,
        "_changed": any(not each.agrees and each.result.changed for each in every),
    }


def _transformed_text(transformed: Transformed) -> str:
    sign, answer = "=" if transformed.agrees else "≠", transformed.prediction
    pair, before = transformed.result.pair, transformed.result.original
    premise = f"{pair.premise} ▸ " if pair.premise != before.premise else ""
    return f"{sign} {answer.label} {answer.confidence:.2f}: {premise}{pair.hypothesis}"


def baselines(rows: Sequence[Row]) -> pd.DataFrame:
    """Return what the rule baselines reach on the rows with a gold label."""
    pairs = [row.pair for row in rows if row.pair and row.pair.gold]
    estimates = {name: evaluate_baseline(name, pairs) for name in BASELINES} if pairs else {}
    lines = [
        (name, _percent(of.accuracy, of.low, of.high, of.n), BASELINES[name].summary)
        for name, of in estimates.items()
        if of.n
    ]
    return pd.DataFrame(lines, columns=["baseline", "accuracy", "what it looks at"])


def page(frame: pd.DataFrame, kept: str, number: int) -> tuple[pd.DataFrame, str, int]:
    """Return one page of the rows that the filter keeps, where it stands in words, its number."""
    shown = frame[frame[FILTERS[kept]]] if kept in FILTERS else frame
    last = max(1, -(-len(shown) // PAGE_ROWS))
    number = min(max(1, number), last)
    part = shown.iloc[(number - 1) * PAGE_ROWS : number * PAGE_ROWS]
    words = f"page {number} of {last}, {len(shown)} rows"
    return part.drop(columns=list(FILTERS.values())), words, number
