"""Scored rows as a table: our cells behind those of the input, or one line a new example."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import pandas as pd

from probe.analysis.batch import Row
from probe.analysis.legibility import (
    Legibility,
    cut_words,
    language_words,
    unknown_words,
    unspaced_words,
    windowed_words,
)
from probe.analysis.summary import ORIGINAL, Measured, Summary, measures
from probe.analysis.transformed import Transformed, lineage_json
from probe.models.classifier import Classifier, Model, Precision, Prediction, resolve
from probe.models.reader import span_place
from probe.models.windows import Long, WindowPrediction, window_words
from probe.tasks.task import Label, Task
from probe.transforms import Options

Cells = dict[str, Any]  # Any: text, numbers and truth values
WINDOW = ("window", "window_text")
"""Columns that name the window that decided, where a long source is read in such, and show it."""
LEGIBLE = ("cut", "unknown", "language")
"""Columns that say what a model reads of a row: whether its end is cut, the share of its tokens
that the vocabulary has not, and its language where it is beyond doubt not English."""


def model_labels(model: Model) -> tuple[Label, ...]:
    """Return the labels that a model chooses among; the answers of a span task have none."""
    return model.labels if isinstance(model, Classifier) else model.task.labels


def scored_columns(
    labels: Sequence[Label], task: Task, names: Sequence[str], long: Long = "cut"
) -> list[str]:
    """Return the names of our cells behind those of a row of the input."""
    chances = [f"p_{label}" for label in labels]
    transformed = [f"{name}.{part}" for name in dict.fromkeys(names) for part in _cell_names(task)]
    answer = ["prediction", "confidence", *chances, *_span_columns(task), "error"]
    return [*answer, *LEGIBLE, *(WINDOW if long == "windows" else ()), *transformed]


def with_legible(values: Sequence[Any], columns: Sequence[str]) -> Sequence[Any]:
    """Return our cells of a row, with empty ones that an earlier version did not write."""
    if len(values) == len(columns):
        return values
    place = columns.index(LEGIBLE[0])
    return [*values[:place], *[None] * (len(columns) - len(values)), *values[place:]]


def scored_cells(row: Row, columns: Sequence[str]) -> list[Any]:  # Any: as of Cells
    """Return our cells of one row, those of the first example that each transform made."""
    cells: Cells = {"error": row.error}
    if row.prediction is not None:
        cells |= _answer(row.task, row.prediction) | _legible(row.legible)
        cells |= _window(row.task, row.example, row.prediction)
    if row.f1 is not None:
        cells |= {"em": int(bool(row.right)), "f1": round(row.f1, 6)}
    for name, several in row.transformed.items():
        cells |= {f"{name}.{part}": value for part, value in _cells(several[0]).items()}
    return [cells.get(name) for name in columns]


def _legible(legible: Legibility) -> Cells:
    values = (legible.cut, round(legible.unknown, 4), legible.language)
    return dict(zip(LEGIBLE, values, strict=True))


def _window(task: Task, example: Any, prediction: Prediction) -> Cells:
    if not isinstance(prediction, WindowPrediction) or task.source is None:
        return {}
    text = getattr(example, task.source)[prediction.start : prediction.end]
    return dict(zip(WINDOW, (window_words(prediction), text), strict=True))


def _cell_names(task: Task) -> tuple[str, ...]:
    return (*task.fields, "gold", "prediction", "confidence", "agrees", "note")


def _answer(task: Task, prediction: Prediction) -> Cells:
    return {
        "prediction": prediction.label,
        "confidence": round(prediction.confidence, 6),
        **probabilities(task, prediction),
        **span_place(prediction),
    }


def probabilities(task: Task, prediction: Prediction) -> dict[str, float]:
    """Return a column for each label; the answers of a span task have none."""
    if not task.labels:
        return {}
    return {f"p_{label}": round(value, 6) for label, value in prediction.by_label.items()}


def _span_columns(task: Task) -> tuple[str, ...]:
    return ("start", "end", "em", "f1") if task.f1 else ()


def _cells(transformed: Transformed) -> Cells:
    result = transformed.result
    several = f"the first of {result.of} pairs" if result.of > 1 else ""
    values = (
        *result.task.texts(result.example).values(),
        result.gold,
        transformed.prediction.label,
        round(transformed.prediction.confidence, 6),
        transformed.agrees,
        "; ".join(filter(None, (several, transformed.note))),
    )
    return dict(zip(_cell_names(result.task), values, strict=True))


def made_columns(labels: Sequence[Label], task: Task) -> list[str]:
    """Return the columns of the examples that the transforms made."""
    return [
        *("row", "transform", "number", "of", *task.fields, "gold", "rule", "changed"),
        *("exact", "note", "prediction", "confidence"),
        *(f"p_{label}" for label in labels),
        *_span_columns(task)[:2],
        *("agrees", "seed", "variant", "steps"),
    ]


def made_cells(row: Row, columns: Sequence[str]) -> Iterator[list[Any]]:  # Any: as of Cells
    """Yield the examples that the transforms made of a row, `row` its number from 1.

    `steps` is the lineage as JSON text: what each link of a chain made.
    """
    for several in row.transformed.values():
        for transformed in several:
            cells = _line(row, transformed)
            yield [cells.get(name) for name in columns]


def _line(row: Row, transformed: Transformed) -> Cells:
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
        "note": transformed.note,
        **_answer(row.task, transformed.prediction),
        "agrees": transformed.agrees,
        "seed": result.seed,
        "variant": result.variant,
        "steps": json.dumps(lineage_json(result), ensure_ascii=False),
    }


class Named(Protocol):
    """What a summary says of a model: its name, its revision on the hub, and its task."""

    @property
    def name(self) -> str:
        """The name of the model."""

    @property
    def revision(self) -> str | None:
        """The revision on the hub, None for a local folder."""

    @property
    def task(self) -> Task:
        """The task that it answers."""


def summary_json(
    summary: Summary, model: Named, precision: Precision, seed: int, options: Options
) -> dict[str, Any]:
    """Return the summary as JSON values; an undefined measure is null."""
    names = measures(model.task)
    return {
        "model": model.name,
        "model_revision": model.revision,
        "precision": resolve(precision),
        "seed": seed,
        "variant": options.variant,
        "rows": summary.rows,
        "scored": summary.scored,
        "errors": summary.errors,
        "cut": summary.cut,
        "windowed": summary.windowed,
        "unknown": summary.unknown,
        "languages": dict(summary.languages),
        "notes": notes(summary, options),
        **_fp32_json(summary),
        "predicted": dict(summary.predicted),
        **_measured_json(summary.original, names[1:], model.task),
        "transforms": {
            name: _transform_json(measured, names, model.task)
            for name, measured in summary.transforms.items()
        },
        "by_label": {
            label: {
                name: _transform_json(measured, names, model.task)
                for name, measured in group.items()
            }
            for label, group in summary.by_label.items()
        },
    }


def notes(summary: Summary, options: Options) -> list[str]:
    """Return sentences on what the figures rest on: languages, unknown words, texts cut."""
    said = (
        language_words(summary.languages, summary.scored, list(summary.transforms), options),
        unknown_words(summary.unknown, summary.scored),
        cut_words(summary.cut, summary.scored),
        windowed_words(summary.windowed, summary.scored),
        unspaced_words(summary.unspaced, summary.scored)
        if summary.transforms or "f1" in summary.original.estimates
        else "",
    )
    return list(filter(None, said))


def _fp32_json(summary: Summary) -> dict[str, Any]:
    """Return how many sampled answers bf16 changes, nothing where none was given in both."""
    if not summary.sampled:
        return {}
    return {"fp32_sample": {"rows": summary.sampled, "differing": summary.differing}}


def _transform_json(measured: Measured, names: Sequence[str], task: Task) -> dict[str, Any]:
    return {
        "n": measured["confidence"].n,
        **_measured_json(measured, names, task),
        "unchanged": measured.unchanged,
        "inexact": measured.inexact,
        "not_applicable": measured.not_applicable,
    }


def _measured_json(measured: Measured, names: Sequence[str], task: Task) -> dict[str, Any]:
    """Return the measures by name; the accuracy of spans is their exact match, em."""
    shape: dict[str, Any] = {}
    for measure in names:
        estimate = measured[measure]
        name = "em" if measure == "accuracy" and task.has_spans else measure
        shape[name] = estimate.value if estimate.n else None
        shape[f"{name}_interval"] = [estimate.low, estimate.high] if estimate.n else None
        shape[f"{name}_n"] = estimate.n
    return shape


def summary_frame(summary: Summary) -> pd.DataFrame:
    """Return the measures as a tidy frame: label, transform, measure, value, low, high, n.

    `label` is "all" or a gold label; the untouched examples are the transform "original". Behind n
    stands how many rows a transform for English does not apply to.
    """
    groups = {"all": {ORIGINAL: summary.original, **summary.transforms}, **summary.by_label}
    return pd.DataFrame(
        [
            (
                *(label, name, measure, estimate.value, estimate.low, estimate.high, estimate.n),
                measured.not_applicable,
            )
            for label, group in groups.items()
            for name, measured in group.items()
            for measure, estimate in measured.estimates.items()
        ],
        columns=["label", "transform", "measure", "value", "low", "high", "n", "not_applicable"],
    )
