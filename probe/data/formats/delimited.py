"""CSV and TSV, row by row and within bounds."""

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

from probe.data.formats.encodings import TextFile
from probe.data.formats.lines import Lines
from probe.data.names import check_names
from probe.data.records import Record
from probe.errors import FileError
from probe.limits import Bounds

NO_BOUND = 2**31 - 1
"""The csv module's own bound holds for the whole process, ours for one file."""
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
RARE_DELIMITERS = ("^", "~", "\x01", "\x1f")
"""What splits fields where none of the usual marks does: they hardly stand in the name of a column.

A colon does, so that it splits only where the first line of the file says so.
"""
TOLD = re.compile(r'"?sep=([^"\r\n\0])"?[\r\n]*', re.IGNORECASE)
"""The line before the header by which Excel is told what splits fields."""
HEADER_LINES = 100
"""Lines of a header at most, as far as its delimiter is guessed: a quote may have no end."""
QUOTES = r'"(?:[^"]|"")*"(?!")'
"""The quotes of a field with what they hold."""
BEGIN = f"(^|[{re.escape(''.join((*DELIMITERS, *RARE_DELIMITERS)))}]) *"
"""Where a field begins, whatever splits them."""
QUOTED_NAME, OPENED = re.compile(f"{BEGIN}{QUOTES}"), re.compile(f'{BEGIN}"')
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

    TSV is read without quoting, as the MNLI and SNLI releases are. `header` has its bytes, and
    before them those of a line that tells the delimiter.
    """

    file: TextFile
    form: DelimitedForm
    delimiter: str
    columns: tuple[str, ...]
    header: Record

    @property
    def mark(self) -> bytes:
        """The bytes of the delimiter."""
        return self.delimiter.encode(self._encoding)

    @property
    def mark_words(self) -> str:
        """The delimiter in words."""
        return DELIMITERS.get(self.delimiter, repr(self.delimiter))

    def records(self) -> Iterator[Record]:
        """Yield the rows that are not blank. Raises FileError, LimitError.

        Parsed by hand rather than through pandas, so that one ragged row does not stop the rest.
        """
        rows = _rows(self.file, self.form, self.delimiter)
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
            body += self.mark * len(missing) if body else b""
            fields = [*fields, *missing]
        if count > width:  # no character is lost, and the columns behind keep their place
            joint = self.delimiter if self.form == "csv" else " "
            last = joint.join(fields[width - 1 :])
            fields, body = [*fields[: width - 1], last], self._with_last(body, last)
        return Record(number, dict(zip(self.columns, fields, strict=True)), body, end, broken)

    def _with_last(self, body: bytes, last: str) -> bytes:
        """Return the bytes of a row up to its last column, and a text as that column."""
        mark = re.escape(self.delimiter)
        quotes = f'(?:{QUOTES}|(?!"))' if self.form == "csv" else ""
        field = f"{quotes}[^{mark}]*{mark}"
        text = body.decode(self._encoding)
        kept = re.match(f"(?:{field}){{{len(self.columns) - 1}}}", text)
        if not kept:
            return b""
        if self.form == "csv":
            last = '"' + last.replace('"', '""') + '"'
        return (kept[0] + last).encode(self._encoding)

    @property
    def _encoding(self) -> str:
        """The encoding of bytes behind a byte order mark."""
        return self.file.inner.removesuffix("-sig")


def open_delimited(file: TextFile, form: DelimitedForm) -> Delimited:
    """Read the header of a CSV or TSV file. Raises FileError, LimitError."""
    delimiter = "\t" if form == "tsv" else _delimiter(file)
    columns, written = next(_rows(file, form, delimiter), ([], b""))
    file.bounds.check("max_columns", len(columns))
    check_names(columns, file.path.name)
    body, end = _without_end(written)
    header = Record(0, dict.fromkeys(columns), body, end or DEFAULT_END)
    return Delimited(file, form, delimiter, tuple(columns), header)


def _rows(file: TextFile, form: DelimitedForm, delimiter: str) -> Iterator[Row]:
    """Yield the rows that are not blank, the header first. Raises FileError, LimitError."""
    with _lines(file, form) as lines:
        first, blank = _first_line(lines, file.bounds), 0
        if form == "csv" and TOLD.fullmatch(first):
            first = next(lines, "")
        written_lines = chain([first], lines)
        for row in csv.reader(written_lines, delimiter=delimiter, quoting=QUOTING[form]):
            written = b"" if lines.ended else lines.row
            lines.begin_row()
            file.bounds.check("max_columns", len(row))
            file.bounds.check("max_cell", max(map(len, row), default=0))
            if row:
                yield row, written
            else:
                blank += 1
                file.bounds.check("max_rows", blank)


@contextmanager
def _lines(file: TextFile, form: DelimitedForm) -> Iterator[Lines]:
    csv.field_size_limit(NO_BOUND)
    try:
        with file.open_bytes() as raw:
            yield Lines(raw, file.inner, file.bounds)
    except csv.Error as problem:
        raise FileError(f"{file.path.name} cannot be read as {form.upper()}: {problem}") from None


def _first_line(lines: Lines, bounds: Bounds) -> str:
    """Return the first line that is not blank. Raises LimitError."""
    for blank, line in enumerate(lines):
        if line.strip():
            return line
        bounds.check("max_rows", blank)
        lines.begin_row()
    return ""


def _delimiter(file: TextFile) -> str:
    """Return the mark that the file tells, else that splits its header most; a comma for none."""
    with _lines(file, "csv") as lines:
        first = _first_line(lines, file.bounds)
        if told := TOLD.fullmatch(first):
            return told[1]
        header = _without_quotes(first, lines)
    usual, rare = (max(marks, key=header.count) for marks in (DELIMITERS, RARE_DELIMITERS))
    return rare if rare in header and usual not in header else usual


def _without_quotes(first: str, lines: Iterator[str]) -> str:
    """Return the header, which may be several lines, without what stands in quotes."""
    header = ""
    for line in islice(chain([first], lines), HEADER_LINES):
        header += line
        bare = QUOTED_NAME.sub(r"\1", header)
        if not OPENED.search(bare):
            return bare
    return QUOTED_NAME.sub(r"\1", first)


def _without_end(written: bytes) -> tuple[bytes, bytes]:
    """Return the bytes of a row, and of the end of its last line."""
    end = next((end for end in LINE_ENDS if written.endswith(end)), b"")
    return written.removesuffix(end), end
