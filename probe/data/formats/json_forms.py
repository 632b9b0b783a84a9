"""In which form a file of JSON holds its rows: as lines, a list, under a key, or by columns."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import IO, Any, Literal

from probe.data.formats.delimited import Lines, longest_row
from probe.data.formats.encodings import TextFile
from probe.data.names import listed, shown
from probe.data.rows import Record
from probe.errors import FileError, FileQuestion
from probe.limits import Bounds
from probe.tasks.reading import squad_questions

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
    with file.open() as text:
        lines, count, blank = Lines(text, bounds), 0, 0
        for number, line in enumerate(lines, 1):
            if stripped := line.strip():
                row = checked_row(_line(stripped, number, name), name, bounds)
                yield Record(count, row, one_line(line))
                count += 1
            else:
                blank += 1
                bounds.check("max_rows", blank)
            lines.begin_row()


def one_line(written: str) -> str:
    """Return an object's text as a line of its own."""
    return written.strip().replace("\n", " ").replace("\r", " ")


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
        yield Record(number, checked_row(value, name, bounds), one_line(written))


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


ARTICLE, PASSAGE, HEADER = "paragraphs", "qas", "header"
"""The key by which an article and a passage is known, and that of MRQA's first line."""


def with_questions(records: Iterable[Record], name: str) -> Iterator[Record]:
    """Yield rows as they are, but for articles and passages with questions a row for each question.

    Such a row has `context` and `title` beside the question's own keys, and its `qid` as `id` where
    it has no other. The first line of MRQA's files, which tells the data set, is left out. Raises
    FileError.
    """
    count = 0
    for record in records:
        cells = record.cells
        if record.number == 0 and set(cells) == {HEADER}:
            continue
        if not any(isinstance(cells.get(key), list) for key in (ARTICLE, PASSAGE)):
            yield record if record.number == count else replace(record, number=count)
            count += 1
            continue
        try:
            for row in _questions(cells):
                yield Record(count, row)
                count += 1
        except (KeyError, TypeError) as problem:
            raise FileError(
                f"{name} is not in SQuAD's form: data, then paragraphs, then qas; for one question "
                "a line let its name end in .jsonl"
            ) from problem


def _questions(cells: Mapping[str, Any]) -> Iterator[Row]:  # Any: JSON
    if ARTICLE in cells:
        yield from squad_questions({"data": [cells]})
        return
    given = {key: value for key, value in cells.items() if key != PASSAGE}
    for asked in cells[PASSAGE]:
        row = {**given, **asked}
        yield row if "id" in asked or "qid" not in asked else {**row, "id": asked["qid"]}


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
Rows = Callable[[TextFile], Iterator[Record]]


@dataclass(frozen=True)
class JsonForm:
    """What reads the rows of a file, and in words how, "" for one object a line or a list."""

    rows: Rows
    words: str = ""


@dataclass(frozen=True)
class Member:
    """A member of a file's one object: what it is, and its first value or, of an object, itself.

    `size` counts the values of a list.
    """

    kind: Literal["objects", "values", "object", "value"]
    first: Any  # Any: JSON
    size: int = 0


def is_json(file: TextFile) -> bool:
    """Whether a file of another name begins with an object as JSON lines do."""
    try:
        return file.first == "{" and isinstance(json.loads(_first_line(file)[0]), dict)
    except (ValueError, RecursionError):
        return False


def json_form(file: TextFile, part: str = "") -> JsonForm:
    """Find out in which form a file is; `part` names one of several lists.

    Raises FileError, LimitError, and FileQuestion where it holds several lists of rows.
    """
    form = _form(file, part)
    return replace(form, rows=lambda file: with_questions(form.rows(file), file.path.name))


def _form(file: TextFile, part: str) -> JsonForm:
    if file.first == "[":
        return JsonForm(_viewed if _is_viewed(_first_of_list(file)) else json_list)
    line, more = _first_line(file)
    try:
        _, end = json.JSONDecoder().raw_decode(line)
        if end < len(line) or more:
            return JsonForm(json_lines)
    except json.JSONDecodeError as problem:
        if problem.pos < len(line) < LINE:
            return JsonForm(json_lines)  # who reads the lines says what is wrong with this one
    except (RecursionError, ValueError):
        return JsonForm(json_lines)
    members, follows = _outline(file)
    if follows:
        return JsonForm(json_objects, "it holds JSON objects, one after another")
    return _of_members(members, part, file.path.name)


def _first_line(file: TextFile) -> tuple[str, bool]:
    """Return the first line that is not blank, and whether anything but blanks follows it."""
    with file.open() as text:
        line = ""
        while not line.strip():
            line = text.readline(LINE)
        more = any(piece.strip() for piece in iter(partial(text.read, LINE), ""))
    return line.strip(), more


def _first_of_list(file: TextFile) -> Any:  # Any: JSON
    with opened(file) as parts:
        parts.take("[")
        return next(parts.listed(), (None, ""))[0]


def _outline(file: TextFile) -> tuple[dict[str, Member], bool]:
    """Read through the first object of a file; return its members, and whether more follows.

    Raises FileError, LimitError.
    """
    members, bounds = dict[str, Member](), file.bounds
    with opened(file) as parts:
        for name in parts.members():
            if parts.next_mark() != "[":
                value, _ = parts.value(whole=True)
                kind: Literal["object", "value"] = "object" if isinstance(value, dict) else "value"
                members[name] = Member(kind, value)
                bounds.check("max_columns" if kind == "value" else "max_rows", len(members))
                continue
            parts.take("[")
            first, size = None, 0
            for size, (value, _) in enumerate(parts.listed(of_objects=False, whole=True), 1):
                bounds.check("max_rows", size)
                first = value if size == 1 else first
            members[name] = Member("objects" if isinstance(first, dict) else "values", first, size)
        return members, bool(parts.next_mark())


def _of_members(members: Mapping[str, Member], part: str, name: str) -> JsonForm:
    """Return the form of a file that is one object."""
    lists = [key for key, member in members.items() if member.kind == "objects"]
    if part and part not in lists:
        raise FileError(f"{name} holds no list of rows {shown(part)}; it has: {listed(lists)}")
    usual = [key for key in USUAL if key in lists][:1]
    values = [member for member in members.values() if member.kind == "value"]
    texts = [value for value in values if isinstance(value.first, str)]
    chosen = [part] if part else usual or (lists if len(texts) < ROW_TEXTS else [])
    if len(chosen) > 1:
        raise FileQuestion(
            f"{name} holds several lists of rows: {listed(chosen)}",
            *(f"--sheet {key}" for key in chosen[:5]),
        )
    if chosen:
        key = chosen[0]
        rows = partial(_under, key=key, viewed=_is_viewed(members[key].first))
        is_squad = ARTICLE in members[key].first
        return JsonForm(rows, "" if is_squad else f"its rows are the list under {shown(key)}")
    if members.keys() >= {"columns", "data"} and _are(members, "values", ("columns", "data")):
        return JsonForm(_document(_split), "its rows are under 'data', its names under 'columns'")
    if members and _are(members, "values", members) and len(_sizes(members)) == 1:
        return JsonForm(_document(_columns), "it holds a list for each column")
    if members and _are(members, "object", members):
        keys = [list(member.first) for member in members.values()]
        alike = all(inner == keys[0] for inner in keys)
        if alike and all(map(str.isdigit, keys[0])) and keys[0]:
            return JsonForm(_document(_columns), "it holds an object for each column")
        shared = set(keys[0]).intersection(*keys)
        if shared and (len(members) > 1 or all(map(str.isdigit, members))):
            return JsonForm(_document(_index), "it holds an object for each row, under its name")
    return JsonForm(json_objects)


def _are(members: Mapping[str, Member], kind: str, keys: Any) -> bool:  # Any: of members
    return all(members[key].kind == kind for key in keys)


def _sizes(members: Mapping[str, Member]) -> set[int]:
    return {member.size for member in members.values()}


def _is_viewed(row: Any) -> bool:  # Any: JSON
    return isinstance(row, dict) and isinstance(row.get(VIEWED), dict) and "row_idx" in row


def _under(file: TextFile, key: str, viewed: bool) -> Iterator[Record]:
    """Yield the objects of the list under a key."""
    with opened(file) as parts:
        for name in parts.members():
            if name != key:
                parts.value(whole=True)
                continue
            parts.take("[")
            for number, (value, written) in enumerate(parts.listed(whole=True)):
                yield _record(file, number, value, written, viewed)


def _viewed(file: TextFile) -> Iterator[Record]:
    """Yield the rows of a list of the hub viewer's."""
    for record in json_list(file):
        yield _record(file, record.number, record.cells, "", viewed=True)


def _record(file: TextFile, number: int, value: Any, written: str, viewed: bool) -> Record:
    if viewed and isinstance(value, Mapping):
        value, written = value.get(VIEWED), ""
    if isinstance(value, dict) and ARTICLE in value:  # an article is no row
        return Record(number, value)
    row = checked_row(value, file.path.name, file.bounds)
    return Record(number, row, one_line(written))


def _document(rows: Callable[[Any], Iterator[Row]]) -> Rows:  # Any: JSON
    """Return what reads a file whole, as its columns stand one after another."""

    def records(file: TextFile) -> Iterator[Record]:
        with opened(file) as parts:
            value, _ = parts.value(whole=True)
        try:
            for number, row in enumerate(rows(value)):
                yield Record(number, checked_row(row, file.path.name, file.bounds))
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            raise FileError(
                f"{file.path.name}: its rows do not have the same columns; write it with one "
                "object a line, as .jsonl"
            ) from problem

    return records


def _split(value: Mapping[str, Any]) -> Iterator[Row]:  # Any: JSON
    names: Sequence[str] = value["columns"]
    return (dict(zip(map(str, names), row, strict=True)) for row in value["data"])


def _columns(value: Mapping[str, Any]) -> Iterator[Row]:  # Any: JSON
    columns = [each.values() if isinstance(each, dict) else each for each in value.values()]
    return (dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True))


def _index(value: Mapping[str, Any]) -> Iterator[Row]:  # Any: JSON
    plain = all(key == str(number) for key, number in zip(value, count(), strict=False))
    for key, row in value.items():
        yield row if plain or INDEX in row else {INDEX: key, **row}
