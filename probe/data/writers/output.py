"""A table that is written while it is made: rows of an input with our values behind them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from probe.data.formats.delimited import Delimited, DelimitedForm
from probe.data.records import NO_RECORD, Record, Tabular
from probe.data.source import Form, Source, form_of
from probe.data.writers.appended import AppendedFile
from probe.data.writers.blocks import BLOCK_WORDS, BLOCKS, check_parquet, write_blocks
from probe.data.writers.cells import as_json
from probe.data.writers.lines import (
    BesideDelimited,
    JsonLines,
    LineForm,
    PlainDelimited,
    Values,
)
from probe.errors import FileError

GUARDED_FORMS: Sequence[Form] = get_args(DelimitedForm)


class Output:
    """A file of scored rows, or of rows of our own where there is no source.

    Rows come in the order of the source, from which some may be left out. A form that is written
    whole is first kept in `spool`, one JSON list a row. `place` is the file that grows, this one or
    the spool, and `size` where it ends.
    """

    def __init__(
        self,
        path: Path,
        names: Sequence[str],
        spool: Path,
        source: Source | None = None,
        guard: bool = False,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        """`names` are those of our columns; `sizes` say by its path how far a file is written.

        Raises FileError.
        """
        self.path, self._names, self._source = path, tuple(names), source
        self._form = checked_form(path, guard)
        self._lines = None if self._form in BLOCKS else line_form(path, names, source, guard)
        self.place = path if self._lines else spool
        self._file = AppendedFile(self.place, (sizes or {}).get(str(self.place), 0))
        if self._lines and not self._file.size:
            self._file.append(self._lines.head())

    @property
    def size(self) -> int:
        """The bytes that are on the disk."""
        return self._file.size

    @property
    def words(self) -> str:
        """The form in words."""
        return self._lines.words if self._lines else BLOCK_WORDS[self._form]

    def write(self, rows: Iterable[tuple[Record, Values]]) -> None:
        """Write rows and see that they are on the disk. Raises FileError."""
        self._file.append(b"".join(self._line(record, values) for record, values in rows))

    def _line(self, record: Record, values: Values) -> bytes:
        if self._lines:
            return self._lines.line(record, values)
        return spooled([record.number, *values])

    def finish(self) -> None:
        """Close the file with what it holds by now. Raises FileError."""
        self._file.close()
        if not self._lines:
            source = self._source
            columns, reader = (source.columns, source.reader) if source else ((), None)
            write_blocks(self.path, self._form, columns, self._names, self._rows, reader)

    def _rows(self) -> Iterator[tuple[Record, Values | None]]:
        rows = read_spool(self.place)
        if self._source is None:
            return ((NO_RECORD, values) for _, *values in rows)
        return _beside(self._source.records(), rows)


def _beside(
    records: Iterator[Record], rows: Iterable[Values]
) -> Iterator[tuple[Record, Values | None]]:
    """Yield each record with the values that are spooled by its number, None where none are.

    It ends with the last row that has any.
    """
    for number, *values in rows:
        for record in records:
            scored = record.number == number
            yield record, values if scored else None
            if scored:
                break


def spooled(values: Values) -> bytes:
    """Return values as a line of a spool."""
    return (json.dumps(list(values), default=as_json) + "\n").encode()


def read_spool(path: Path) -> Iterator[Values]:
    """Yield the rows of a spool."""
    with path.open("rb") as lines:
        yield from map(json.loads, lines)


def checked_form(path: Path, guard: bool) -> Form:
    """Return the form of a file to write. Raises FileError where it cannot be guarded."""
    form = form_of(path)
    if guard and form not in GUARDED_FORMS:
        raise FileError(f"{path.name}: only CSV and TSV are guarded for spreadsheets")
    return form


def check_cells(path: Path, table: Tabular, form: Form, columns: Sequence[str]) -> None:
    """Refuse to write columns of an input to a file whose form cannot hold them. Raises FileError.

    `form` is the input's. Its rows are read once more where the other form may hold less.
    """
    written = form_of(path)
    if written == "tsv" != form:
        lines = PlainDelimited(written, tuple(columns), (), path.name)
        lines.head()
        for record in table.records():
            lines.line(record, ())
    elif written == "parquet" and form in ("jsonl", "xlsx"):  # texts alone always fit
        check_parquet(path.name, columns, lambda: ((record, ()) for record in table.records()))


def line_form(path: Path, names: Sequence[str], source: Source | None, guard: bool) -> LineForm:
    """Return how the lines of a text file are made, by its name and by the input."""
    form, columns, ours = form_of(path), source.columns if source else (), tuple(names)
    if source and isinstance(source.reader, Delimited) and source.form == form:
        return BesideDelimited(source.reader, ours, path.name, guard)
    if form == "jsonl":
        return JsonLines(columns, ours, of_json=source is not None and source.form == "jsonl")
    return PlainDelimited("tsv" if form == "tsv" else "csv", columns, ours, path.name, guard)
