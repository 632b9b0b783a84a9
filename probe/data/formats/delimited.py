"""CSV and TSV, row by row and within bounds."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, Literal

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.encodings import TextFile, pieces_of
from probe.data.names import check_names, listed, shown
from probe.data.rows import REPEATED, Record, Source
from probe.errors import FileError, FileQuestion, what_is_wrong
from probe.limits import Bounds
from probe.stopping import check_stop
from probe.tasks.reading import read_literal

SAMPLE_ROWS = 100
"""Rows by which a first row is judged."""
MAX_TITLES = 3
"""Rows above the names of the columns that hold a title."""
MOSTLY = 0.9
"""Share of the rows below a title that have as many fields as there are names, at least."""
NAME_CHARACTERS, NAME_WORDS = 40, 3
LONG_WORDS, MORE_WORDS = 5, 2
"""Words of a field that is hardly a name, and how many more than a name the texts below it have."""
NUMBER = re.compile(r"\s*[-+]?(\d+([.,]\d+)?|[.,]\d+)([eE][-+]?\d+)?\s*")
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Header:
    """The names of the columns, and how many rows stand above the data: titles and names."""

    columns: tuple[str, ...]
    above: int
    words: str = ""


def header_of(rows: Rows, header: bool | None, file: str) -> Header:
    """Find the names of the columns among a table's first rows, none of which is blank.

    `header` says whether the first row has them. Columns without names are called column1 and so
    on. Raises FileQuestion where that is not clear.
    """
    first, below = (rows[0], rows[1:]) if rows else ((), ())
    if header is False:
        names = tuple(f"column{number}" for number in range(1, len(first) + 1))
        return Header(names, 0, "its first row is data, and its columns have no names")
    if header is None and (titles := titles_of(rows)):
        count = "its first row is a title" if titles == 1 else f"its first {titles} rows are titles"
        return Header(tuple(rows[titles]), titles + 1, count)
    if header is None and _is_data(first, below):
        longest = max(first, key=len)
        raise FileQuestion(
            f"{file}: its first row, with {shown(longest)}, looks like data and not like the names "
            "of columns",
            "--no-header", "--header",
        )  # fmt: skip
    return Header(tuple(first), min(len(rows), 1))


def titles_of(rows: Rows) -> int:
    """Return how many rows stand above the names of the columns.

    Such a row has one field filled, or names groups of columns: then one between others is empty.
    """
    titles, groups = 0, False
    while titles < min(len(rows), MAX_TITLES):
        above = rows[titles]
        if len(_filled(above)) > 1:
            if all(field.strip() for field in above[1:-1]):
                break
            groups = True
        titles += 1
    below = rows[titles + 1 :]
    if not titles or not below:
        return 0
    names = rows[titles]
    fits = sum(len(row) == len(names) for row in below) >= MOSTLY * len(below)
    named = len(_filled(names)) >= max(2, len(names) - 1) and len(set(names)) == len(names)
    if groups and not all(map(_is_name, names)):
        return 0
    return titles if fits and named and _is_above(names, below) else 0


def _is_data(first: Sequence[str], below: Rows) -> bool:
    """Whether a first row looks like the rows below it."""
    columns = list(zip(first, _columns(first, below), strict=True))
    repeats = any(field and field in values for field, values in columns)
    if repeats and not any(list(row) == list(first) for row in below):
        return True
    counted = [[str(number) for number in range(start, start + len(first))] for start in (0, 1)]
    numbers = list(first) not in counted and any(
        NUMBER.fullmatch(field) and values and all(map(NUMBER.fullmatch, values))
        for field, values in columns
    )
    long = sum(len(field.split()) >= LONG_WORDS for field in first) > len(first) / 2
    return (numbers or long) and not _is_above(first, below)


def _is_above(names: Sequence[str], below: Rows) -> bool:
    """Whether some column is of another kind than its name: numbers, a few values or long texts."""
    for name, values in zip(names, _columns(names, below), strict=True):
        if _is_name(name) and values and name not in values:
            few = len(values) > 2 and len(set(values)) <= len(values) / 2
            words = sum(len(value.split()) for value in values) / len(values)
            if few or all(map(NUMBER.fullmatch, values)):
                return True
            if words >= len(name.split()) + MORE_WORDS:
                return True
    return False


def _is_name(field: str) -> bool:
    words = field.split()
    short = len(field) <= NAME_CHARACTERS and 0 < len(words) <= NAME_WORDS
    return short and not NUMBER.fullmatch(field) and not field.rstrip().endswith((".", "!", "?"))


def _columns(first: Sequence[str], below: Rows) -> list[list[str]]:
    """Return what is filled below each field of a row."""
    return [[row[at] for row in below if at < len(row) and row[at]] for at in range(len(first))]


def _filled(row: Sequence[str]) -> list[str]:
    return [field for field in row if field.strip()]


STOP_LINES = 1 << 14
"""Lines between two questions whether to stop."""


def do_quotes_enclose(file: TextFile, delimiter: str, usual: bool) -> bool:
    """Read a whole file both ways, and say which way its rows fit; as usual if none has a quote.

    Where they do so equally, quotes at tabs enclose if one is doubled within another, or if every
    text has them; at other delimiters they enclose unless only the other reading has a fault
    nowhere. Raises FileQuestion where nothing tells.
    """
    begins, last = re.compile(f'[\\r\\n{re.escape(delimiter)}]"'), "\n"
    with file.open() as text:
        for piece in pieces_of(text):
            if begins.search(last + piece):
                break
            last = piece[-1:]
        else:
            return usual
    other = f"[^{re.escape(delimiter)}]*"
    pattern = re.compile(
        rf'((?P<quoted>"[^"]*(?:""[^"]*)*")(?P<rest>{other})|(?P<open>".*)|(?P<bare>{other}))'
        rf"(?P<end>{re.escape(delimiter)}|$)"
    )
    # lines by the number of fields of their row, 0 where it is not well written
    plain, enclosing = Counter[int](), Counter[int]()
    doubled, spanning, bare = 0, 0, False  # fields with a quote within, and in several lines
    inside, fields, height, well = False, 0, 0, True
    with _lines(file) as lines:
        for number, line in enumerate(lines):
            lines.begin_row()
            if number % STOP_LINES == 0:
                check_stop()
            line = line.rstrip("\r\n")
            if not line and not inside:
                continue
            plain[line.count(delimiter) + 1] += 1
            if not (inside or line.startswith('"') or delimiter + '"' in line):
                enclosing[line.count(delimiter) + 1] += 1
                bare = bare or any(map(_is_text, line.split(delimiter)))
                continue
            height, goes_on = height + 1, inside
            for field in pattern.finditer(f'"{line}' if inside else line):
                fields += not goes_on
                inside = field["open"] is not None
                spanning += inside and not goes_on
                doubled += '""' in (field["quoted"] or "")[1:]
                well = well and not field["rest"]
                bare = bare or _is_text(field["bare"] or "")
                goes_on = False
                if not field["end"]:
                    break
            if not inside:
                enclosing[fields if well else 0] += height
                fields, height, well = 0, 0, True
    enclosing[0] += height
    encloses: bool | None = True
    faults, plain_faults = _unfit(enclosing), _unfit(plain)
    if delimiter != "\t":
        if not (plain_faults or len(plain) > 1 or max(plain, default=1) == 1):
            unsure = doubled if faults else spanning
            encloses = None if unsure else not faults
    elif faults != plain_faults:
        doubtful = faults > plain_faults and doubled > enclosing[0]
        encloses = None if doubtful else faults < plain_faults
    elif enclosing[0]:
        encloses = False
    elif bare and not doubled:
        encloses = None
    if encloses is None:
        raise FileQuestion(
            f"{file.path.name}: its quotes may enclose fields or belong to the text; its rows fit "
            "both ways",
            "--quotes", "--no-quotes",
        )  # fmt: skip
    return encloses


def _is_text(field: str) -> bool:
    return bool(field.strip()) and not NUMBER.fullmatch(field)


def _unfit(lines: Counter[int]) -> int:
    """Return the lines of rows that do not have as many fields as most."""
    return lines.total() - max((count for width, count in lines.items() if width), default=0)


ROW_CELLS = 20
"""A row may hold as many characters as so many of the longest cells."""


def longest_row(bounds: Bounds) -> int | None:
    """Return the most characters of a row, None where there is no bound."""
    return ROW_CELLS * bounds.max_cell if bounds.max_cell else None


class Lines:
    """The lines of a text with their ends, refused where those of a row are too long together."""

    def __init__(self, text: IO[str], bounds: Bounds) -> None:
        self._text, self._bounds = text, bounds
        self._longest = longest_row(bounds)
        self._length = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return the next line. Raises LimitError, UnicodeError."""
        line = self._text.readline(-1 if self._longest is None else self._longest + 1)
        if not line:
            raise StopIteration
        self._length += len(line)
        if self._longest is not None and self._length > self._longest:
            self._bounds.check("max_cell", self._length)
        return line

    def begin_row(self) -> None:
        """Take what comes next for another row."""
        self._length = 0


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
DEFAULT_END = "\r\n"
"""As RFC 4180 ends a line."""
DelimitedForm = Literal["csv", "tsv"]
QUOTING: Mapping[bool, Literal[0, 3]] = {True: csv.QUOTE_MINIMAL, False: csv.QUOTE_NONE}
BYTES = re.compile(r"""b(['"]).*\1""", re.DOTALL)
"""A text as Python writes bytes, and so pandas into a file."""


@dataclass(frozen=True)
class Delimited:
    """A CSV or TSV file: its header and what splits its fields.

    `quotes` says whether quotes enclose fields or belong to the text, `end` how lines end. `told`
    is the line that says the delimiter, `above` are the rows before the data, of which the last has
    the names; none where columns have no names. `of_bytes` are the columns whose texts are written
    as Python's bytes.
    """

    file: TextFile
    delimiter: str
    quotes: bool
    columns: tuple[str, ...]
    end: str
    told: str
    above: tuple[Sequence[str], ...]
    of_bytes: tuple[str, ...]

    def records(self) -> Iterator[Record]:
        """Yield the rows that are not blank. Raises FileError, LimitError.

        Parsed by hand rather than through pandas, so that one ragged row does not stop the rest.
        """
        width, joint = len(self.columns), self.delimiter if self.quotes else " "
        rows = _rows(self.file, self.delimiter, self.quotes)
        for number, fields in enumerate(islice(rows, len(self.above), None)):
            count, broken = len(fields), ""
            if count != width:
                broken = f"the row has {count} fields, the header {width}"
                fields += [""] * (width - count)
            elif fields == list(self.columns):
                broken = REPEATED
            if count > width:  # no character is lost, and the columns behind keep their place
                fields[width - 1 :] = [joint.join(fields[width - 1 :])]
            cells = dict(zip(self.columns, fields, strict=True))
            for name in self.of_bytes:
                cells[name] = _of_bytes(cells[name])
            yield Record(number, cells, fields=fields, broken=broken)


def open_delimited(
    file: TextFile, form: DelimitedForm, options: FileOptions = AS_THE_FILE_TELLS
) -> Source:
    """Read the header of a CSV or TSV file. Raises FileError, LimitError.

    The whole file is read to see what its quotes are, if it has any. Raises FileQuestion where that
    or whether it has a header is not clear.
    """
    name = file.path.name
    with _lines(file) as lines:
        first = _first_line(lines, file.bounds)
    told, end = TOLD.fullmatch(first), first[len(first.rstrip("\r\n")) :]
    delimiter = told[1] if told else _delimiter(file, form)
    usual = form == "csv" or delimiter != "\t"
    quotes = options.quotes
    if quotes is None:
        quotes = do_quotes_enclose(file, delimiter, usual)
    sample = list(islice(_rows(file, delimiter, quotes), SAMPLE_ROWS + 1))
    header = header_of(sample, options.header, name)
    file.bounds.check("max_columns", len(header.columns))
    check_names(header.columns, name)
    filled = zip(header.columns, _columns(header.columns, sample[header.above :]), strict=True)
    of_bytes = [name for name, texts in filled if texts and all(map(BYTES.fullmatch, texts))]
    enclose = "quotes enclose fields" if quotes else "quotes belong to the text"
    words = [
        header.words,
        "" if quotes == usual else enclose,
        f"b'…' is read as the text in {listed(of_bytes)}" if of_bytes else "",
        file.words,
    ]
    own = Delimited(
        file, delimiter, quotes, header.columns, end or DEFAULT_END,
        first.removesuffix(end) if told else "", tuple(sample[: header.above]), tuple(of_bytes),
    )  # fmt: skip
    return Source(form, header.columns, own.records, "; ".join(filter(None, words)), own=own)


def _of_bytes(text: str) -> str:
    """Return the text of which a field is the bytes as Python writes them, else the field."""
    if not BYTES.fullmatch(text):
        return text
    try:
        read = read_literal(text)
        return read.decode() if isinstance(read, bytes) else text
    except ValueError:
        return text


def _rows(file: TextFile, delimiter: str, quotes: bool) -> Iterator[list[str]]:
    """Yield the rows that are not blank, the header first. Raises FileError, LimitError."""
    with _lines(file) as lines:
        first, blank = _first_line(lines, file.bounds), 0
        if TOLD.fullmatch(first):
            lines.begin_row()
            first = next(lines, "")
        for row in csv.reader(chain([first], lines), delimiter=delimiter, quoting=QUOTING[quotes]):
            lines.begin_row()
            file.bounds.check("max_columns", len(row))
            file.bounds.check("max_cell", max(map(len, row), default=0))
            if row:
                yield row
            else:
                blank += 1
                file.bounds.check("max_rows", blank)


@contextmanager
def _lines(file: TextFile) -> Iterator[Lines]:
    csv.field_size_limit(NO_BOUND)
    try:
        with file.open(newline="") as text:
            yield Lines(text, file.bounds)
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


def _delimiter(file: TextFile, form: DelimitedForm) -> str:
    """Return the mark that splits the header most: a tab by the file's name, where it has one."""
    header = ""
    with _lines(file) as lines:
        first = _first_line(lines, file.bounds)
        for line in islice(chain([first], lines), HEADER_LINES):  # names may have several
            header += line
            bare = QUOTED_NAME.sub(r"\1", header)  # without what stands in quotes
            if not OPENED.search(bare):
                break
        else:
            bare = QUOTED_NAME.sub(r"\1", first)
    header = bare
    usual, rare = (max(marks, key=header.count) for marks in (DELIMITERS, RARE_DELIMITERS))
    if form == "tsv":
        if "\t" in header:
            return "\t"
        widths = set(map(len, _sample(file, usual)))
        return usual if len(widths) == 1 and max(widths) > 1 else "\t"
    if usual in header or rare in header:
        return usual if usual in header else rare
    below_title = (
        mark
        for mark in DELIMITERS
        if any(titles_of(_sample(file, mark, quotes)) for quotes in (True, False))
    )
    return next(below_title, usual)


def _sample(file: TextFile, delimiter: str, quotes: bool = True) -> list[list[str]]:
    return list(islice(_rows(file, delimiter, quotes), SAMPLE_ROWS))
