"""The one reader of labelled rows: which column is which, and what is wrong with a row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from probe.data.class_names import class_names
from probe.data.formats.encodings import text_file
from probe.data.formats.json_rows import json_lines
from probe.data.missing import is_missing
from probe.data.names import HALF, listed, shown
from probe.data.records import NO_RECORD, Record, Tabular, cell
from probe.data.tables import read_table
from probe.errors import (
    DisputedLabel,
    ExampleError,
    FileError,
    LabelError,
    LimitError,
    UserError,
)
from probe.limits import UNBOUNDED, Bounds
from probe.tasks.spelling import label_word
from probe.tasks.task import Example, Label, Task

GOLD = ("gold_label", "gold", "label", "labels", "is_duplicate", "answers", "answer")
"""How files call the column of gold labels."""
KINDS: dict[type, str] = {dict: "an object", bytes: "bytes"}
"""What a cell may be in place of a text, other than a list."""


@dataclass(frozen=True)
class Columns:
    """Which column holds each field's text; `gold` is None where there is no gold label.

    `values` say what a person has said of values of the gold column, by `label_word` of each: the
    label, or None for no gold label. `classes` are the names that the data set gives to its values.
    The others are read as the task spells its labels.
    """

    texts: Mapping[str, str]
    gold: str | None = None
    values: Mapping[str, Label | None] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)

    @property
    def meanings(self) -> dict[str, str | None]:
        """What values mean: the name of a label, or None for no gold label."""
        return {**self.classes, **self.values}

    def cells_of(self, record: Record) -> dict[str, object]:
        """Return what a row has in the texts' columns, None where it lacks one."""
        return {field: cell(record.cells, name) for field, name in self.texts.items()}

    def check(self, names: Sequence[str]) -> None:
        """Refuse columns that are not there, and one that is used twice. Raises FileError."""
        users: dict[str, str] = {}
        for user, name in {**self.texts, "gold label": self.gold}.items():
            if name is None:
                continue
            if name not in names:
                raise FileError(f"no column {shown(name)} in your file; it has: {listed(names)}")
            if other := users.get(name):
                raise FileError(f"the column {shown(name)} is used twice, for {other} and {user}")
            users[name] = user


@dataclass(frozen=True)
class InputRow:
    """A row of a file as an example, or the problems why it is none."""

    number: int
    example: Any = None  # Any: of the task's own dataclass
    problems: tuple[UserError, ...] = ()
    record: Record = NO_RECORD

    @property
    def error(self) -> str:
        """The first problem as a sentence, empty where there is none."""
        return str(self.problems[0]) if self.problems else ""


def guess(names: Sequence[str], task: Task, named: Mapping[str, str] = {}) -> Columns:
    """Find the columns of a task's fields, but those that are named, and of its gold label by name.

    Raises FileError.
    """
    columns = guess_some(names, task, named)
    lacking = [repr(field) for field in task.fields if field not in columns.texts]
    if lacking:
        word = "column" if len(lacking) == 1 else "columns"
        raise FileError(f"no {word} {' and '.join(lacking)} in your file; it has: {listed(names)}")
    return columns


def guess_some(names: Sequence[str], task: Task, named: Mapping[str, str] = {}) -> Columns:
    """Do the same, and leave out the fields whose column no name tells."""
    guesses = {
        field: named.get(field) or _find(names, task.columns.get(field, (field,)))
        for field in task.fields
    }
    return Columns({field: name for field, name in guesses.items() if name}, _find(names, GOLD))


def choose(names: Sequence[str], task: Task, texts: Mapping[str, str], gold: str = "") -> Columns:
    """Take the columns that are named and guess the others. Raises FileError.

    Where every field's column is named, a gold label is read only from a column that is named too.
    """
    named = {field: name for field, name in texts.items() if name}
    if all(field in named for field in task.fields):
        return Columns(named, gold or None)
    guessed = guess(names, task, named)
    return replace(guessed, gold=gold or guessed.gold)


def with_class_names(columns: Columns, path: Path) -> Columns:
    """Return columns whose gold label is read by the file's own names of classes, if it has any."""
    names = class_names(path).get(columns.gold or "", ())
    return replace(columns, classes={str(number): name for number, name in enumerate(names)})


def read_rows(table: Tabular, columns: Columns, task: Task, start: int = 0) -> Iterator[InputRow]:
    """Read rows as examples, each named by its number from 0, beginning with number `start`.

    A text that is longer than the table's bounds allow is its row's problem. Raises FileError for a
    missing column.
    """
    columns.check(table.names)
    for record in table.records(start):
        if record.broken:
            yield InputRow(record.number, problems=(FileError(record.broken),), record=record)
            continue
        gold = cell(record.cells, columns.gold) if columns.gold else None
        row = read_row(
            task, record.number, columns.cells_of(record), gold, table.bounds, columns.meanings
        )
        yield replace(row, record=record)


def read_row(
    task: Task,
    number: int,
    cells: Mapping[str, object],
    gold: object,
    bounds: Bounds = UNBOUNDED,
    meanings: Mapping[str, str | None] = {},
) -> InputRow:
    """Read one row from the cells of its fields and of its gold label.

    `meanings` are as those of `Columns`.
    """
    problems: list[UserError] = []
    label: Label | None = None
    try:
        label = _gold(task, _gold_text(task, gold), meanings)
    except (ExampleError, LabelError) as problem:
        problems.append(problem)
    try:
        texts = {field: cell_text(field, cell) for field, cell in cells.items()}
        example: Example = task.example(**texts, gold=label, id=str(number))
        require_text(task, example, bounds)
        if task.problem and (wrong := task.problem(example)):
            raise ExampleError(wrong)
    except (ExampleError, LimitError) as problem:
        problems.append(problem)
    return InputRow(number, None if problems else example, tuple(problems))


def require_text(task: Task, example: Example, bounds: Bounds = UNBOUNDED) -> None:
    """Refuse an example without readable text in every field, or with a longer one than is read.

    Raises ExampleError, LimitError.
    """
    absent = [field for field in task.fields if not hasattr(example, field)]
    if absent:
        raise ExampleError(f"{task.title} asks for a {absent[0]}, which is not given")
    texts = task.texts(example)
    empty = [task.title_of(field).lower() for field, text in texts.items() if not text.strip()]
    if empty:
        raise ExampleError(
            f"the {' and the '.join(empty)} {'is' if len(empty) == 1 else 'are'} empty"
        )
    if HALF.search(" ".join(texts.values())):
        raise ExampleError(
            "the text holds half of a character, a lone surrogate, and cannot be read"
        )
    for name, text in texts.items():
        bounds.check("max_text", len(text), name)


def labelled(path: Path, task: Task, bounds: Bounds = UNBOUNDED) -> tuple[list[Any], int]:
    """Return the examples with a gold label and how many other rows the file has.

    Broken and disputed rows and those without a label or a text are the others. Raises FileError,
    LimitError and LabelError with a sentence.
    """
    table = read_table(path, bounds)
    columns = with_class_names(guess(table.names, task), path)
    if columns.gold is None:
        raise FileError(f"no column 'label' in {path.name}; it has: {listed(table.names)}")
    rows = list(read_rows(table, columns, task))
    for row in rows:
        _require_known_label(row)
        _require_short(row, path.name)
    examples = [row.example for row in rows if row.example and row.example.gold]
    if not examples:
        texts = ", a ".join(task.fields)
        word = "pair" if len(task.fields) > 1 else "example"
        raise FileError(f"{path.name} holds no {word} with a {texts} and a label")
    return examples, len(rows) - len(examples)


def stream_labelled(path: Path, task: Task) -> Iterator[Any]:
    """Yield the examples with a gold label of a JSON-lines file, gzipped or not, line by line.

    Rows whose label is disputed or not known are left out. Raises FileError as `stream_examples`.
    """
    return (example for example in stream_examples(path, task) if example.gold)


def stream_examples(path: Path, task: Task, read_gold: bool = True) -> Iterator[Any]:
    """Yield the examples of a JSON-lines file, gzipped or not, line by line.

    Rows whose label is disputed or not known are left out, unless no label is read. Raises
    FileError where the file cannot be read or the first row has no such columns.
    """
    columns: Columns | None = None
    for record in json_lines(text_file(path, UNBOUNDED)):
        cells = record.cells
        columns = columns or guess(list(cells), task)
        texts = {field: cells.get(name) for field, name in columns.texts.items()}
        gold = cells.get(columns.gold) if columns.gold and read_gold else None
        row = read_row(task, record.number, texts, gold)
        if row.example:
            yield row.example


def _require_known_label(row: InputRow) -> None:
    """Refuse an unknown label of a row that is otherwise in order. Raises LabelError."""
    first, *others = row.problems or (None,)
    if isinstance(first, LabelError) and not isinstance(first, DisputedLabel) and not others:
        raise first


def _require_short(row: InputRow, name: str) -> None:
    """Refuse a text that is longer than is read. Raises LimitError."""
    for problem in row.problems:
        if isinstance(problem, LimitError):
            raise LimitError(f"row {row.number + 1:,} of {name}: {problem}")


def _find(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    by_word = {name.strip().lower(): name for name in reversed(list(names))}
    return next((by_word[word] for word in wanted if word in by_word), None)


def _gold_text(task: Task, cell: object) -> str:
    """Return the text of a gold label's cell. Raises ExampleError."""
    if task.gold_text and not is_missing(cell):
        return task.gold_text(cell)
    return cell_text("gold label", cell)


def _gold(task: Task, text: str, meanings: Mapping[str, str | None]) -> Label | None:
    """Read a gold label by what its value is said to mean, else as the task spells it."""
    word = label_word(text)
    return task.read_gold(meanings.get(word, text))


def cell_text(name: str, cell: object) -> str:
    """Return a cell's text. Raises ExampleError for a list, an object or bytes."""
    if is_missing(cell):
        return ""
    if isinstance(cell, bytes) or not pd.api.types.is_scalar(cell):
        kind = next((words for kind, words in KINDS.items() if isinstance(cell, kind)), "a list")
        raise ExampleError(f"the {name} is {kind}, not a text")
    return str(cell)
