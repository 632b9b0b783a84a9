"""CSV and TSV, row by row and within bounds."""

import codecs
import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.encodings import TextFile
from probe.data.formats.header import SAMPLE_ROWS, header_of, titles_of
from probe.data.formats.lines import Lines
from probe.data.formats.quotes import do_quotes_enclose
from probe.data.formats.unpacking import pieces_of
from probe.data.names import check_names, listed
from probe.data.records import REPEATED, Record
from probe.errors import FileError, what_is_wrong
from probe.limits import Bounds
from probe.tasks.python_literals import read_literal

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
QUOTING: Mapping[bool, Literal[0, 3]] = {True: csv.QUOTE_MINIMAL, False: csv.QUOTE_NONE}
BYTES = re.compile(r"""b(['"]).*\1""", re.DOTALL)
"""A text as Python writes bytes, and so pandas into a file."""
Row = tuple[list[str], bytes]
"""The fields of a row, and its bytes; none where a quote in it is never closed."""


@dataclass(frozen=True)
class Delimited:
    """A CSV or TSV file: its header and what splits its fields.

    `quotes` says whether quotes enclose fields or belong to the text. `header` has the bytes of the
    names, with those of what stands before them; none where columns have no names. `above` counts
    the rows before the data, and `of_bytes` are the columns whose texts are written as Python's
    bytes.
    """

    file: TextFile
    form: DelimitedForm
    delimiter: str
    quotes: bool
    columns: tuple[str, ...]
    header: Record
    above: int
    of_bytes: tuple[str, ...]
    words: str

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
        rows = _rows(self.file, self.delimiter, self.quotes)
        for number, (fields, written) in enumerate(islice(rows, self.above, None)):
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
        elif fields == list(self.columns):
            broken = REPEATED
        if count > width:  # no character is lost, and the columns behind keep their place
            joint = self.delimiter if self.quotes else " "
            last = joint.join(fields[width - 1 :])
            fields, body = [*fields[: width - 1], last], self._with_last(body, last)
        cells = dict(zip(self.columns, fields, strict=True))
        for name in self.of_bytes:
            cells[name] = _of_bytes(cells[name])
        return Record(number, cells, body, end, broken)

    def _with_last(self, body: bytes, last: str) -> bytes:
        """Return the bytes of a row up to its last column, and a text as that column."""
        mark = re.escape(self.delimiter)
        quotes = f'(?:{QUOTES}|(?!"))' if self.quotes else ""
        field = f"{quotes}[^{mark}]*{mark}"
        text = body.decode(self._encoding)
        kept = re.match(f"(?:{field}){{{len(self.columns) - 1}}}", text)
        if not kept:
            return b""
        if self.quotes:
            last = '"' + last.replace('"', '""') + '"'
        return (kept[0] + last).encode(self._encoding)

    @property
    def _encoding(self) -> str:
        """The encoding of bytes behind a byte order mark."""
        return self.file.inner.removesuffix("-sig")


def open_delimited(
    file: TextFile, form: DelimitedForm, options: FileOptions = AS_THE_FILE_TELLS
) -> Delimited:
    """Read the header of a CSV or TSV file. Raises FileError, LimitError.

    The whole file is read to see what its quotes are, if it has any. Raises FileQuestion where that
    or whether it has a header is not clear.
    """
    name, (delimiter, told) = file.path.name, _delimiter(file, form)
    usual = form == "csv" or delimiter != "\t"
    quotes = options.quotes
    if quotes is None:
        quotes = _do_quotes_enclose(file, delimiter, usual)
    rows = _rows(file, delimiter, quotes)
    sample = list(islice(rows, SAMPLE_ROWS + 1))
    header = header_of([fields for fields, _ in sample], options.header, name)
    file.bounds.check("max_columns", len(header.columns))
    check_names(header.columns, name)
    of_bytes = _columns_of_bytes(header.columns, [fields for fields, _ in sample[header.above :]])
    words = [
        header.words,
        ""
        if quotes == usual
        else "quotes enclose fields"
        if quotes
        else "quotes belong to the text",
        f"b'…' is read as the text in {listed(of_bytes)}" if of_bytes else "",
        file.words,
    ]
    above = b"".join(written for _, written in sample[: header.above])
    body, end = _without_end(told + above if above else b"")
    first_end = _without_end(sample[0][1])[1] if sample else b""
    record = Record(0, dict.fromkeys(header.columns), body, end or first_end or DEFAULT_END)
    return Delimited(
        file, form, delimiter, quotes, header.columns, record, header.above, of_bytes,
        "; ".join(filter(None, words)),
    )  # fmt: skip


def _do_quotes_enclose(file: TextFile, delimiter: str, usual: bool) -> bool:
    """Tell by a file whether its quotes enclose fields, as usual where no field begins with one."""
    marks = "\r\n" + delimiter
    field = f'[{re.escape(marks)}]"'.encode(file.inner.removesuffix("-sig"))
    begins = re.compile(b"^(?:" + codecs.BOM_UTF8 + b')?"|' + field)
    with file.open_bytes() as raw:
        last = b""
        for piece in pieces_of(raw):
            if begins.search(last + piece):
                break
            last = piece[-1:]
        else:
            return usual
    with _lines(file) as lines:
        return do_quotes_enclose(_each_a_row(lines), delimiter, file.path.name)


def _each_a_row(lines: Lines) -> Iterator[str]:
    for line in lines:
        lines.begin_row()
        yield line


def _columns_of_bytes(columns: tuple[str, ...], rows: list[list[str]]) -> tuple[str, ...]:
    """Return the columns in which every text is written as bytes."""
    filled = {
        name: [row[at] for row in rows if at < len(row) and row[at]]
        for at, name in enumerate(columns)
    }
    return tuple(
        name for name, texts in filled.items() if texts and all(map(BYTES.fullmatch, texts))
    )


def _of_bytes(text: str) -> str:
    """Return the text of which a field is the bytes as Python writes them, else the field."""
    if not BYTES.fullmatch(text):
        return text
    try:
        read = read_literal(text)
        return read.decode() if isinstance(read, bytes) else text
    except ValueError:
        return text


def _rows(file: TextFile, delimiter: str, quotes: bool) -> Iterator[Row]:
    """Yield the rows that are not blank, the header first. Raises FileError, LimitError."""
    with _lines(file) as lines:
        first, blank = _first_line(lines, file.bounds), 0
        if TOLD.fullmatch(first):
            lines.begin_row()
            first = next(lines, "")
        written_lines = chain([first], lines)
        for row in csv.reader(written_lines, delimiter=delimiter, quoting=QUOTING[quotes]):
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
def _lines(file: TextFile) -> Iterator[Lines]:
    csv.field_size_limit(NO_BOUND)
    try:
        with file.open_bytes() as raw:
            yield Lines(raw, file.inner, file.bounds)
    except csv.Error as problem:
        raise FileError(
            f"{file.path.name} cannot be read as a table: {what_is_wrong(problem)}"
        ) from problem


def _first_line(lines: Lines, bounds: Bounds) -> str:
    """Return the first line that is not blank. Raises LimitError."""
    for blank, line in enumerate(lines):
        if line.strip():
            return line
        bounds.check("max_rows", blank)
        lines.begin_row()
    return ""


def _delimiter(file: TextFile, form: DelimitedForm) -> tuple[str, bytes]:
    """Return the mark that the file tells, with the bytes of that line, else that its rows have.

    That is the one that splits its header most: a tab by the name of the file, where it has one.
    """
    with _lines(file) as lines:
        first = _first_line(lines, file.bounds)
        if told := TOLD.fullmatch(first):
            return told[1], lines.row
        header = _without_quotes(first, lines)
    usual, rare = (max(marks, key=header.count) for marks in (DELIMITERS, RARE_DELIMITERS))
    if form == "tsv":
        return ("\t" if "\t" in header or not _splits(file, usual) else usual), b""
    if usual in header:
        return usual, b""
    below_title = (
        mark
        for mark in DELIMITERS
        if any(titles_of(_sample(file, mark, quotes)) for quotes in (True, False))
    )
    return (rare if rare in header else next(below_title, usual)), b""


def _splits(file: TextFile, delimiter: str) -> bool:
    """Whether a mark splits the first rows of a file into as many fields each."""
    widths = {len(fields) for fields in _sample(file, delimiter)}
    return len(widths) == 1 and max(widths) > 1


def _sample(file: TextFile, delimiter: str, quotes: bool = True) -> list[list[str]]:
    return [fields for fields, _ in islice(_rows(file, delimiter, quotes), SAMPLE_ROWS)]


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
