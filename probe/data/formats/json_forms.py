"""In which form a file of JSON holds its rows: as lines, a list, under a key, or by columns."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, Literal

from probe.data.formats.encodings import TextFile
from probe.data.formats.json_rows import (
    Row,
    checked_row,
    json_lines,
    json_list,
    json_objects,
    one_line,
    opened,
)
from probe.data.formats.squad import ARTICLE, with_questions
from probe.data.names import listed, shown
from probe.data.records import Record
from probe.errors import FileError, FileQuestion

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
        return JsonForm(_whole(_split), "its rows are under 'data', its names under 'columns'")
    if members and _are(members, "values", members) and len(_sizes(members)) == 1:
        return JsonForm(_whole(_columns), "it holds a list for each column")
    if members and _are(members, "object", members):
        keys = [list(member.first) for member in members.values()]
        alike = all(inner == keys[0] for inner in keys)
        if alike and all(map(str.isdigit, keys[0])) and keys[0]:
            return JsonForm(_whole(_columns), "it holds an object for each column")
        shared = set(keys[0]).intersection(*keys)
        if shared and (len(members) > 1 or all(map(str.isdigit, members))):
            return JsonForm(_whole(_index), "it holds an object for each row, under its name")
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
    return Record(number, row, one_line(written), b"\n")


def _whole(rows: Callable[[Any], Iterator[Row]]) -> Rows:  # Any: JSON
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
