"""CSV and TSV, row by row and within bounds."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from probe.data.formats.encodings import TextFile
from probe.data.formats.lines import Lines
from probe.data.names import check_names
from probe.data.records import Record
from probe.errors import FileError

NO_BOUND = 2**31 - 1
"""The csv module's own bound holds for the whole process, ours for one file."""
DELIMITERS = (",", ";", "\t", "|")
LINE_ENDS = (b"\r\n", b"\n", b"\r")
DEFAULT_END = b"\r\n"
"""As RFC 4180 ends a line."""
DelimitedForm = Literal["csv", "tsv"]
QUOTING: Mapping[DelimitedForm, Literal[0, 3]] = {
    "csv": csv.QUOTE_MINIMAL,
    "tsv": csv.QUOTE_NONE,
}
Row = tuple[list[str], bytes]
"""The fields of a row, and its bytes; none where a quote in it is never closed."""


@dataclass(frozen=True)
class Delimited:
    """A CSV or TSV file: its header and what splits its fields.

    TSV is read without quoting, as the MNLI and SNLI releases are. `header` has its bytes.
    """

    file: TextFile
    form: DelimitedForm
    delimiter: str
    columns: tuple[str, ...]
    header: Record

    def records(self) -> Iterator[Record]:
        """Yield the rows that are not blank. Raises FileError, LimitError.

        Parsed by hand rather than through pandas, so that one ragged row does not stop the rest.
        """
        rows = _rows(self.file, self.form)
        next(rows)
        for number, (fields, written) in enumerate(rows):
            yield self._record(number, fields, written)

    def _record(self, number: int, fields: list[str], written: bytes) -> Record:
        body, end = _without_end(written)
        width, count = len(self.columns), len(fields)
        broken = ""
        if count != width:
            broken = f"the row has {count} fields, the header {width}"
            missing = [""] * (width - count)
            body += self.delimiter.encode() * len(missing) if body else b""
            fields = [*fields, *missing]
        if count > width:  # no character is lost, and the columns behind keep their place
            joint = self.delimiter if self.form == "csv" else " "
            fields, body = [*fields[: width - 1], joint.join(fields[width - 1 :])], b""
        return Record(number, dict(zip(self.columns, fields, strict=True)), body, end, broken)


def open_delimited(file: TextFile, form: DelimitedForm) -> Delimited:
    """Read the header of a CSV or TSV file. Raises FileError, LimitError."""
    columns, written = next(_rows(file, form), ([], b""))
    file.bounds.check("max_columns", len(columns))
    check_names(columns, file.path.name)
    body, end = _without_end(written)
    header = Record(0, dict.fromkeys(columns), body, end or DEFAULT_END)
    first = next(iter(body.splitlines()), b"").decode(file.inner)
    return Delimited(file, form, _delimiter(form, first), tuple(columns), header)


def _rows(file: TextFile, form: DelimitedForm) -> Iterator[Row]:
    """Yield the rows that are not blank, the header first. Raises FileError, LimitError."""
    try:
        with file.open_bytes() as raw:
            yield from _parsed(Lines(raw, file.inner, file.bounds), form, file)
    except csv.Error as problem:
        raise FileError(f"{file.path.name} cannot be read as {form.upper()}: {problem}") from None


def _parsed(lines: Lines, form: DelimitedForm, file: TextFile) -> Iterator[Row]:
    csv.field_size_limit(NO_BOUND)
    first = list(_until_header(lines))
    delimiter = _delimiter(form, "".join(first))
    blank = 0
    for row in csv.reader(chain(first, lines), delimiter=delimiter, quoting=QUOTING[form]):
        written = b"" if lines.ended else lines.row
        lines.begin_row()
        file.bounds.check("max_cell", max(map(len, row), default=0))
        if row:
            yield row, written
        else:
            blank += 1
            file.bounds.check("max_rows", blank)


def _until_header(lines: Lines) -> Iterator[str]:
    """Yield the first line that is not blank."""
    for line in lines:
        if line.strip():
            yield line
            return
        lines.begin_row()


def _delimiter(form: DelimitedForm, header: str) -> str:
    """Return the mark that splits the header most; a comma where none does."""
    return "\t" if form == "tsv" else max(DELIMITERS, key=header.count)


def _without_end(written: bytes) -> tuple[bytes, bytes]:
    """Return the bytes of a row, and of the end of its last line."""
    end = next((end for end in LINE_ENDS if written.endswith(end)), b"")
    return written.removesuffix(end), end
