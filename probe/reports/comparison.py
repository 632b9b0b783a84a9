"""A comparison as JSON values and as a scored table."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from probe.analysis.comparison import Row, compare
from probe.analysis.slices import CONSTITUENT_NOTE, measure
from probe.analysis.statistics import (
    McNemar,
    accuracy,
    agreement,
    disagreement,
    entailed_and_not,
    in_words,
    mcnemar,
)
from probe.data.tables import Table
from probe.metrics import Estimate
from probe.models.classifier import Classifier, Precision, Prediction, resolve
from probe.tasks.nli import Pair


def comparison_json(
    rows: Sequence[Row], names: Sequence[str], precision: Precision
) -> dict[str, Any]:
    """Return the whole comparison; what is not defined is null.

    models: the names. accuracy: by name {n, value, low, high, entailed, non_entailed, cut}.
    pairs_of_models: for each two {first, second, agreement, mcnemar, matrix}, matrix one object a
    cell. slices: {group, slice, gold, n, accuracy by name, mcnemar of the first two models}.
    """
    scored = [row for row in rows if row.predictions]
    places = range(len(names))
    couples = [(a, b) for a in places for b in places if a < b]
    return {
        "models": list(names),
        "precision": resolve(precision),
        "rows": len(rows),
        "scored": len(scored),
        "errors": len(rows) - len(scored),
        "with_gold": sum(row.gold is not None for row in scored),
        "accuracy": {name: _accuracy(scored, at) for at, name in enumerate(names)},
        "pairs_of_models": [_couple(scored, names, a, b) for a, b in couples],
        "slices": _slices(scored, names),
        "slices_note": CONSTITUENT_NOTE,
    }


def _accuracy(rows: Sequence[Row], model: int) -> dict[str, Any]:
    entailed, others = entailed_and_not(rows, model)
    return {
        **estimate_json(accuracy(rows, model)),
        "entailed": estimate_json(entailed),
        "non_entailed": estimate_json(others),
        "cut": sum(row.cut[model] for row in rows),
    }


def estimate_json(found: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON values, null where n is 0."""
    known = found.n > 0
    return {
        "n": found.n,
        "value": found.value if known else None,
        "low": found.low if known else None,
        "high": found.high if known else None,
    }


def _couple(rows: Sequence[Row], names: Sequence[str], a: int, b: int) -> dict[str, Any]:
    cells, test = disagreement(rows, a, b), mcnemar(rows, a, b)
    return {
        "first": names[a],
        "second": names[b],
        "agreement": estimate_json(agreement(rows, a, b)),
        "mcnemar": _test(test) | {"words": in_words(test, names[a], names[b])},
        "matrix": [
            {
                "first_says": said[0],
                "second_says": said[1],
                "n": cell.n,
                "both_right": cell.both,
                "only_first_right": cell.only_first,
                "only_second_right": cell.only_second,
                "neither_right": cell.neither,
            }
            for said, cell in cells.items()
        ],
    }


def _test(found: McNemar) -> dict[str, Any]:
    return {
        "n": found.n,
        "only_first_right": found.only_first,
        "only_second_right": found.only_second,
        "p": None if math.isnan(found.p) else found.p,
    }


def _slices(rows: Sequence[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "group": one.slice.group,
            "slice": one.slice.name,
            "gold": one.gold,
            "n": one.n,
            "accuracy": dict(zip(names, map(estimate_json, one.accuracies), strict=True)),
            "mcnemar": _test(one.test),
        }
        for one in measure(rows)
    ]


def pair_json(
    pair: Pair, classifiers: Sequence[Classifier], precision: Precision
) -> dict[str, Any]:
    """Return premise, hypothesis, gold, precision, and models: {model, label, confidence, ...}."""
    (chunk,) = compare(classifiers, [pair], precision)
    row = chunk.rows[0]
    return {
        "premise": pair.premise,
        "hypothesis": pair.hypothesis,
        "gold": pair.gold,
        "precision": resolve(precision),
        "models": [
            {
                "model": classifier.name,
                "label": said.label,
                "confidence": said.confidence,
                "probabilities": probabilities(said),
                "right": row.right(at),
                "cut": row.cut[at],
            }
            for at, (classifier, said) in enumerate(zip(classifiers, row.predictions, strict=True))
        ],
    }


def compared_frame(table: Table, rows: Sequence[Row], names: Sequence[str]) -> pd.DataFrame:
    """Return the input rows, every column unchanged, and behind them a few columns a model.

    They are MODEL.prediction, .confidence, .p_LABEL and .right, and one column error; where the
    input has one of these already, ours gets a number behind it.
    """
    short = [Path(name).name for name in names]
    labels = short if len(set(short)) == len(short) else list(names)
    ours = pd.DataFrame([_record(row, labels) for row in rows], dtype=object)
    taken = set(table.frame.columns)
    fresh = {name: _free(name, taken) for name in ours.columns}
    return pd.concat([table.frame.reset_index(drop=True), ours.rename(columns=fresh)], axis=1)


def _free(name: str, taken: set[str]) -> str:
    numbered = (f"{name}.{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def _record(row: Row, names: Sequence[str]) -> dict[str, Any]:
    record: dict[str, Any] = {"error": row.error}
    for at, name in enumerate(names):
        said = row.predictions[at] if row.predictions else None
        record[f"{name}.prediction"] = said.label if said else None
        record[f"{name}.confidence"] = round(said.confidence, 6) if said else None
        for label, value in probabilities(said).items():
            record[f"{name}.p_{label}"] = round(value, 6)
        record[f"{name}.right"] = row.right(at)
    return record


def probabilities(said: Prediction | None) -> dict[str, float]:
    """Return the probabilities by label; a model of two classes has two of them."""
    return dict(zip(said.labels, said.probabilities, strict=True)) if said else {}
