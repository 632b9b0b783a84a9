"""Compared rows in a file, so that a page can show a part of them later."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probe.analysis.comparison.rows import Row
from probe.models.classifier import Prediction
from probe.models.reader import SpanPrediction
from probe.tasks.nli import Pair
from probe.tasks.task import example_json, read_example, task_named
from probe.templates import TemplatePair


def keep(rows: Sequence[Row], path: Path) -> None:
    """Write rows for `kept`, one JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(_kept(row), ensure_ascii=False) + "\n" for row in rows)


def _kept(row: Row) -> dict[str, Any]:
    return {
        "number": row.number,
        "task": row.task.name,
        "example": example_json(row.example) if row.example else None,
        "predictions": [vars(prediction) for prediction in row.predictions],
        "error": row.error,
        "cut": row.cut,
    }


def kept(path: Path) -> list[Row]:
    """Read rows that `keep` wrote."""
    with path.open(encoding="utf-8") as file:
        return [_read(json.loads(line)) for line in file]


def _read(shape: dict[str, Any]) -> Row:
    task, example = task_named(shape["task"]), None
    if shape["example"]:
        example = read_example(task, shape["example"])
        heuristic = shape["example"].get("heuristic")
        if heuristic and isinstance(example, Pair):
            example = TemplatePair(**example_json(example), heuristic=heuristic)
    predictions = tuple(map(_prediction, shape["predictions"]))
    return Row(shape["number"], task, example, predictions, shape["error"], tuple(shape["cut"]))


def _prediction(answer: dict[str, Any]) -> Prediction:
    values = {**answer, **{name: tuple(answer[name]) for name in ("probabilities", "labels")}}
    return SpanPrediction(**values) if "windows" in answer else Prediction(**values)
