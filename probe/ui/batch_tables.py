"""Scored rows as a person reads them: the rows a page at a time, the measures, the chart."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from probe.analysis.batch import Row
from probe.analysis.summary import Summary, summary_frame
from probe.analysis.transformed import Transformed
from probe.baselines import BASELINES, baselines_for
from probe.baselines.evaluate import evaluate_baseline
from probe.metrics import Estimate, percent
from probe.reports.charts import by_transform

PAGE_ROWS = 20
ALL = "all rows"
FILTERS = {
    "errors": "_error",
    "wrong predictions": "_wrong",
    "changed by a transform": "_changed",
}
MEASURES = ["agreement", "confidence", "accuracy"]
GROUPS = {"entailed": "accuracy, entailed", "non_entailed": "accuracy, not entailed"}
"""How a group of the task is called; another one by its own name."""


def chart(summary: Summary) -> alt.LayerChart | None:
    """Draw agreement and confidence by transform, accuracy where there is gold."""
    frame = summary_frame(summary)
    frame = frame[(frame["label"] == "all") & (frame["n"] > 0)]
    return by_transform(frame, MEASURES, len(summary.predicted)) if len(frame) else None


def measures(summary: Summary) -> pd.DataFrame:
    """Return the measures by transform and gold label as a person reads them."""
    frame = summary_frame(summary)
    frame = frame[frame["n"] > 0]
    shown = [
        _percent(Estimate(value, low, high, n))
        for value, low, high, n in zip(
            frame["value"], frame["low"], frame["high"], frame["n"], strict=True
        )
    ]
    groups = [name for name in summary.original.estimates if name not in MEASURES]
    names = [*MEASURES, *groups]
    titles = {name: GROUPS.get(name, f"accuracy, {name}") for name in groups}
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
        .reindex(columns=names)
        .fillna("–")
        .reset_index()
        .sort_values("transform", key=lambda names: names.map(order), kind="stable")
        .rename(columns={"label": "gold label before", **titles})
    )


def _percent(estimate: Estimate) -> str:
    return f"{percent(estimate, '–')}, n = {estimate.n}"


def view(rows: Sequence[Row], names: Sequence[str]) -> pd.DataFrame:
    """Return the rows as the page shows them; columns with an underscore serve the filters."""
    return pd.DataFrame([_view(row, names) for row in rows])


def _view(row: Row, names: Sequence[str]) -> dict[str, Any]:
    example, answer = row.example, row.prediction
    texts = row.task.texts(example) if example else dict.fromkeys(row.task.fields, "")
    cells: dict[str, Any] = {
        "row": row.number + 1,
        **texts,
        "gold": (example.gold or "") if example else "",
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
    result = transformed.result
    texts, before = result.task.texts(result.example), result.task.texts(result.original)
    target = result.task.target
    shown = [text for field, text in texts.items() if field == target or text != before[field]]
    return f"{sign} {answer.label} {answer.confidence:.2f}: {' ▸ '.join(shown)}"


def baselines(rows: Sequence[Row]) -> pd.DataFrame:
    """Return what the rule baselines reach on the rows with a gold label."""
    golden = [row for row in rows if row.example and row.example.gold]
    names = baselines_for(golden[0].task) if golden else ()
    judged = {name: evaluate_baseline(name, [row.example for row in golden]) for name in names}
    lines = [
        (name, _percent(evaluation.estimate), BASELINES[name].summary)
        for name, evaluation in judged.items()
        if evaluation.n
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
