"""In which form a file of JSON holds its rows: as lines, a list, under a key, or by columns."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import IO, Any

from probe.data.formats.delimited import Lines, longest_row
from probe.data.formats.encodings import TextFile
from probe.data.names import listed, shown
from probe.data.rows import Record, Source
from probe.errors import FileError, FileQuestion
from probe.tasks.reading import squad_questions

Row = dict[str, Any]  # Any: JSON
Values = Iterator[tuple[Any, str]]  # Any: JSON
"""Values, each with its text, "" where it has none of its own."""
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
FILLED = re.compile(r"\S")
ARTICLE, PASSAGE, HEADER = "paragraphs", "qas", "header"
"""The key by which an article and a passage is known, and that of MRQA's first line."""


def _source(file: TextFile, values: Callable[[TextFile], Values], told: str = "") -> Source:
    """Return the rows of a file whose values are objects, `told` where its form is no usual one.

    Of articles and passages with questions each question is a row. Such a row has `context` and
    `title` beside the question's own keys, and its `qid` as `id` where it has no other. The first
    line of MRQA's files, which tells the data set, is left out.
    """

    def rows() -> Values:
        for at, (value, written) in enumerate(values(file)):
            if at == 0 and isinstance(value, dict) and set(value) == {HEADER}:
                continue
            keys = (ARTICLE, PASSAGE) if isinstance(value, dict) else ()
            if not any(isinstance(value.get(key), list) for key in keys):
                yield value, written.strip().replace("\n", " ").replace("\r", " ")
                continue
            try:
                for row in _questions(value):
                    yield row, ""
            except (KeyError, TypeError) as problem:
                raise FileError(
                    f"{file.path.name} is not in SQuAD's form: data, then paragraphs, then qas; "
                    "for one question a line let its name end in .jsonl"
                ) from problem

    def records() -> Iterator[Record]:
        for number, (row, written) in enumerate(rows()):
            _check_row(row, file)
            yield Record(number, row, written)

    return Source("jsonl", (), records, "; ".join(filter(None, (told, file.words))))


def _questions(cells: Mapping[str, Any]) -> Iterator[Row]:  # Any: JSON
    if ARTICLE in cells:
        yield from squad_questions({"data": [cells]})
        return
    given = {key: value for key, value in cells.items() if key != PASSAGE}
    for asked in cells[PASSAGE]:
        row = {**given, **asked}
        yield row if "id" in asked or "qid" not in asked else {**row, "id": asked["qid"]}


def _check_row(row: object, file: TextFile) -> None:
    """Refuse what is no object of cells within the bounds. Raises FileError, LimitError."""
    if not isinstance(row, dict):
        raise FileError(f"{file.path.name}: each line must be a JSON object")
    file.bounds.check("max_columns", len(row))
    depth, level = 0, list(row.values())
    for cell in level:
        file.bounds.check("max_cell", len(cell) if isinstance(cell, str) else 0)
    while level := [each for each in level if isinstance(each, (list, dict))]:
        if (depth := depth + 1) > MAX_NESTING:
            raise too_deep(file.path.name)
        level = [
            inner for each in level for inner in (each.values() if isinstance(each, dict) else each)
        ]


def json_lines(file: TextFile) -> Values:
    """Yield the objects of JSON lines. Raises FileError, LimitError.

    Only line feeds end a line: JSON strings may hold other separators.
    """
    name, blank = file.path.name, 0
    with file.open() as text:
        lines = Lines(text, file.bounds)
        for number, line in enumerate(lines, 1):
            if stripped := line.strip():
                try:
                    value, end = _decode(stripped, name)
                except json.JSONDecodeError as problem:
                    raise _no_json(name, stripped, problem.pos, number) from problem
                if end < len(stripped):
                    raise FileError(
                        f"{name} is not JSON lines: line {number:,} goes on behind its object; "
                        "write one object a line and nothing between them"
                    )
                yield value, line
            else:
                blank += 1
                file.bounds.check("max_rows", blank)
            lines.begin_row()


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


def json_list(file: TextFile) -> Values:
    """Yield the objects of one JSON list, without reading the whole of it first."""
    with opened(file) as parts:
        yield from parts.listed()
        if parts.next_mark() not in ("", "]"):
            raise FileError(f"{file.path.name} is not JSON: something follows its list")


def json_objects(file: TextFile) -> Values:
    """Yield objects that stand one after another, however many lines each has."""
    with opened(file) as parts:
        while parts.next_mark():
            yield parts.value()


@contextmanager
def opened(file: TextFile) -> "Iterator[Parts]":
    """Open a file to read its values one after another. Raises FileError, LimitError."""
    with file.open() as text:
        yield Parts(text, file)


class Parts:
    """A JSON text, read no further than to the end of the value that is asked for."""

    def __init__(self, text: IO[str], file: TextFile) -> None:
        self._text, self._name, self._bounds = text, file.path.name, file.bounds
        self._ahead, self._at = "", 0

    def next_mark(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while not (found := FILLED.search(self._ahead, self._at)):
            self._ahead, self._at = self._text.read(PIECE), 0
            if not self._ahead:
                return ""
        self._at = found.start()
        return found[0]

    def take(self, marks: str) -> str:
        """Read over one of some marks and return it. Raises FileError."""
        mark = self.next_mark()
        if not mark or mark not in marks:
            place = f"before {mark!r}" if mark else "at its end"
            raise FileError(f"{self._name} is not JSON: {' or '.join(marks)} is missing {place}")
        self._at += 1
        return mark

    def _entries(self, begin: str, end: str) -> Iterator[str]:
        """Stand before each entry of a list or an object; yield the mark by which it begins."""
        self.take(begin)
        mark = "," if self.next_mark() != end else self.take(end)
        while mark == ",":
            yield self.next_mark()
            mark = self.take("," + end)

    def listed(self, of_objects: bool = True, whole: bool = False) -> Values:
        """Read the values of a list and its end.

        `whole` is as in `value`. Raises FileError, LimitError.
        """
        for begun in self._entries("[", "]"):
            if not begun:
                raise FileError(f"{self._name} is not JSON: it ends inside its list")
            if of_objects and begun != "{":
                raise FileError(f"{self._name}: each entry of the list must be a JSON object")
            yield self.value(whole)

    def members(self) -> Iterator[str]:
        """Read the names of an object's members; who asks reads the value before the next one.

        Raises FileError, LimitError.
        """
        for begun in self._entries("{", "}"):
            if begun != '"':
                raise FileError(f"{self._name} is not JSON: a name in quotes is missing")
            name, _ = self.value()
            self.take(":")
            yield name

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


LINE = 1 << 20
"""Characters of a line at most by which JSON lines are known."""
USUAL = ("data", "rows", "examples", "instances", "items", "records", "pairs", "questions")
"""What the list of rows is called, where an object holds other lists of objects, or texts, too."""
ROW_TEXTS = 2
"""Texts beside lists of objects by which an object is a row itself."""
VIEWED = "row"
"""The key under which the hub's viewer has the cells of a row."""
INDEX = "index"
"""The column of the names that rows have as keys, as pandas calls it."""


Members = dict[str, tuple[Any, int | None]]  # Any: JSON
"""Of a file's one object each member: a value or, of a list, its first one and how many it has."""


def begins_with_object(file: TextFile) -> bool:
    """Whether a file of another name begins with an object as JSON lines do."""
    try:
        return isinstance(json.loads(_first_line(file)[0]), dict)
    except (ValueError, RecursionError):
        return False


def open_json(file: TextFile, part: str = "") -> Source:
    """Find out in which form a file is; `part` names one of several lists.

    Raises FileError, LimitError, and FileQuestion where it holds several lists of rows.
    """
    if file.first == "[":
        with opened(file) as parts:
            first, _ = next(parts.listed(), (None, ""))
        return _source(file, partial(_viewed, json_list) if _is_viewed(first) else json_list)
    line, more = _first_line(file)
    try:
        _, end = json.JSONDecoder().raw_decode(line)
        is_lines = end < len(line) or more
    except json.JSONDecodeError as problem:  # who reads them says what is wrong with this one
        is_lines = problem.pos < len(line) < LINE
    except (RecursionError, ValueError):
        is_lines = True
    if is_lines:
        return _source(file, json_lines)
    members, follows = _outline(file)
    if follows:
        return _source(file, json_objects, "it holds JSON objects, one after another")
    return _source(file, *_of_members(members, part, file.path.name))


def _first_line(file: TextFile) -> tuple[str, bool]:
    """Return the first line that is not blank, and whether anything but blanks follows it."""
    with file.open() as text:
        line = ""
        while not line.strip():
            line = text.readline(LINE)
        more = any(piece.strip() for piece in iter(partial(text.read, LINE), ""))
    return line.strip(), more


def _outline(file: TextFile) -> tuple[Members, bool]:
    """Read through the first object of a file; return its members, and whether more follows.

    Raises FileError, LimitError.
    """
    members, bounds = Members(), file.bounds
    with opened(file) as parts:
        for name in parts.members():
            if parts.next_mark() != "[":
                value, _ = parts.value(whole=True)
                members[name] = (value, None)
                kind = "max_rows" if isinstance(value, dict) else "max_columns"
                bounds.check(kind, len(members))
                continue
            first, size = None, 0
            for size, (value, _) in enumerate(parts.listed(of_objects=False, whole=True), 1):
                bounds.check("max_rows", size)
                first = value if size == 1 else first
            members[name] = (first, size)
        return members, bool(parts.next_mark())


def _of_members(members: Members, part: str, name: str) -> tuple[Callable[[TextFile], Values], str]:
    """Return what reads the rows of a file that is one object, and its form in words."""
    sizes = {key: size for key, (_, size) in members.items()}
    objects = {key: first for key, (first, _) in members.items() if isinstance(first, dict)}
    lists = [key for key in objects if sizes[key] is not None]
    if part and part not in lists:
        raise FileError(f"{name} holds no list of rows {shown(part)}; it has: {listed(lists)}")
    usual = [key for key in USUAL if key in lists][:1]
    texts = [first for first, size in members.values() if isinstance(first, str) and not size]
    chosen = [part] if part else usual or (lists if len(texts) < ROW_TEXTS else [])
    if len(chosen) > 1:
        raise FileQuestion(
            f"{name} holds several lists of rows: {listed(chosen)}",
            *(f"--sheet {key}" for key in chosen[:5]),
        )
    if chosen:
        first, under = objects[chosen[0]], partial(_under, chosen[0])
        words = "" if ARTICLE in first else f"its rows are the list under {shown(chosen[0])}"
        return partial(_viewed, under) if _is_viewed(first) else under, words
    values = {key for key, size in sizes.items() if size is not None and key not in objects}
    if values.issuperset(("columns", "data")):
        words = "its rows are under 'data', its names under 'columns'"
        return partial(_document, _split), words
    if len(values) == len(members) and len(set(sizes.values())) == 1:
        return partial(_document, _columns), "it holds a list for each column"
    if members and len(objects) == len(members):
        keys = [list(inner) for inner in objects.values()]
        alike = all(inner == keys[0] for inner in keys)
        if alike and all(map(str.isdigit, keys[0])) and keys[0]:
            return partial(_document, _columns), "it holds an object for each column"
        shared = set(keys[0]).intersection(*keys)
        if shared and (len(members) > 1 or all(map(str.isdigit, members))):
            words = "it holds an object for each row, under its name"
            return partial(_document, _index), words
    return json_objects, ""


def _is_viewed(row: Any) -> bool:  # Any: JSON
    return isinstance(row, dict) and isinstance(row.get(VIEWED), dict) and "row_idx" in row


def _under(key: str, file: TextFile) -> Values:
    """Yield the objects of the list under a key."""
    with opened(file) as parts:
        for name in parts.members():
            if name == key:
                yield from parts.listed(whole=True)
            else:
                parts.value(whole=True)


def _viewed(rows: Callable[[TextFile], Values], file: TextFile) -> Values:
    """Yield the cells of the rows of a list of the hub viewer's."""
    return (
        (value.get(VIEWED) if isinstance(value, dict) else value, "") for value, _ in rows(file)
    )


def _document(rows: Callable[[Any], Iterator[Row]], file: TextFile) -> Values:  # Any: JSON
    """Read a file whole, as its columns stand one after another."""
    with opened(file) as parts:
        value, _ = parts.value(whole=True)
    try:
        for row in rows(value):
            yield row, ""
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise FileError(
            f"{file.path.name}: its rows do not have the same columns; write it with one "
            "object a line, as .jsonl"
        ) from problem


def _split(value: Mapping[str, Any]) -> Iterator[Row]:  # Any: JSON
    names = list(map(str, value["columns"]))
    return (dict(zip(names, row, strict=True)) for row in value["data"])


def _columns(value: Mapping[str, Any]) -> Iterator[Row]:  # Any: JSON
    columns = [each.values() if isinstance(each, dict) else each for each in value.values()]
    return (dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True))


def _index(value: Mapping[str, Any]) -> Iterator[Row]:  # Any: JSON
    plain = all(key == str(number) for key, number in zip(value, count(), strict=False))
    for key, row in value.items():
        yield row if plain or INDEX in row else {INDEX: key, **row}
