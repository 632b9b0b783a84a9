"""A comparison as JSON values."""

import math
from collections.abc import Sequence
from typing import Any

from probe.analysis.comparison import Row, compare
from probe.analysis.slices import CONSTITUENT_NOTE, inference, measure
from probe.analysis.statistics import (
    McNemar,
    accuracy,
    agreement,
    disagreement,
    group_accuracies,
    in_words,
    mcnemar,
)
from probe.metrics import Estimate
from probe.models.classifier import Model, Precision, resolve
from probe.tasks.task import Example


def comparison_json(
    rows: Sequence[Row], names: Sequence[str], precision: Precision
) -> dict[str, Any]:
    """Return the whole comparison; what is not defined is null.

    models: the names. accuracy: by name {n, value, low, high, cut} and the same figures for each
    part of the gold labels, as entailed and non_entailed, or paraphrase and non-paraphrase.
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
        "slices_note": CONSTITUENT_NOTE if any(inference(row.task) for row in rows) else "",
    }


def _accuracy(rows: Sequence[Row], model: int) -> dict[str, Any]:
    groups = group_accuracies(rows, model)
    return {
        **estimate_json(accuracy(rows, model)),
        **{name: estimate_json(estimate) for name, estimate in groups.items()},
        "cut": sum(row.cut[model] for row in rows),
    }


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON values, null where n is 0."""
    known = estimate.n > 0
    return {
        "n": estimate.n,
        "value": estimate.value if known else None,
        "low": estimate.low if known else None,
        "high": estimate.high if known else None,
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
                "first_says": first,
                "second_says": second,
                "n": cell.n,
                "both_right": cell.both,
                "only_first_right": cell.only_first,
                "only_second_right": cell.only_second,
                "neither_right": cell.neither,
            }
            for (first, second), cell in cells.items()
        ],
    }


def _test(test: McNemar) -> dict[str, Any]:
    return {
        "n": test.n,
        "only_first_right": test.only_first,
        "only_second_right": test.only_second,
        "p": None if math.isnan(test.p) else test.p,
    }


def _slices(rows: Sequence[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "group": line.slice.group,
            "slice": line.slice.name,
            "gold": line.gold,
            "n": line.n,
            "accuracy": dict(zip(names, map(estimate_json, line.accuracies), strict=True)),
            "mcnemar": _test(line.test),
        }
        for line in measure(rows)
    ]


def example_comparison_json(
    example: Example, models: Sequence[Model], precision: Precision
) -> dict[str, Any]:
    """Return the texts, gold, precision, and models: {model, label, confidence, ...}."""
    (chunk,) = compare(models, [example], precision)
    row = chunk.rows[0]
    return {
        **row.task.texts(example),
        "gold": example.gold,
        "precision": resolve(precision),
        "models": [
            {
                "model": model.name,
                "label": answer.label,
                "confidence": answer.confidence,
                "probabilities": answer.by_label,
                "right": row.right(at),
                "cut": row.cut[at],
            }
            for at, (model, answer) in enumerate(zip(models, row.predictions, strict=True))
        ],
    }
