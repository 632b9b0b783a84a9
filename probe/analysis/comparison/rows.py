"""Examples and what each of several models says of them, chunk by chunk."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from probe.analysis.batch import Chunk, in_chunks
from probe.data.missing import is_missing
from probe.data.rows import Columns, InputRow, read_rows, require_text
from probe.data.tables import Table
from probe.errors import ComparisonError, ExampleError
from probe.models.classifier import Model, Precision, Prediction, predict_each
from probe.tasks.nli import Pair
from probe.tasks.task import (
    MERGED,
    TASKS,
    TOLD_APART,
    Example,
    Label,
    Task,
    common_task,
    example_json,
)
from probe.templates import TemplatePair

HEURISTIC = "heuristic"
"""The column of `python -m probe templates hans` that names the heuristic a pair was made for."""


@dataclass(frozen=True)
class Row:
    """An example and each model's prediction, in the models' order, or the reason for none.

    `task` is the one to which the answers of all models are held: where one of them merges labels
    it is that one's. `cut` says for each model whether the example was too long for it, so that its
    end was cut.
    """

    number: int
    task: Task
    example: Any = None  # Any: of the task's own dataclass
    predictions: tuple[Prediction, ...] = ()
    error: str = ""
    cut: tuple[bool, ...] = ()

    @property
    def gold(self) -> Label | None:
        """The gold label that all models are held to."""
        gold: Label | None = self.example.gold if self.example else None
        return (self.task.nearest(gold) or gold) if gold else None

    def right(self, model: int) -> bool | None:
        """Whether a model is right, None where there is no gold label or no prediction."""
        if not self.predictions or self.gold is None:
            return None
        return self.task.matches(self.predictions[model].label, self.gold)

    def f1(self, model: int) -> float | None:
        """How much of the gold answer a model gives, None where there is none or it is a label."""
        if not self.predictions or self.gold is None or not self.task.f1:
            return None
        return _f1(self.task, self.predictions[model].label, self.gold)


@lru_cache(maxsize=200_000)  # every slice asks again for the same answers
def _f1(task: Task, answer: Label, gold: Label) -> float:
    return task.f1(answer, gold) if task.f1 else 0.0


def compare(
    models: Sequence[Model], examples: Sequence[Example], precision: Precision = "auto"
) -> Iterator[Chunk[Row]]:
    """Ask every model about every example; whoever drives it may stop after any chunk.

    An example without text gets its reason. Raises ComparisonError at once for fewer than two
    models.
    """
    task = held_to(models)
    rows = [as_row(number, task, example) for number, example in enumerate(examples)]
    return compare_rows(models, rows, precision)


def compare_rows(
    models: Sequence[Model], rows: Sequence[Row], precision: Precision = "auto"
) -> Iterator[Chunk[Row]]:
    """Do the same with rows of `read`; those with an error pass through.

    Where some gold labels merge what others tell apart, all answers are held to the task that
    merges them.
    """
    task = held_to(models)
    if other := next((row.task for row in rows if row.task.fields != task.fields), None):
        raise ComparisonError(f"the rows are for {other.title}, the models for {task.title}")

    if has_mixed_golds(task, rows):
        task = next(each for each in TASKS.values() if common_task([each, task]) is each != task)

    def answer(part: Sequence[Row]) -> list[Row]:
        return list(_answered(models, [replace(row, task=task) for row in part], precision))

    return in_chunks(rows, len(rows), answer)


def has_mixed_golds(task: Task, rows: Sequence[Row]) -> bool:
    """Whether some gold labels merge labels of a task that others of them tell apart."""
    golds = {row.example.gold for row in rows if row.example and row.example.gold}
    return {task.gold_kind(gold) for gold in golds} >= {MERGED, TOLD_APART}


def held_to(models: Sequence[Model]) -> Task:
    """Return the task to which all models are held.

    Raises ComparisonError for fewer than two models, the same one twice, and models whose answers
    cannot be compared.
    """
    require_two([model.name for model in models])
    task = common_task([model.task for model in models])
    if task is None:
        titles = dict.fromkeys(f"{model.name}: {model.task.title}" for model in models)
        raise ComparisonError(f"these models answer different tasks: {'; '.join(titles)}")
    return task


def require_two(names: Sequence[str]) -> None:
    """Refuse fewer than two models and the same one twice. Raises ComparisonError."""
    if len(names) < 2:
        chosen = f"; chosen: {names[0]}" if names else ""
        raise ComparisonError(f"choose two models or more to compare{chosen}")
    require_different(names)


def require_different(names: Sequence[str]) -> None:
    """Refuse the same model twice. Raises ComparisonError."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ComparisonError(f"the model {twice!r} is named twice; choose different models")


def _answered(models: Sequence[Model], rows: Sequence[Row], precision: Precision) -> Iterator[Row]:
    """Run one model after the other over the rows, each in batches of like length.

    A row that one of them cannot read has its reason in place of answers.
    """
    examples = [row.example for row in rows if row.example]
    answers = zip(*(predict_each(model, examples, precision) for model in models), strict=True)
    for row in rows:
        if row.example:
            several = next(answers)
            refused = next((each for each in several if isinstance(each, ExampleError)), None)
            given = tuple(each for each in several if not isinstance(each, ExampleError))
            if refused:
                yield Row(row.number, row.task, error=str(refused))
                continue
            cut = tuple(model.too_long(row.example) for model in models)
            row = replace(row, predictions=given, cut=cut)
        yield row


def as_row(number: int, task: Task, example: Example) -> Row:
    """Return a row to be answered, or its reason where a field has no text."""
    try:
        require_text(task, example)
    except ExampleError as problem:
        return Row(number, task, error=str(problem))
    return Row(number, task, example)


def read(table: Table, columns: Columns, task: Task) -> list[Row]:
    """Read a table's rows, pairs with the heuristic they were made for where a column says.

    Raises FileError for a missing column.
    """
    heuristics: Sequence[object] = [""] * len(table.frame)
    if HEURISTIC in table.frame.columns:
        heuristics = list(table.frame[HEURISTIC])
    return [
        _unanswered(row, task, "" if is_missing(heuristic) else str(heuristic))
        for row, heuristic in zip(read_rows(table, columns, task), heuristics, strict=True)
    ]


def _unanswered(row: InputRow, task: Task, heuristic: str) -> Row:
    example = row.example
    if heuristic and isinstance(example, Pair):
        example = TemplatePair(**example_json(example), heuristic=heuristic)
    return Row(row.number, task, example, error=row.error)
