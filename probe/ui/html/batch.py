"""What the Batch tab shows of scored rows: progress, cards, chart, tables, files."""

import json
import os
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from probe.analysis.batch import Chunk, Row, made_frame, scored_frame
from probe.analysis.summary import MEASURES, Summary, summary_frame
from probe.analysis.transformed import Transformed
from probe.baselines import BASELINES
from probe.baselines.evaluate import evaluate_baseline
from probe.data.tables import Table, write_table
from probe.metrics import Estimate
from probe.models.classifier import Classifier, Precision, resolve
from probe.reports.charts import by_transform
from probe.ui.html.elements import meter

PAGE = 20
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


def progress(chunk: Chunk) -> str:
    """Show how far the work is, its speed and the time left."""
    done = chunk.done == chunk.total
    left = f"{chunk.seconds:.0f} s in all" if done else f"about {chunk.left:.0f} s left"
    return (
        f"{meter('rows scored', chunk.done / chunk.total)}"
        f'<p class="fine">{chunk.done} of {chunk.total} rows, '
        f"{chunk.per_second:.0f} a second, {left}</p>"
    )


def cards(summary: Summary, classifier: Classifier, precision: Precision) -> str:
    """Show the figures of the untouched pairs, each with n and its interval."""
    said = " · ".join(f"{count} {label}" for label, count in summary.predicted.items())
    errors = (
        f"{summary.errors} with an error, see the column error" if summary.errors else "no errors"
    )
    cut = f"; {summary.cut} too long, cut" if summary.cut else ""
    parts = [
        ("rows scored", f"{summary.scored} of {summary.rows}", errors + cut),
        ("accuracy", *_figure(summary.original.accuracy, "no gold labels in this file")),
        ("mean confidence", *_figure(summary.original.confidence, "")),
        ("model", escape(classifier.name), f"{resolve(precision)}; says {said}"),
    ]
    shown = "".join(
        f'<div class="card"><div class="fine">{name}</div><div class="figure">{value}</div>'
        f'<div class="fine">{more}</div></div>'
        for name, value, more in parts
    )
    return f'<div class="cards">{shown}</div>'


def _figure(estimate: Estimate, nothing: str) -> tuple[str, str]:
    if not estimate.n:
        return "–", nothing
    interval = f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"
    return f"{100 * estimate.value:.1f} %", f"95 % interval {interval}, n = {estimate.n}"


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
        f"{100 * value:.1f} % ({100 * low:.1f}–{100 * high:.1f}), n = {n}"
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


def view(rows: Sequence[Row], names: Sequence[str]) -> pd.DataFrame:
    """Return the rows as the page shows them; columns with an underscore serve the filters."""
    return pd.DataFrame([_view(row, names) for row in rows])


def _view(row: Row, names: Sequence[str]) -> dict[str, Any]:
    pair, said = row.pair, row.prediction
    cells: dict[str, Any] = {
        "row": row.number + 1,
        "premise": pair.premise if pair else "",
        "hypothesis": pair.hypothesis if pair else "",
        "gold": (pair.gold or "") if pair else "",
        "prediction": f"{said.label} {said.confidence:.2f}" if said else f"error: {row.error}",
    }
    for name in names:
        cells[name] = " ¶ ".join(_transformed_text(one) for one in row.transformed.get(name, ()))
    several = (one for made in row.transformed.values() for one in made)
    changed = (not one.agrees and one.result.changed for one in several)
    return cells | {
        "_error": bool(row.error),
        "_wrong": row.right is False,
        "_changed": any(changed),
    }


def _transformed_text(one: Transformed) -> str:
    mark = "=" if one.agrees else "≠"
    said = f"{mark} {one.prediction.label} {one.prediction.confidence:.2f}: "
    pair, before = one.result.pair, one.result.original
    premise = f"{pair.premise} ▸ " if pair.premise != before.premise else ""
    return f"{said}{premise}{pair.hypothesis}"


def baselines(rows: Sequence[Row]) -> pd.DataFrame:
    """Return what the rule baselines reach on the rows with a gold label."""
    pairs = [row.pair for row in rows if row.pair and row.pair.gold]
    evaluation = [(name, evaluate_baseline(name, pairs)) for name in BASELINES] if pairs else []
    lines = [
        (
            name,
            f"{100 * one.accuracy:.1f} % ({100 * one.low:.1f}–{100 * one.high:.1f}), n = {one.n}",
            BASELINES[name].summary,
        )
        for name, one in evaluation
        if one.n
    ]
    return pd.DataFrame(lines, columns=["baseline", "accuracy", "what it looks at"])


def page(frame: pd.DataFrame, kept: str, number: int) -> tuple[pd.DataFrame, str, int]:
    """Return one page of the rows that the filter keeps, where it stands in words, its number."""
    shown = frame[frame[FILTERS[kept]]] if kept in FILTERS else frame
    last = max(1, -(-len(shown) // PAGE))
    number = min(max(1, number), last)
    part = shown.iloc[(number - 1) * PAGE : number * PAGE].drop(columns=list(FILTERS.values()))
    return part, f'<p class="fine">page {number} of {last}, {len(shown)} rows</p>', number


def write_results(
    table: Table,
    rows: Sequence[Row],
    names: Sequence[str],
    shape: dict[str, Any],
    upload: Path,
    model: str,
) -> tuple[list[str], str]:
    """Write the scored file and the summary, and the rows for paging; return their places."""
    folder = Path(tempfile.mkdtemp(prefix="nli-clinic-", dir=cache_folder()))
    stem = upload.name.split(".")[0]
    out = folder / f"{stem}-scored.{table.form}"
    write_table(scored_frame(table, rows, names, model), out)
    made = folder / f"{stem}-pairs.{table.form}"
    if names:
        write_table(made_frame(rows, names), made)
    note = folder / f"{stem}-summary.json"
    note.write_text(json.dumps(shape, indent=1) + "\n", encoding="utf-8")
    paging = folder / "rows.jsonl"
    view(rows, names).to_json(paging, orient="records", lines=True, force_ascii=False)
    files = [out, note, made] if names else [out, note]
    return [str(path) for path in files], str(paging)


def cache_folder() -> Path:
    """Return gradio's own cache, which it empties by itself."""
    folder = Path(os.environ.get("GRADIO_TEMP_DIR", Path(tempfile.gettempdir()) / "gradio"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
