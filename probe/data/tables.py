"""Tables: read in whatever form they come, written back unaltered."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from probe.data.formats.parquet import read_parquet
from probe.data.records import NO_RECORD, Record
from probe.data.source import Form, checked, form_of, reader_of
from probe.data.writers.appended import AppendedFile
from probe.data.writers.blocks import BLOCKS, write_blocks
from probe.data.writers.output import checked_form, line_form
from probe.errors import FileError
from probe.limits import UNBOUNDED, Bounds


@dataclass(frozen=True)
class Table:
    """The rows of a file. Text files keep every cell as the text it was.

    `broken` maps the number of a row that does not fit the header to the reason; `bounds` are those
    within which it was read.
    """

    frame: pd.DataFrame
    form: Form
    broken: dict[int, str] = field(default_factory=dict)
    bounds: Bounds = UNBOUNDED

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.frame.columns]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.frame)

    def records(self, start: int = 0) -> Iterator[Record]:
        """Yield the rows from the one of this number on."""
        columns = [self.frame[name].iloc[start:] for name in self.frame.columns]
        for number, cells in enumerate(zip(*columns, strict=True), start):
            named = dict(zip(self.names, cells, strict=True))
            yield Record(number, named, broken=self.broken.get(number, ""))


def read_table(path: Path, bounds: Bounds = UNBOUNDED) -> Table:
    """Read a file of any form whole, also the releases of MNLI, SNLI and SQuAD.

    TSV is read without quoting, as released. A file that passes a bound is read no further than to
    there. Raises FileError and LimitError with a sentence.
    """
    if form_of(path) == "parquet":
        frame = read_parquet(path, bounds)
        if frame.empty:
            raise FileError(f"{path.name} has no rows below its header")
        return Table(frame, "parquet", bounds=bounds)
    reader = reader_of(path, bounds)
    records = list(checked(reader, path, bounds))
    names = reader.columns or tuple({name: None for record in records for name in record.cells})
    frame = pd.DataFrame(
        {
            name: pd.Series([record.cells.get(name) for record in records], dtype=object)
            for name in names
        }
    )
    broken = {record.number: record.broken for record in records if record.broken}
    return Table(frame, reader.form, broken, bounds)


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
