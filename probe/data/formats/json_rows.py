"""JSON objects, one a line, in a list or one after another, row by row and within bounds."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from probe.data.formats.encodings import TextFile
from probe.data.formats.lines import Lines, longest_row
from probe.data.names import shown
from probe.data.records import Record
from probe.errors import FileError
from probe.limits import Bounds

Row = dict[str, Any]  # Any: JSON
MAX_DIGITS = 4300
"""Digits of a whole number that Python reads and writes."""
MAX_NESTING = 50
"""Lists and objects inside one another; many more and none can be written again."""
MARKS_OF_A_ROW = 100
"""Lists, objects and commas of one value for each row of a file; more of them fill the memory."""
PIECE = 1 << 16
WRITE = (
    "write names and texts in double quotes, an object a line, or let the name of a table end in "
    ".csv or .tsv"
)
"""What to do about a file that is no JSON."""
DIGITS = "-0123456789"
SPACES = re.compile(r"\s*")


def json_lines(file: TextFile) -> Iterator[Record]:
    """Yield the objects of JSON lines. Raises FileError, LimitError.

    Only line feeds end a line: JSON strings may hold other separators.
    """
    name, bounds = file.path.name, file.bounds
    with file.open_bytes() as raw:
        lines = Lines(raw, file.inner, bounds, only_feeds=True)
        count = blank = 0
        for number, line in enumerate(lines, 1):
            if stripped := line.strip():
                row = checked_row(_line(stripped, number, name), name, bounds)
                yield Record(count, row, one_line(line), b"\n")
                count += 1
            else:
                blank += 1
                bounds.check("max_rows", blank)
            lines.begin_row()


def one_line(written: str) -> bytes:
    """Return an object's text as a line of its own, in the encoding that JSON has."""
    return written.strip().replace("\n", " ").replace("\r", " ").encode()


def _line(line: str, number: int, name: str) -> Any:  # Any: JSON
    try:
        value, end = _decode(line, name)
    except json.JSONDecodeError as problem:
        raise _no_json(name, line, problem.pos, number) from problem
    if end < len(line):
        raise FileError(
            f"{name} is not JSON lines: line {number:,} goes on behind its object; write one "
            "object a line and nothing between them"
        )
    return value


def _no_json(name: str, text: str, at: int, line: int = 0) -> FileError:
    """Return the refusal of a text that stops to be JSON at a place, of one line of a file or all.

    It shows what stands there: the parser's words tell what it expected.
    """
    there = next(iter(text[at:].splitlines()), "")
    what = f"cannot be read from {shown(there)} on" if there else "ends too early"
    if not line:
        return FileError(f"{name} is not JSON: it {what}; {WRITE}")
    place = f"(character {at + 1:,})"
    return FileError(f"{name} is not JSON lines: line {line:,} {what} {place}; {WRITE}")


def json_list(file: TextFile) -> Iterator[Record]:
    """Yield the objects of one JSON list, without reading the whole of it first.

    Raises FileError, LimitError.
    """
    name, bounds = file.path.name, file.bounds
    with opened(file) as parts:
        parts.take("[")
        yield from _records(parts.listed(), name, bounds)
        if parts.next_mark() not in ("", "]"):
            raise FileError(f"{name} is not JSON: something follows its list")


def json_objects(file: TextFile) -> Iterator[Record]:
    """Yield objects that stand one after another, however many lines each has.

    Raises FileError, LimitError.
    """
    name, bounds = file.path.name, file.bounds
    with opened(file) as parts:
        yield from _records(parts.one_after_another(), name, bounds)


@contextmanager
def opened(file: TextFile) -> "Iterator[Parts]":
    """Open a file to read its values one after another. Raises FileError, LimitError."""
    with file.open() as text:
        yield Parts(text, file.path.name, file.bounds)


def _records(objects: Iterator[tuple[Any, str]], name: str, bounds: Bounds) -> Iterator[Record]:
    for number, (value, written) in enumerate(objects):
        yield Record(number, checked_row(value, name, bounds), one_line(written), b"\n")


class Parts:
    """A JSON text, read no further than to the end of the value that is asked for."""

    def __init__(self, text: IO[str], name: str, bounds: Bounds) -> None:
        self._text, self._name, self._bounds = text, name, bounds
        self._ahead, self._at = "", 0

    def next_mark(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while (at := _past_spaces(self._ahead, self._at)) == len(self._ahead):
            self._ahead, self._at = self._text.read(PIECE), 0
            if not self._ahead:
                return ""
        self._at = at
        return self._ahead[at]

    def take(self, marks: str) -> str:
        """Read over one of some marks and return it. Raises FileError."""
        mark = self.next_mark()
        if not mark or mark not in marks:
            place = f"before {mark!r}" if mark else "at its end"
            raise FileError(f"{self._name} is not JSON: {' or '.join(marks)} is missing {place}")
        self._at += 1
        return mark

    def listed(self, of_objects: bool = True, whole: bool = False) -> Iterator[tuple[Any, str]]:
        """Read the values of a list that has begun, each with its text, and the list's end.

        `whole` is as in `value`. Raises FileError, LimitError.
        """
        if self.next_mark() == "]":
            self.take("]")
            return
        mark = ","
        while mark == ",":
            begun = self.next_mark()
            if not begun:
                raise FileError(f"{self._name} is not JSON: it ends inside its list")
            if of_objects and begun != "{":
                raise FileError(f"{self._name}: each entry of the list must be a JSON object")
            yield self.value(whole)
            mark = self.take(",]")

    def one_after_another(self) -> Iterator[tuple[Any, str]]:  # Any: JSON
        """Read values with nothing between them. Raises FileError, LimitError."""
        while self.next_mark():
            yield self.value()

    def members(self) -> Iterator[str]:
        """Read the names of an object's members; who asks reads the value before the next one.

        Raises FileError, LimitError.
        """
        self.take("{")
        if self.next_mark() == "}":
            self.take("}")
            return
        mark = ","
        while mark == ",":
            if self.next_mark() != '"':
                raise FileError(f"{self._name} is not JSON: a name in quotes is missing")
            name, _ = self.value()
            self.take(":")
            yield name
            mark = self.take(",}")

    def value(self, whole: bool = False) -> tuple[Any, str]:  # Any: JSON
        """Read the next value and its text.

        A list or an object may be `whole`, more than a row: a column or an article. Raises
        FileError, LimitError.
        """
        begun = self.next_mark()
        if not begun:
            raise FileError(f"{self._name} is not JSON: it ends too early")
        longest = None if whole and begun in "[{" else longest_row(self._bounds)
        while True:
            start = self._at
            try:
                value, end = _decode(self._ahead, self._name, start)
            except json.JSONDecodeError as problem:
                if not self._read_on(longest):
                    raise _no_json(self._name, self._ahead, problem.pos) from problem
                continue
            if end == len(self._ahead) and self._ahead[start] in DIGITS and self._read_on(longest):
                continue  # more digits may follow
            self._at = end
            return value, self._ahead[start:end]

    def _read_on(self, longest: int | None) -> bool:
        """Read more of a value that may not be all there; say whether there is any more.

        Raises LimitError.
        """
        self._ahead, self._at = self._ahead[self._at :], 0
        marks = sum(map(self._ahead.count, "[{,"))
        self._bounds.check("max_rows", marks / MARKS_OF_A_ROW)
        if longest is not None and len(self._ahead) > longest:
            self._bounds.check("max_cell", len(self._ahead))
        more = self._text.read(max(PIECE, len(self._ahead)))
        self._ahead += more
        return bool(more)


def _past_spaces(text: str, at: int) -> int:
    """Return where the spaces that begin at a place end."""
    spaces = SPACES.match(text, at)
    return spaces.end() if spaces else at


def checked_row(row: object, name: str, bounds: Bounds) -> Row:
    """Return a row that is an object of cells within the bounds. Raises FileError, LimitError."""
    if not isinstance(row, dict):
        raise FileError(f"{name}: each line must be a JSON object")
    bounds.check("max_columns", len(row))
    for cell in row.values():
        if isinstance(cell, str):
            bounds.check("max_cell", len(cell))
        elif isinstance(cell, (list, dict)) and nesting(cell) > MAX_NESTING:
            raise too_deep(name)
    return row


def nesting(cell: object) -> int:
    """Return how many lists and objects are inside one another."""
    depth, level = 0, [cell]
    while level := [each for each in level if isinstance(each, (list, dict))]:
        depth += 1
        level = [inner for each in level for inner in _inner(each)]
    return depth


def _inner(cell: list[object] | dict[str, object]) -> Sequence[object]:
    return list(cell.values()) if isinstance(cell, dict) else cell


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise OverflowError(f"a number has {len(digits):,} digits, more than {MAX_DIGITS:,}")
    return int(digits)


_DECODER = json.JSONDecoder(parse_int=_whole)


def _decode(text: str, name: str, at: int = 0) -> tuple[Any, int]:  # Any: JSON
    """Return the value at a place of a text, and where it ends.

    Raises JSONDecodeError for what is no JSON or not all of it, FileError for what never will be.
    """
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError as problem:
        raise too_deep(name) from problem
    except OverflowError as problem:
        raise FileError(f"{name}: {problem}") from problem


def too_deep(name: str) -> FileError:
    """Return the refusal of JSON that is nested too deeply."""
    return FileError(f"{name} holds lists or objects nested more than {MAX_NESTING} deep")
