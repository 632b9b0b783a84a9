"""Scored rows as a person reads them: the rows a page at a time, and all measures as a table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from probe.analysis.batch import Row
from probe.analysis.summary import Summary, summary_frame
from probe.analysis.transformed import Transformed
from probe.data.rows import Columns, is_missing
from probe.data.rows import Record as FileRecord
from probe.models.windows import WindowPrediction, window_words
from probe.statistics import Estimate, percent
from probe.tasks.task import Task

Record = dict[str, Any]
"""A scored row as JSON values, as `view` makes it."""
ANY = "any label"
MAX_UNREAD = 500  # characters of a text that was not scored
FILTERS: Mapping[str, Callable[[Record], bool]] = {
    "All": lambda row: True,
    "Wrong": lambda row: bool(row["wrong"]),
    "Answer changed": lambda row: any(
        made["changed"] and not made["agrees"]
        for several in row["made"].values()
        for made in several
    ),
    "Least sure": lambda row: row["confidence"] is not None,
    "Not scored": lambda row: bool(row["error"]),
}
ALL, _, _, LEAST_SURE, NOT_SCORED = FILTERS
MEASURES = ["agreement", "confidence", "accuracy"]
GROUPS = {"entailed": "accuracy, entailed", "non_entailed": "accuracy, not entailed"}
"""How a group of the task is called; another one by its own name."""


def stays(row: Record, name: str) -> bool:
    """Whether a row's answer stays under a change that changed its text."""
    return any(made["changed"] and made["agrees"] for made in row["made"].get(name, ()))


def view(rows: Sequence[Row], names: Sequence[str], columns: Columns) -> list[Record]:
    """Return the rows as the page keeps and shows them."""
    return [_view(row, names, columns) for row in rows]


def _view(row: Row, names: Sequence[str], columns: Columns) -> Record:
    answer = row.prediction
    made = {name: [_made(each) for each in row.transformed.get(name, ())] for name in names}
    texts = example_view(row.task, None if row.error else row.example, row.record, columns)
    return {
        "row": row.number + 1,
        **texts,
        "label": answer.label if answer else "",
        "confidence": round(answer.confidence, 6) if answer else None,
        "error": row.error,
        "wrong": row.right is False,
        "marks": marks(
            row.legible.cut,
            row.legible.mostly_unknown,
            row.legible.language,
            window_words(answer) if isinstance(answer, WindowPrediction) else "",
        ),
        "made": made,
    }


def marks(cut: bool, unknown: bool, language: str, window: str) -> list[str]:
    """Return in a word or two each what keeps a model from reading a row as it stands."""
    said = {
        "end cut": cut,
        "words unknown": unknown,
        language: language,
        f"window {window} decides": window,
    }
    return [words for words, applies in said.items() if applies]


def example_view(task: Task, example: Any, record: FileRecord, columns: Columns) -> Record:
    """Return what a row shows of its example, or of what the file has there where it has none.

    `example` is of the task's dataclass, None where the row was not scored.
    """
    if example:
        return {"texts": task.texts(example), "gold": example.gold or ""}
    cells = columns.cells_of(record)
    return {"texts": {field: _readable(cells.get(field)) for field in task.fields}, "gold": ""}


def _readable(cell: object) -> str:
    """Return the beginning of a cell that may be of any length, and hold halves of characters."""
    text = "" if is_missing(cell) else str(cell)
    return text[:MAX_UNREAD].encode("utf-8", "replace").decode()


def _made(transformed: Transformed) -> Record:
    result = transformed.result
    task, answer = result.task, transformed.prediction
    return {
        "label": answer.label,
        "confidence": round(answer.confidence, 6),
        "agrees": transformed.agrees,
        "changed": result.changed,
        "note": transformed.note,
        "text": changed_text(task, task.texts(result.original), task.texts(result.example)),
    }


def changed_text(task: Task, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the texts that a change may have edited, or has."""
    shown = [text for field, text in after.items() if field == task.target or text != before[field]]
    return " ▸ ".join(shown)


def measures(summary: Summary) -> pd.DataFrame:
    """Return the measures by transform and gold label as a person reads them."""
    frame = summary_frame(summary)
    frame = frame[frame["n"] > 0]
    figures = frame[["value", "low", "high", "n"]].itertuples(index=False)
    shown = [
        _percent(Estimate(*estimate)) + (f" ({left:,} not in English)" if left else "")
        for estimate, left in zip(figures, frame["not_applicable"], strict=True)
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
