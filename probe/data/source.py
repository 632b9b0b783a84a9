"""A file read row by row or whole, in whatever form it comes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Literal, Protocol, get_args

import pandas as pd

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.delimited import open_delimited
from probe.data.formats.encodings import TextFile, packing_of, text_file
from probe.data.formats.excel import open_workbook
from probe.data.formats.json_forms import JsonForm, is_json, json_form
from probe.data.formats.parquet import Parquet, is_arrow, open_arrow, open_parquet
from probe.data.names import HALF, check_names
from probe.data.rows import MOST_PATHS, Record, Tabular, cell, is_missing, paths
from probe.errors import FileError
from probe.limits import UNBOUNDED, Bounds

Form = Literal["csv", "tsv", "jsonl", "parquet", "xlsx"]
FORMS: dict[str, Form] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "tsv",  # the MNLI and SNLI releases
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
}

ARCHIVES = (".zip", ".tar", ".tgz", ".7z", ".rar")


def form_of(path: Path, among: Sequence[Form] = get_args(Form)) -> Form:
    """Return a file's form by its name. Raises FileError where it is none of some."""
    plain = path.name.lower().removesuffix(packing_of(path))
    form = FORMS.get(Path(plain).suffix)
    if plain.endswith(ARCHIVES):
        raise FileError(
            f"{path.name} is an archive of files; unpack it and name the one to be read, of a "
            "folder that the library datasets saved the file data-00000-of-00001.arrow"
        )
    if form is None or form not in among:
        *others, last = (f".{each}" for each in among)
        offered = f"{', '.join(others)} or {last}" if others else last
        raise FileError(
            f"{path.name}: name the file {offered} (packed also .gz or .zst), and save it in that "
            "form"
        )
    return form


class Reader(Protocol):
    """A file of which no more than the beginning is read so far."""

    @property
    def form(self) -> Form:
        """The form of the file."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns; none where each row names its own."""

    @property
    def words(self) -> str:
        """How it is read where it could be read in another way, "" where that needs no saying."""

    def records(self) -> Iterator[Record]:
        """Yield its rows. Raises FileError, LimitError."""


@dataclass(frozen=True)
class JsonObjects:
    """A file of JSON whose rows are objects, in whatever form it holds them."""

    file: TextFile
    json: JsonForm
    form: Form = "jsonl"
    columns: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """How the file is read."""
        return "; ".join(filter(None, (self.json.words, self.file.words)))

    def records(self) -> Iterator[Record]:
        """Yield the objects. Raises FileError, LimitError."""
        return self.json.rows(self.file)


def reader_of(
    path: Path, bounds: Bounds = UNBOUNDED, options: FileOptions = AS_THE_FILE_TELLS
) -> Reader:
    """Open a file in whatever form it is. Raises FileError, LimitError.

    What the options leave open is told by the file. Raises FileQuestion where it does not tell it.
    """
    if is_arrow(path):
        return open_arrow(path, bounds, options.sheet)
    form = form_of(path)
    if form == "parquet":
        return open_parquet(path, bounds)
    if form == "xlsx":
        return open_workbook(path, bounds, options)
    file = text_file(path, bounds, options.encoding)
    if form == "jsonl" or is_json(file):
        return JsonObjects(file, json_form(file, options.sheet))
    return open_delimited(file, form, options)


@dataclass(frozen=True)
class Source:
    """A file that was read once from its beginning to its end, and can be read again.

    `broken` counts the rows that do not fit the header, `nested` are the paths of fields within
    objects.
    """

    path: Path
    reader: Reader
    bounds: Bounds
    columns: tuple[str, ...]
    rows: int
    broken: int
    nested: tuple[str, ...] = ()
    options: FileOptions = AS_THE_FILE_TELLS

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, and behind them the paths of nested fields."""
        return (*self.columns, *self.nested)

    @property
    def classes(self) -> Mapping[str, Sequence[str]]:
        """The names that it gives to the whole numbers of a column, by the column's name."""
        return self.reader.classes if isinstance(self.reader, Parquet) else {}

    @property
    def words(self) -> str:
        """How it is read where it could be read in another way, "" where that needs no saying."""
        return self.reader.words

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self.rows

    @property
    def form(self) -> Form:
        """The form of the file."""
        return self.reader.form

    def records(self, start: int = 0) -> Iterator[Record]:
        """Yield the rows from the one of this number on. Raises FileError, LimitError."""
        return islice(self.reader.records(), start, None)


def open_source(
    path: Path, bounds: Bounds = UNBOUNDED, options: FileOptions = AS_THE_FILE_TELLS
) -> Source:
    """Read a file once, so that what is wrong with it is said before any row is scored.

    Raises FileError and LimitError with a sentence, FileQuestion where it can be read in several
    ways.
    """
    reader = reader_of(path, bounds, options)
    rows, broken, shape = 0, 0, Shape(reader.columns)
    for record in checked(reader, path, bounds):
        rows += 1
        broken += bool(record.broken)
        shape.add(record)
    nested = tuple(shape.nested)
    return Source(path, reader, bounds, tuple(shape.columns), rows, broken, nested, options)


class Shape:
    """The names of a file's columns and of the fields within their objects, in their order."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns, self.nested = dict.fromkeys(columns), dict[str, None]()

    def add(self, record: Record) -> None:
        """Take the names of a row."""
        cells = record.cells
        if cells.keys() - self.columns.keys():
            self.columns |= dict.fromkeys(cells)
        if len(self.nested) < MOST_PATHS and any(isinstance(each, dict) for each in cells.values()):
            new = (path for path in paths(cells) if path not in self.columns)
            self.nested = dict.fromkeys(islice(chain(self.nested, new), MOST_PATHS))


def checked(reader: Reader, path: Path, bounds: Bounds) -> Iterator[Record]:
    """Yield all rows of a file, and see that their number and their columns are within bounds.

    Raises FileError, LimitError.
    """
    names: Mapping[str, object] = {}
    count = 0
    for count, record in enumerate(reader.records(), 1):
        bounds.check("max_rows", count)
        if record.cells.keys() - names.keys():
            names = {**names, **record.cells}
            bounds.check("max_columns", len(names))
            check_names(list(names), path.name)
        yield record
    if not count:
        raise FileError(f"{path.name} has no rows below its header")


@dataclass(frozen=True)
class Table:
    """The rows of a file. Text files keep every cell as the text it was.

    `broken` maps the number of a row that does not fit the header to the reason; `bounds` are those
    within which it was read, `nested` the paths of fields within objects, and `words` say how it
    was read where there is another way.
    """

    frame: pd.DataFrame
    form: Form
    broken: dict[int, str] = field(default_factory=dict)
    bounds: Bounds = UNBOUNDED
    nested: tuple[str, ...] = ()
    words: str = ""
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.frame.columns]

    @property
    def names(self) -> list[str]:
        """The names of the columns, and behind them the paths of nested fields."""
        return [*self.columns, *self.nested]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.frame)

    def records(self, start: int = 0) -> Iterator[Record]:
        """Yield the rows from the one of this number on."""
        columns = [self.frame[name].iloc[start:] for name in self.frame.columns]
        for number, cells in enumerate(zip(*columns, strict=True), start):
            named = dict(zip(self.columns, cells, strict=True))
            yield Record(number, named, broken=self.broken.get(number, ""))


def read_table(
    path: Path, bounds: Bounds = UNBOUNDED, options: FileOptions = AS_THE_FILE_TELLS
) -> Table:
    """Read a file of any form whole, also the releases of MNLI, SNLI and SQuAD.

    A file that passes a bound is read no further than to there. Raises FileError and LimitError
    with a sentence, FileQuestion where the file can be read in several ways.
    """
    reader = reader_of(path, bounds, options)
    if isinstance(reader, Parquet):
        frame = reader.frame()
        if frame.empty:
            raise FileError(f"{path.name} has no rows below its header")
        table = Table(frame, "parquet", bounds=bounds, words=reader.words, classes=reader.classes)
        shape = Shape(reader.columns)
        for record in table.records():
            shape.add(record)
        return replace(table, nested=tuple(shape.nested))
    records, shape = list(checked(reader, path, bounds)), Shape(reader.columns)
    for record in records:
        shape.add(record)
    frame = pd.DataFrame(
        {
            name: pd.Series([record.cells.get(name) for record in records], dtype=object)
            for name in shape.columns
        }
    )
    broken = {record.number: record.broken for record in records if record.broken}
    return Table(frame, reader.form, broken, bounds, tuple(shape.nested), reader.words)


PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_CHARACTERS = 5, 30, 300
REPLACEMENT = "\ufffd"
"""Stands for half of a character, which no page can show."""


def first_rows(table: Tabular) -> pd.DataFrame:
    """Return the first rows and columns as texts, the end of a long one cut."""
    names = table.names[:PREVIEW_COLUMNS]
    rows = [
        [_shown(cell(record.cells, name)) for name in names]
        for record in islice(table.records(), PREVIEW_ROWS)
    ]
    return pd.DataFrame(rows, columns=[_shown(name) for name in names], dtype=object)


def _shown(cell: object) -> str:
    text = "" if is_missing(cell) else HALF.sub(REPLACEMENT, str(cell))
    return text if len(text) <= PREVIEW_CHARACTERS else text[:PREVIEW_CHARACTERS] + "…"
