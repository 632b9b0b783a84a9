"""Score a whole table: rows in chunks, and the table with our columns added."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from probe.analysis.lineage import lineage_json
from probe.analysis.transformed import Transformed, require_text, transform_all
from probe.data.tables import Columns, Table, check, is_missing
from probe.errors import ExampleError, LabelError
from probe.models.classifier import Classifier, Precision, Prediction
from probe.tasks.nli import LABELS, NLI, Pair, matches
from probe.tasks.task import Label
from probe.transforms import Options
from probe.transforms.availability import require_ready

FIRST, CHUNK = 32, 256  # a small first chunk shows something at once


@dataclass(frozen=True)
class Row:
    """One scored row, or the reason why it was not."""

    number: int
    pair: Pair | None = None
    prediction: Prediction | None = None
    transformed: Mapping[str, tuple[Transformed, ...]] = field(default_factory=dict)
    error: str = ""
    cut: bool = False

    @property
    def right(self) -> bool | None:
        """Whether the prediction is the gold label, None where there is none."""
        if self.pair is None or self.prediction is None or self.pair.gold is None:
            return None
        return matches(self.prediction.label, self.pair.gold)


@dataclass(frozen=True)
class Chunk:
    """Some scored rows and how far the work is; `seconds` since its start."""

    rows: tuple[Row, ...]
    done: int
    total: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Rows per second so far."""
        return self.done / max(self.seconds, 1e-9)

    @property
    def left(self) -> float:
        """Seconds still to go at this speed."""
        return (self.total - self.done) / max(self.per_second, 1e-9)


def score(
    table: Table,
    columns: Columns,
    classifier: Classifier,
    names: Sequence[str] = (),
    seed: int = 0,
    options: Options = Options(),
    precision: Precision = "auto",
) -> Iterator[Chunk]:
    """Score a table chunk by chunk; whoever drives it may stop after any.

    Raises FileError for a missing column and UnknownTransform or Unavailable before the first
    chunk.
    """
    check(columns, list(table.frame.columns))
    for name in names:
        require_ready(name)
    began, total = time.monotonic(), len(table.frame)
    start, size = 0, FIRST
    while start < total:
        numbers = range(start, min(start + size, total))
        rows = [_row(table, columns, number) for number in numbers]
        rows = _scored(rows, classifier, names, seed, options, precision)
        start, size = numbers.stop, CHUNK
        yield Chunk(tuple(rows), start, total, time.monotonic() - began)


def _row(table: Table, columns: Columns, number: int) -> Row:
    """Read one row of the table as a pair, or say what is wrong with it."""
    if number in table.broken:
        return Row(number, error=table.broken[number])
    cells = table.frame.iloc[number]
    try:
        gold = NLI.read_gold(_cell(cells[columns.gold])) if columns.gold else None
        pair = Pair(
            _cell(cells[columns.premise]), _cell(cells[columns.hypothesis]), gold, str(number)
        )
        require_text(pair)
    except (LabelError, ExampleError) as problem:
        return Row(number, error=str(problem))
    return Row(number, pair)


def _cell(value: object) -> str:
    return "" if is_missing(value) else str(value)


def _scored(
    rows: list[Row],
    classifier: Classifier,
    names: Sequence[str],
    seed: int,
    options: Options,
    precision: Precision,
) -> list[Row]:
    good = [row for row in rows if row.pair]
    pairs = [row.pair for row in good if row.pair]
    predictions = classifier.predict(pairs, precision)
    transformed = transform_all(classifier, pairs, predictions, names, seed, options, precision)
    fresh = {
        row.number: Row(
            row.number,
            pairs[i],
            predictions[i],
            {name: transformed[name][i] for name in names},
            cut=classifier.too_long(pairs[i]),
        )
        for i, row in enumerate(good)
    }
    return [fresh.get(row.number, row) for row in rows]


def scored_frame(
    table: Table, rows: Sequence[Row], names: Sequence[str], model: str
) -> pd.DataFrame:
    """Return the input rows, every column unchanged, with our columns behind them.

    Where the input has a column of one of our names, ours gets the model's name behind it.
    """
    columns = _our_columns(_labels(rows), names)
    records = [_record(row, names, columns) for row in rows]
    ours = pd.DataFrame(records, columns=columns, dtype=object)
    taken = set(table.frame.columns)
    rename = {}
    for name in ours.columns:
        free = name
        while free in taken:
            free = f"{free}.{Path(model).name}"
        rename[name] = free
        taken.add(free)
    given = table.frame.iloc[[row.number for row in rows]].reset_index(drop=True)
    return pd.concat([given, ours.rename(columns=rename)], axis=1)


FIELDS = ("premise", "hypothesis", "gold", "prediction", "confidence", "agrees", "note")


def _labels(rows: Sequence[Row]) -> tuple[Label, ...]:
    """Return what the model tells apart, as its first prediction shows."""
    return next((row.prediction.labels for row in rows if row.prediction), LABELS)


def _our_columns(labels: Sequence[Label], names: Sequence[str]) -> list[str]:
    probabilities = [f"p_{label}" for label in labels]
    transformed = [f"{name}.{part}" for name in dict.fromkeys(names) for part in FIELDS]
    return ["prediction", "confidence", *probabilities, "error", *transformed]


def _record(row: Row, names: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
    """Return our cells of one row; values are text, numbers and truth values."""
    record: dict[str, Any] = {"error": row.error}
    if row.prediction is None:
        return dict.fromkeys(columns) | record
    record |= _said(row.prediction)
    for name in names:
        first = row.transformed[name][0]
        record |= {f"{name}.{part}": value for part, value in _cells(first).items()}
    return record


def _said(prediction: Prediction) -> dict[str, Any]:
    probabilities = zip(prediction.labels, prediction.probabilities, strict=True)
    return {
        "prediction": prediction.label,
        "confidence": round(prediction.confidence, 6),
        **{f"p_{label}": round(value, 6) for label, value in probabilities},
    }


def _cells(transformed: Transformed) -> dict[str, Any]:
    result = transformed.result
    several = f"the first of {result.of} pairs" if result.of > 1 else ""
    values = (
        result.pair.premise,
        result.pair.hypothesis,
        result.gold,
        transformed.prediction.label,
        round(transformed.prediction.confidence, 6),
        transformed.agrees,
        "; ".join(filter(None, (several, result.note))),
    )
    return dict(zip(FIELDS, values, strict=True))


def made_frame(rows: Sequence[Row], names: Sequence[str]) -> pd.DataFrame:
    """Return every pair that the transforms made, one a line, `row` the input row from 1.

    `steps` is the lineage as JSON text: what each link of a chain made.
    """
    lines = [
        _line(row, one)
        for name in dict.fromkeys(names)
        for row in rows
        for one in row.transformed.get(name, ())
    ]
    probabilities = [f"p_{label}" for label in _labels(rows)]
    return pd.DataFrame(lines, columns=[*MADE, *probabilities, *AFTER], dtype=object)


MADE = (
    *("row", "transform", "number", "of", "premise", "hypothesis", "gold", "rule", "changed"),
    *("exact", "note", "prediction", "confidence"),
)
AFTER = ("agrees", "seed", "variant", "steps")


def _line(row: Row, transformed: Transformed) -> dict[str, Any]:
    result = transformed.result
    return {
        "row": row.number + 1,
        "transform": result.transform,
        "number": result.number,
        "of": result.of,
        "premise": result.pair.premise,
        "hypothesis": result.pair.hypothesis,
        "gold": result.gold,
        "rule": result.rule.name,
        "changed": result.changed,
        "exact": result.exact,
        "note": result.note,
        **_said(transformed.prediction),
        "agrees": transformed.agrees,
        "seed": result.seed,
        "variant": result.variant,
        "steps": json.dumps(lineage_json(result), ensure_ascii=False),
    }
