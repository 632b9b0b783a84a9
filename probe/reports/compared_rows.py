"""Compared rows in a file, so that a page can show a part of them later."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probe.analysis.comparison import Row
from probe.models.classifier import Prediction
from probe.tasks.nli import NLI
from probe.templates import TemplatePair


def keep(rows: Sequence[Row], path: Path) -> None:
    """Write rows for `kept`, one JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(_kept(row), ensure_ascii=False) + "\n" for row in rows)


def _kept(row: Row) -> dict[str, Any]:
    pair = row.pair
    return {
        "number": row.number,
        "pair": [pair.premise, pair.hypothesis, pair.gold or ""] if pair else None,
        "heuristic": getattr(pair, "heuristic", ""),
        "predictions": [vars(prediction) for prediction in row.predictions],
        "error": row.error,
        "cut": row.cut,
    }


def kept(path: Path) -> list[Row]:
    """Read rows that `keep` wrote."""
    with path.open(encoding="utf-8") as file:
        return [_read(json.loads(line)) for line in file]


def _read(shape: dict[str, Any]) -> Row:
    pair = None
    if shape["pair"]:
        premise, hypothesis, gold = shape["pair"]
        id_, heuristic = str(shape["number"]), shape["heuristic"]
        pair = TemplatePair(premise, hypothesis, NLI.read_gold(gold), id_, heuristic=heuristic)
    predictions = tuple(
        Prediction(answer["label"], tuple(answer["probabilities"]), tuple(answer["labels"]))
        for answer in shape["predictions"]
    )
    return Row(shape["number"], pair, predictions, shape["error"], tuple(shape["cut"]))
