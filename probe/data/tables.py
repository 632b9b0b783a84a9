"""Tables: read in whatever form they come, written back unaltered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import pandas as pd

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.parquet import Parquet
from probe.data.names import HALF
from probe.data.records import Record, Tabular, cell
from probe.data.rows import is_missing
from probe.data.source import Form, Shape, checked, reader_of
from probe.errors import FileError
from probe.limits import UNBOUNDED, Bounds


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
