"""A comparison as JSON values."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from probe.analysis.comparison.paired_bootstrap import PairedBootstrap
from probe.analysis.comparison.rows import Row, compare
from probe.analysis.comparison.slice_table import note_on
from probe.analysis.comparison.slices import measure
from probe.analysis.comparison.statistics import (
    Cell,
    Test,
    accuracy,
    agreement,
    differing,
    disagreement,
    f1,
    group_accuracies,
    in_words,
    outcomes,
    significance,
)
from probe.metrics import Estimate
from probe.models.classifier import Model, Precision, resolve
from probe.models.reader import span_place
from probe.models.windows import window_json
from probe.tasks.task import Example


def comparison_json(
    rows: Sequence[Row], names: Sequence[str], precision: Precision
) -> dict[str, Any]:
    """Return the whole comparison; what is not defined is null.

    models: the names. accuracy: by name {n, value, low, high, cut} and the same figures for each
    part of the gold labels, as entailed and non_entailed, or paraphrase and non-paraphrase.
    pairs_of_models: for each two {first, second, agreement, mcnemar, matrix}, matrix one object a
    cell. slices: {group, slice, gold, n, accuracy by name, mcnemar of the first two models}.

    Where answers are spans, f1 and em, the exact match, stand in place of accuracy, bootstrap in
    that of mcnemar, and for the matrix differing: who is right on the rows on which two differ.
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
        **_scores(scored, names),
        "pairs_of_models": [_couple(scored, names, a, b) for a, b in couples],
        "slices": _slices(scored, names),
        "slices_note": next((note_on(row.task) for row in rows), ""),
    }


def _scores(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Any]:
    """Return how good each model is, by measure and name."""
    if not _of_spans(rows):
        return {"accuracy": {name: _accuracy(rows, at) for at, name in enumerate(names)}}
    return {
        "f1": {
            name: {**estimate_json(f1(rows, at)), "cut": sum(row.cut[at] for row in rows)}
            for at, name in enumerate(names)
        },
        "em": {name: estimate_json(accuracy(rows, at)) for at, name in enumerate(names)},
    }


def _of_spans(rows: Sequence[Row]) -> bool:
    return any(row.task.has_spans for row in rows)


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
    test, unit = significance(rows, a, b), rows[0].task.unit if rows else "example"
    return {
        "first": names[a],
        "second": names[b],
        "agreement": estimate_json(agreement(rows, a, b)),
        _name(test): _test(test) | {"words": in_words(test, names[a], names[b], unit)},
        **_disagreement(rows, a, b),
    }


def _disagreement(rows: Sequence[Row], a: int, b: int) -> dict[str, Any]:
    """Return where two models differ: cells by what both say, or who is right with which span."""
    if _of_spans(rows):
        return {"differing": _cell(outcomes(differing(rows, a, b), a, b))}
    cells = disagreement(rows, a, b).items()
    return {
        "matrix": [
            {"first_says": first, "second_says": second, **_cell(cell)}
            for (first, second), cell in cells
        ]
    }


def _cell(cell: Cell) -> dict[str, int]:
    return {
        "n": cell.n,
        "both_right": cell.both,
        "only_first_right": cell.only_first,
        "only_second_right": cell.only_second,
        "neither_right": cell.neither,
    }


def _name(test: Test) -> str:
    return "bootstrap" if isinstance(test, PairedBootstrap) else "mcnemar"


def _test(test: Test) -> dict[str, Any]:
    if isinstance(test, PairedBootstrap):
        values = asdict(test)
    else:
        values = {
            "n": test.n,
            "only_first_right": test.only_first,
            "only_second_right": test.only_second,
            "p": test.p,
        }
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _slices(rows: Sequence[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    measured = "f1" if _of_spans(rows) else "accuracy"
    return [
        {
            "group": line.slice.group,
            "slice": line.slice.name,
            "gold": line.gold,
            "n": line.n,
            measured: dict(zip(names, map(estimate_json, line.scores), strict=True)),
            _name(line.test): _test(line.test),
        }
        for line in measure(rows)
    ]


def example_comparison_json(
    example: Example, models: Sequence[Model], precision: Precision
) -> dict[str, Any]:
    """Return the texts, gold, precision, and models: {model, label, confidence, ...}.

    Where answers are spans, each has its start, its end and its f1 too.
    """
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
                **span_place(answer),
                **window_json(answer),
                **({"f1": row.f1(at)} if row.task.has_spans else {}),
                "cut": row.cut[at],
            }
            for at, (model, answer) in enumerate(zip(models, row.predictions, strict=True))
        ],
    }
