"""Pairs and what each of several models says of them, chunk by chunk."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from probe.analysis.batch import CHUNK, FIRST
from probe.analysis.transformed import require_text
from probe.data.tables import Columns, Table, check, is_missing
from probe.errors import ComparisonError, ExampleError, LabelError
from probe.models.classifier import Classifier, Precision, Prediction
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT, TWO_WAY, Pair, matches
from probe.tasks.task import Label
from probe.templates import TemplatePair

HEURISTIC = "heuristic"
"""The column of `python -m probe templates hans` that names the heuristic a pair was made for."""


@dataclass(frozen=True)
class Row:
    """A pair and each model's prediction, in the models' order, or the reason why there is none.

    `cut` says for each model whether the pair was too long for it, so that its end was cut.
    """

    number: int
    pair: Pair | None = None
    predictions: tuple[Prediction, ...] = ()
    error: str = ""
    cut: tuple[bool, ...] = ()

    @property
    def two_classes(self) -> bool:
        """Whether a model tells only entailment from non-entailment."""
        return any(said.labels == TWO_WAY for said in self.predictions)

    @property
    def gold(self) -> Label | None:
        """The gold label that all models are held to: of two classes where one has only two."""
        gold = self.pair.gold if self.pair else None
        return NON_ENTAILMENT if gold and gold != ENTAILMENT and self.two_classes else gold

    def right(self, model: int) -> bool | None:
        """Whether a model is right, None where there is no gold label or no prediction."""
        if not self.predictions or self.gold is None:
            return None
        return matches(self.predictions[model].label, self.gold)


@dataclass(frozen=True)
class Chunk:
    """Some rows and how far the work is; `seconds` since its start."""

    rows: tuple[Row, ...]
    done: int
    total: int
    seconds: float


def compare(
    classifiers: Sequence[Classifier], pairs: Sequence[Pair], precision: Precision = "auto"
) -> Iterator[Chunk]:
    """Ask every model about every pair; whoever drives it may stop after any chunk.

    A pair without text gets its reason. Raises ComparisonError at once for fewer than two models.
    """
    return compare_rows(classifiers, [as_row(*each) for each in enumerate(pairs)], precision)


def compare_rows(
    classifiers: Sequence[Classifier], rows: Sequence[Row], precision: Precision = "auto"
) -> Iterator[Chunk]:
    """Do the same with rows of `read`; those with an error pass through."""
    require_two([classifier.name for classifier in classifiers])
    return _answers(classifiers, rows, precision)


def require_two(names: Sequence[str]) -> None:
    """Refuse fewer than two models and the same one twice. Raises ComparisonError."""
    if len(names) < 2:
        chosen = f"; chosen: {names[0]}" if names else ""
        raise ComparisonError(f"choose two models or more to compare{chosen}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ComparisonError(f"the model {twice!r} is named twice; choose different models")


def _answers(
    classifiers: Sequence[Classifier], rows: Sequence[Row], precision: Precision
) -> Iterator[Chunk]:
    began, start, size = time.monotonic(), 0, FIRST
    while start < len(rows):
        part = rows[start : start + size]
        start, size = start + len(part), CHUNK
        answered = tuple(_answered(classifiers, part, precision))
        yield Chunk(answered, start, len(rows), time.monotonic() - began)


def _answered(
    classifiers: Sequence[Classifier], rows: Sequence[Row], precision: Precision
) -> Iterator[Row]:
    """Run one model after the other over the rows, each in batches of like length."""
    pairs = [row.pair for row in rows if row.pair]
    said = [classifier.predict(pairs, precision) for classifier in classifiers]
    cut = [[classifier.too_long(pair) for pair in pairs] for classifier in classifiers]
    found = zip(zip(*said, strict=True), zip(*cut, strict=True), strict=True)
    for row in rows:
        if row.pair:
            predictions, shortened = next(found)
            row = replace(row, predictions=predictions, cut=shortened)
        yield row


def as_row(number: int, pair: Pair) -> Row:
    """Return a row to be answered, or its reason where a side has no text."""
    try:
        require_text(pair)
    except ExampleError as problem:
        return Row(number, error=str(problem))
    return Row(number, pair)


def read(table: Table, columns: Columns) -> list[Row]:
    """Read a table's rows as pairs, each with the heuristic it was made for where a column says.

    Raises FileError for a missing column.
    """
    names = list(table.frame.columns)
    check(columns, names)
    wanted = (columns.premise, columns.hypothesis, columns.gold, HEURISTIC)
    cells = [
        [_text(cell) for cell in table.frame[name]] if name in names else [""] * len(table.frame)
        for name in wanted
    ]
    return [_row(table, number, *texts) for number, texts in enumerate(zip(*cells, strict=True))]


def _row(
    table: Table, number: int, premise: str, hypothesis: str, gold: str, heuristic: str
) -> Row:
    if number in table.broken:
        return Row(number, error=table.broken[number])
    try:
        label = NLI.read_gold(gold)
    except LabelError as problem:
        return Row(number, error=str(problem))
    return as_row(
        number, TemplatePair(premise, hypothesis, label, str(number), heuristic=heuristic)
    )


def _text(cell: object) -> str:
    return "" if is_missing(cell) else str(cell)
