"""Whether the first row of a table names its columns, and whether a title stands above them.

A first row is taken for names unless it looks like the rows below it; then the person is asked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from probe.data.names import shown
from probe.errors import FileQuestion

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
    return any(
        _is_name(name) and values and name not in values and _is_of_a_kind(name, values)
        for name, values in zip(names, _columns(names, below), strict=True)
    )


def _is_name(field: str) -> bool:
    words = field.split()
    short = len(field) <= NAME_CHARACTERS and 0 < len(words) <= NAME_WORDS
    return short and not NUMBER.fullmatch(field) and not field.rstrip().endswith((".", "!", "?"))


def _is_of_a_kind(name: str, values: Sequence[str]) -> bool:
    if all(map(NUMBER.fullmatch, values)):
        return True
    few = len(values) > 2 and len(set(values)) <= len(values) / 2
    words = sum(len(value.split()) for value in values) / len(values)
    return few or words >= len(name.split()) + MORE_WORDS


def _columns(first: Sequence[str], below: Rows) -> list[list[str]]:
    """Return what is filled below each field of a row."""
    return [[row[at] for row in below if at < len(row) and row[at]] for at in range(len(first))]


def _filled(row: Sequence[str]) -> list[str]:
    return [field for field in row if field.strip()]
