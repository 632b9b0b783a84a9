"""Compared rows as a table: the input unchanged with our columns behind it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probe.analysis.comparison.rows import Row as ComparedRow
from probe.data.tables import Table
from probe.models.classifier import Prediction
from probe.models.reader import span_place
from probe.reports.scored import probabilities


def compared_frame(table: Table, rows: Sequence[ComparedRow], names: Sequence[str]) -> pd.DataFrame:
    """Return the input rows, every column unchanged, and behind them a few columns a model.

    They are MODEL.prediction, .confidence, .p_LABEL, .right and .cut, for spans .start, .end and
    .f1, and one column error; where the input has one of these already, ours gets a number behind
    it.
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
        columns = {**probabilities(row.task, answer), **span_place(answer)} if answer else {}
        record |= {f"{name}.{column}": value for column, value in columns.items()}
        record[f"{name}.right"] = row.right(at)
        record[f"{name}.cut"] = row.cut[at] if row.cut else None
        if row.task.has_spans:
            f1 = row.f1(at)
            record[f"{name}.f1"] = None if f1 is None else round(f1, 6)
    return record
