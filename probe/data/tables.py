"""Tables: read in whatever form they come, written back unaltered."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.parquet import Parquet
from probe.data.records import NO_RECORD, Record
from probe.data.source import Form, Shape, checked, reader_of
from probe.data.writers.appended import AppendedFile
from probe.data.writers.blocks import BLOCKS, write_blocks
from probe.data.writers.output import checked_form, line_form
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
        table = Table(frame, "parquet", bounds=bounds, words=reader.words)
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


def write_table(frame: pd.DataFrame, path: Path, guard: bool = False) -> None:
    """Write a frame in the form that the name says, guarded for spreadsheets or not.

    Raises FileError where that form cannot hold the text or the file cannot be written.
    """
    form, names = checked_form(path, guard), [str(name) for name in frame.columns]
    rows = ((NO_RECORD, row) for row in frame.itertuples(index=False, name=None))
    if form in BLOCKS:
        values = list(rows)
        write_blocks(path, form, (), names, lambda: iter(values), None)
        return
    lines = line_form(path, names, None, guard)
    file = AppendedFile(path)
    file.append(b"".join([lines.head(), *(lines.line(*row) for row in rows)]))
    file.close()
