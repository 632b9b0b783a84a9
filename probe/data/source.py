"""A file read row by row, whatever its form: what `read_table` and the scoring of files share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol, get_args

from probe.data.formats.delimited import open_delimited
from probe.data.formats.encodings import TextFile, text_file
from probe.data.formats.excel import open_workbook
from probe.data.formats.json_rows import json_lines, json_list
from probe.data.formats.parquet import open_parquet
from probe.data.formats.squad import is_squad, squad_rows
from probe.data.formats.unpacking import packing_of
from probe.data.names import check_names
from probe.data.records import Record
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


def form_of(path: Path, among: Sequence[Form] = get_args(Form)) -> Form:
    """Return a file's form by its name. Raises FileError where it is none of some."""
    plain = path.name.lower().removesuffix(packing_of(path))
    form = FORMS.get(Path(plain).suffix)
    if form is None or form not in among:
        *others, last = (f".{each}" for each in among)
        offered = f"{', '.join(others)} or {last}" if others else last
        raise FileError(f"{path.name}: name the file {offered} (packed also .gz or .zst)")
    return form


class Reader(Protocol):
    """A file of which no more than the beginning is read so far."""

    @property
    def form(self) -> Form:
        """The form of the file."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns; none where each row names its own."""

    def records(self) -> Iterator[Record]:
        """Yield its rows. Raises FileError, LimitError."""


@dataclass(frozen=True)
class JsonObjects:
    """JSON lines, a list of objects or SQuAD's JSON."""

    file: TextFile
    rows: Callable[[TextFile], Iterator[Record]]
    form: Form = "jsonl"
    columns: tuple[str, ...] = ()

    def records(self) -> Iterator[Record]:
        """Yield the objects. Raises FileError, LimitError."""
        return self.rows(self.file)


def reader_of(path: Path, bounds: Bounds = UNBOUNDED) -> Reader:
    """Open a file in whatever form it is. Raises FileError, LimitError.

    The encoding is guessed where it is not UTF-8.
    """
    form = form_of(path)
    if form == "parquet":
        return open_parquet(path, bounds)
    if form == "xlsx":
        return open_workbook(path, bounds)
    file = text_file(path, bounds)
    if form == "jsonl":
        return JsonObjects(file, _json_rows(file))
    return open_delimited(file, form)


def _json_rows(file: TextFile) -> Callable[[TextFile], Iterator[Record]]:
    if file.first == "[":
        return json_list
    return squad_rows if is_squad(file) else json_lines


@dataclass(frozen=True)
class Source:
    """A file that was read once from its beginning to its end, and can be read again.

    `broken` counts the rows that do not fit the header.
    """

    path: Path
    reader: Reader
    bounds: Bounds
    names: tuple[str, ...]
    rows: int
    broken: int

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


def open_source(path: Path, bounds: Bounds = UNBOUNDED) -> Source:
    """Read a file once, so that what is wrong with it is said before any row is scored.

    Raises FileError and LimitError with a sentence.
    """
    reader = reader_of(path, bounds)
    names, rows, broken = dict.fromkeys(reader.columns), 0, 0
    for record in checked(reader, path, bounds):
        rows += 1
        broken += bool(record.broken)
        names |= dict.fromkeys(record.cells)
    return Source(path, reader, bounds, tuple(names), rows, broken)


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
