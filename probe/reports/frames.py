"""Rows as tables: the input unchanged with our columns behind it, or one line a new example."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probe.analysis.batch import Row
from probe.analysis.comparison import Row as ComparedRow
from probe.analysis.lineage import lineage_json
from probe.analysis.transformed import Transformed
from probe.data.tables import Table
from probe.models.classifier import Model, Prediction
from probe.models.reader import span_place
from probe.tasks.task import Label, Task


def scored_frame(
    table: Table, rows: Sequence[Row], names: Sequence[str], model: Model
) -> pd.DataFrame:
    """Return the input rows, every column unchanged, with our columns behind them.

    Where the input has a column of one of our names, ours gets the model's name behind it.
    """
    columns = _scored_columns(_labels(model.task, rows), model.task, names)
    records = [_scored_record(row, names, columns) for row in rows]
    ours = pd.DataFrame(records, columns=columns, dtype=object)
    input_rows = table.frame.iloc[[row.number for row in rows]].reset_index(drop=True)
    return beside(input_rows, ours, model.name)


def beside(frame: pd.DataFrame, ours: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return a frame with our columns behind its own.

    Where it has a column of one of our names, ours gets the model's name behind it.
    """
    taken = set(frame.columns)
    rename = {}
    for name in ours.columns:
        free = name
        while free in taken:
            free = f"{free}.{Path(model).name}"
        rename[name] = free
        taken.add(free)
    return pd.concat([frame, ours.rename(columns=rename)], axis=1)


def _labels(task: Task, rows: Sequence[Row]) -> tuple[Label, ...]:
    """Return the labels that the model chooses among; the answers of a span task have none."""
    answers = (row.prediction.labels for row in rows if row.prediction)
    return next(answers, task.labels) if task.labels else ()


def _cell_names(task: Task) -> tuple[str, ...]:
    return (*task.fields, "gold", "prediction", "confidence", "agrees", "note")


def _scored_columns(labels: Sequence[Label], task: Task, names: Sequence[str]) -> list[str]:
    probabilities = [f"p_{label}" for label in labels]
    transformed = [f"{name}.{part}" for name in dict.fromkeys(names) for part in _cell_names(task)]
    spans = _span_columns(task)
    return ["prediction", "confidence", *probabilities, *spans, "error", *transformed]


def _scored_record(row: Row, names: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
    """Return our cells of one row; values are text, numbers and truth values."""
    record: dict[str, Any] = {"error": row.error}
    if row.prediction is None:
        return dict.fromkeys(columns) | record
    record |= _answer(row.task, row.prediction)
    if row.f1 is not None:
        record |= {"em": int(bool(row.right)), "f1": round(row.f1, 6)}
    for name in names:
        first = row.transformed[name][0]
        record |= {f"{name}.{part}": value for part, value in _cells(first).items()}
    return record


def _answer(task: Task, prediction: Prediction) -> dict[str, Any]:
    return {
        "prediction": prediction.label,
        "confidence": round(prediction.confidence, 6),
        **_probabilities(task, prediction),
        **span_place(prediction),
    }


def _probabilities(task: Task, prediction: Prediction) -> dict[str, float]:
    """Return a column for each label; the answers of a span task have none."""
    if not task.labels:
        return {}
    return {f"p_{label}": round(value, 6) for label, value in prediction.by_label.items()}


def _span_columns(task: Task) -> tuple[str, ...]:
    return ("start", "end", "em", "f1") if task.f1 else ()


def _cells(transformed: Transformed) -> dict[str, Any]:
    result = transformed.result
    several = f"the first of {result.of} pairs" if result.of > 1 else ""
    values = (
        *result.task.texts(result.example).values(),
        result.gold,
        transformed.prediction.label,
        round(transformed.prediction.confidence, 6),
        transformed.agrees,
        "; ".join(filter(None, (several, result.note))),
    )
    return dict(zip(_cell_names(result.task), values, strict=True))


def made_frame(rows: Sequence[Row], names: Sequence[str], task: Task) -> pd.DataFrame:
    """Return every example that the transforms made, one a line, `row` the input row from 1.

    `steps` is the lineage as JSON text: what each link of a chain made.
    """
    lines = [
        _line(row, transformed)
        for name in dict.fromkeys(names)
        for row in rows
        for transformed in row.transformed.get(name, ())
    ]
    columns = [
        *("row", "transform", "number", "of", *task.fields, "gold", "rule", "changed"),
        *("exact", "note", "prediction", "confidence"),
        *(f"p_{label}" for label in _labels(task, rows)),
        *_span_columns(task)[:2],
        *("agrees", "seed", "variant", "steps"),
    ]
    return pd.DataFrame(lines, columns=columns, dtype=object)


def _line(row: Row, transformed: Transformed) -> dict[str, Any]:
    result = transformed.result
    return {
        "row": row.number + 1,
        "transform": result.transform,
        "number": result.number,
        "of": result.of,
        **result.task.texts(result.example),
        "gold": result.gold,
        "rule": result.rule.name,
        "changed": result.changed,
        "exact": result.exact,
        "note": result.note,
        **_answer(row.task, transformed.prediction),
        "agrees": transformed.agrees,
        "seed": result.seed,
        "variant": result.variant,
        "steps": json.dumps(lineage_json(result), ensure_ascii=False),
    }


def compared_frame(table: Table, rows: Sequence[ComparedRow], names: Sequence[str]) -> pd.DataFrame:
    """Return the input rows, every column unchanged, and behind them a few columns a model.

    They are MODEL.prediction, .confidence, .p_LABEL and .right, for spans .start, .end and .f1, and
    one column error; where the input has one of these already, ours gets a number behind it.
    """
    short = [Path(name).name for name in names]
    labels = short if len(set(short)) == len(short) else list(names)
    ours = pd.DataFrame([_compared_record(row, labels) for row in rows], dtype=object)
    taken = set(table.frame.columns)
    fresh = {name: _free(name, taken) for name in ours.columns}
    input_rows = table.frame.iloc[[row.number for row in rows]].reset_index(drop=True)
    return pd.concat([input_rows, ours.rename(columns=fresh)], axis=1)


def _free(name: str, taken: set[str]) -> str:
    numbered = (f"{name}.{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def _compared_record(row: ComparedRow, names: Sequence[str]) -> dict[str, Any]:
    record: dict[str, Any] = {"error": row.error}
    answers: Mapping[str, Prediction] = dict(zip(names, row.predictions, strict=False))
    for at, name in enumerate(names):
        answer = answers.get(name)
        record[f"{name}.prediction"] = answer.label if answer else None
        record[f"{name}.confidence"] = round(answer.confidence, 6) if answer else None
        columns = {**_probabilities(row.task, answer), **span_place(answer)} if answer else {}
        record |= {f"{name}.{column}": value for column, value in columns.items()}
        record[f"{name}.right"] = row.right(at)
        if row.task.has_spans:
            f1 = row.f1(at)
            record[f"{name}.f1"] = None if f1 is None else round(f1, 6)
    return record
