"""Rows of a file: their cells, by which columns they are examples, and what is wrong with one."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from probe.data.names import HALF, listed, shown
from probe.errors import ExampleError, FileError, LabelError, LimitError, UserError
from probe.limits import UNBOUNDED, Bounds
from probe.tasks.task import Example, Label, Task, label_word, normalised


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a file, numbered from 0; `broken` says why it does not fit the header.

    `written` is a JSON object's text on one line, and `fields` are those of CSV or TSV as they are
    written: where a file has none, or none that could stand in another one, they are empty.
    """

    number: int
    cells: Mapping[str, Any] = field(default_factory=dict)  # Any: whatever a file may hold
    written: str = ""
    fields: Sequence[str] = ()
    broken: str = ""


NO_RECORD = Record(0)
REPEATED = "the row repeats the names of the columns"
MOST_PATHS = 200
"""Names of nested fields that are listed."""


def cell(cells: Mapping[str, Any], name: str) -> Any:  # Any: whatever a file may hold
    """Return what a row has by a column's name, else by a path such as `example.premise`.

    None where it has neither.
    """
    if name in cells:
        return cells[name]
    parts = name.split(".")
    for count in range(1, len(parts)):
        inner = cells.get(".".join(parts[:count]))
        if isinstance(inner, Mapping):
            found = cell(inner, ".".join(parts[count:]))
            if found is not None:
                return found
    return None


def paths(cells: Mapping[str, Any], prefix: str = "") -> Iterator[str]:  # Any: as above
    """Yield the paths of the fields that stand within objects of a row."""
    for name, value in cells.items():
        if isinstance(value, Mapping):
            yield from paths(value, f"{prefix}{name}.")
        elif prefix:
            yield f"{prefix}{name}"


Form = Literal["csv", "tsv", "jsonl", "parquet", "xlsx"]


@dataclass(frozen=True)
class Source:
    """Rows with named columns, of a file that can be read again and again from its first row on.

    No more than the beginning need have been read; once it was read to its end, `columns` are those
    of any row, `rows` counts them from the first number on, and `broken` those that do not fit the
    header; `nested` are the paths of fields within objects. `words` say how a file is read that
    could be read in another way, `classes` the names that it gives to the whole numbers of a
    column, and `own` has what else a file of its form says of itself.
    """

    form: Form
    columns: Sequence[str]
    read: Callable[[], Iterator[Record]]
    words: str = ""
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    own: object = None
    rows: int = 0
    bounds: Bounds = UNBOUNDED
    broken: int = 0
    nested: Sequence[str] = ()
    path: Path = Path()

    @property
    def names(self) -> Sequence[str]:
        """The names of its columns, and behind them the paths of nested fields."""
        return [*self.columns, *self.nested]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self.rows

    def records(self, start: int = 0) -> Iterator[Record]:
        """Yield the rows from the one of this number on. Raises FileError, LimitError."""
        return (record for record in self.read() if record.number >= start)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows as a frame of objects; text files keep every cell as the text it was."""
        rows = [record.cells for record in self.records()]
        columns = {name: [cells.get(name) for cells in rows] for name in self.columns}
        return pd.DataFrame(columns, dtype=object)


def of_frame(frame: pd.DataFrame, form: Form = "csv") -> Source:
    """Return the rows of a frame, numbered from 0."""
    columns = list(map(str, frame.columns))
    rows = (dict(zip(columns, row, strict=True)) for row in frame.itertuples(index=False))
    held = list(map(Record, range(len(frame)), rows))
    return Source(form, columns, held.__iter__, rows=len(frame))


def is_missing(cell: Any) -> bool:  # Any: whatever a file may hold
    """Whether a cell holds nothing: None, NaN and pandas's own marks."""
    return cell is None or (pd.api.types.is_scalar(cell) and bool(pd.isna(cell)))


GOLD = (
    *("gold_label", "gold", "label", "labels", "label_text", "label_name", "majority_label"),
    *("answers", "answer"),
)
"""How files of any task call the column of gold labels."""
NO_COLUMN = "none"
"""Stands for no column of gold labels, unless one is called so."""


@dataclass(frozen=True)
class Columns:
    """Which column holds each field's text; `gold` is None where there is no gold label.

    `values` say what the values of the gold column mean, by `label_word` of each: a label, or None
    for no gold label. The others are read as the task spells its labels.
    """

    texts: Mapping[str, str]
    gold: str | None = None
    values: Mapping[str, Label | None] = field(default_factory=dict)

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


def guess(names: Sequence[str], task: Task) -> Columns:
    """Find the columns of a task's fields and of its gold label by their names. Raises FileError.

    For a file of the app's own; that of a person is read by `probe.data.reading`.
    """
    columns = guess_some(names, task)
    lacking = [repr(field) for field in task.fields if field not in columns.texts]
    if lacking:
        word = "column" if len(lacking) == 1 else "columns"
        raise FileError(f"no {word} {' and '.join(lacking)} in your file; it has: {listed(names)}")
    return columns


def guess_some(names: Sequence[str], task: Task, named: Mapping[str, str] = {}) -> Columns:
    """Do the same but for columns that are named; leave out fields whose column no name tells."""
    guesses = {
        field: named.get(field) or find(names, task.columns.get(field, (field,)))
        for field in task.fields
    }
    return Columns(
        {field: name for field, name in guesses.items() if name},
        find(names, (*GOLD, *task.gold_columns)),
    )


def read_rows(table: Source, columns: Columns, task: Task, start: int = 0) -> Iterator[InputRow]:
    """Read rows as examples, each named by its number from 0, beginning with number `start`.

    A text that is longer than the table's bounds allow is its row's problem. Raises FileError for a
    missing column.
    """
    columns.check(table.names)
    for record in table.records(start):
        if record.broken:
            yield InputRow(record.number, problems=(FileError(record.broken),), record=record)
            continue
        example, label, problems = None, None, list[UserError]()
        gold = cell(record.cells, columns.gold) if columns.gold else None
        try:
            reads = task.gold_text if task.gold_text and not is_missing(gold) else None
            text = reads(gold) if reads else cell_text("gold label", gold)
            word = label_word(text)  # by what it means in this file, else as the task spells it
            label = columns.values[word] if word in columns.values else task.read_gold(text)
        except (ExampleError, LabelError) as problem:
            problems.append(problem)
        try:
            cells = columns.cells_of(record)
            texts = {field: cell_text(field, value) for field, value in cells.items()}
            example = task.example(**texts, gold=label, id=str(record.number))
            require_text(task, example, table.bounds)
            if task.problem and (wrong := task.problem(example)):
                raise ExampleError(wrong)
        except (ExampleError, LimitError) as problem:
            problems.append(problem)
        found = None if problems else example
        yield InputRow(record.number, found, tuple(problems), record)


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


def find(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Return the first of some wanted names that is there, as `normalised`, None for none.

    A field within an object is found where no other has its name.
    """
    by_word = {normalised(name): name for name in reversed(list(names))}
    inner = [name for name in names if "." in name]
    ends = Counter(normalised(name.rpartition(".")[2]) for name in inner)
    for name in inner:
        end = normalised(name.rpartition(".")[2])
        if ends[end] == 1:
            by_word.setdefault(end, name)
    return next((by_word[word] for word in map(normalised, wanted) if word in by_word), None)


def cell_text(name: str, cell: object) -> str:
    """Return a cell's text. Raises ExampleError for a list, an object or bytes."""
    if is_missing(cell):
        return ""
    if isinstance(cell, bytes) or not pd.api.types.is_scalar(cell):
        kinds = {dict: "an object", bytes: "bytes"}
        kind = next((words for kind, words in kinds.items() if isinstance(cell, kind)), "a list")
        inner = next(iter(cell), "") if isinstance(cell, dict) else ""
        field = f"; name a field of it, such as --column {name}=NAME.{inner}" if inner else ""
        raise ExampleError(f"the {name} is {kind}, not a text{field}")
    return str(cell)
