"""Score a whole table: rows in chunks, each with its prediction and its transformed versions."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from probe.analysis.transformed import Transformed, require_usable, transform_all
from probe.data.rows import Columns, InputRow, read_rows
from probe.data.tables import Table
from probe.models.classifier import Model, Precision, Prediction
from probe.tasks.task import Task
from probe.transforms import Options

FIRST_ROWS, CHUNK_ROWS = 32, 256  # a small first chunk shows something at once
Input = TypeVar("Input")
Output = TypeVar("Output")


@dataclass(frozen=True)
class Chunk(Generic[Output]):
    """Some answered rows and how far the work is; `seconds` since its start."""

    rows: tuple[Output, ...]
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


def in_chunks(
    rows: Sequence[Input],
    answer: Callable[[Sequence[Input]], Sequence[Output]],
    largest: int = CHUNK_ROWS,
) -> Iterator[Chunk[Output]]:
    """Answer rows in chunks of so many at most; whoever drives it may stop after any."""
    began, start, size = time.monotonic(), 0, min(FIRST_ROWS, largest)
    while start < len(rows):
        answers = tuple(answer(rows[start : start + size]))
        start, size = start + len(answers), largest
        yield Chunk(answers, start, len(rows), time.monotonic() - began)


@dataclass(frozen=True)
class Row:
    """One scored row, or the reason why it was not."""

    number: int
    task: Task
    example: Any = None  # Any: of the task's own dataclass
    prediction: Prediction | None = None
    transformed: Mapping[str, tuple[Transformed, ...]] = field(default_factory=dict)
    error: str = ""
    cut: bool = False

    @property
    def right(self) -> bool | None:
        """Whether the prediction is the gold label, None where there is none."""
        if self.prediction is None or not self.example.gold:
            return None
        return self.task.matches(self.prediction.label, self.example.gold)

    @property
    def f1(self) -> float | None:
        """How much of the gold answer is there, None where answers are labels or none is known."""
        if self.prediction is None or not self.example.gold or not self.task.f1:
            return None
        return self.task.f1(self.prediction.label, self.example.gold)


def score(
    table: Table,
    columns: Columns,
    model: Model,
    names: Sequence[str] = (),
    seed: int = 0,
    options: Options = Options(),
    precision: Precision = "auto",
    largest: int = CHUNK_ROWS,
) -> Iterator[Chunk[Row]]:
    """Score a table in chunks of so many rows at most; whoever drives it may stop after any.

    Raises FileError for a missing column and UnknownTransform or Unavailable before the first
    chunk.
    """
    columns.check(list(table.frame.columns))
    for name in names:
        require_usable(name, model)

    def answer(rows: Sequence[InputRow]) -> list[Row]:
        return _scored(rows, model, names, seed, options, precision)

    yield from in_chunks(read_rows(table, columns, model.task), answer, largest)


def _scored(
    rows: Sequence[InputRow],
    model: Model,
    names: Sequence[str],
    seed: int,
    options: Options,
    precision: Precision,
) -> list[Row]:
    examples = {row.number: row.example for row in rows if row.example}
    several = list(examples.values())
    predictions = model.predict(several, precision)
    transformed = transform_all(model, several, predictions, names, seed, options, precision)
    scored = {
        number: Row(
            number,
            model.task,
            example,
            predictions[at],
            {name: transformed[name][at] for name in names},
            cut=model.too_long(example),
        )
        for at, (number, example) in enumerate(examples.items())
    }
    return [scored.get(row.number) or Row(row.number, model.task, error=row.error) for row in rows]
