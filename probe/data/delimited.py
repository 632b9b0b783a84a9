"""CSV and TSV, row by row and within bounds."""

import csv
from collections.abc import Iterator
from itertools import chain
from typing import IO, Literal

import pandas as pd

from probe.data.lines import Lines
from probe.data.names import check_names
from probe.errors import FileError
from probe.limits import Bounds

NO_BOUND = 2**31 - 1
"""The csv module's own bound holds for the whole process, ours for one file."""
DELIMITERS = (",", ";", "\t", "|")


def read_delimited(
    text: IO[str], form: Literal["csv", "tsv"], name: str, bounds: Bounds
) -> tuple[pd.DataFrame, dict[int, str]]:
    """Return the rows, and by its number why a row does not fit the header.

    Parsed by hand rather than through pandas, so that one ragged row does not stop the rest. TSV is
    read without quoting, as the MNLI and SNLI releases are. Raises FileError, LimitError.
    """
    rows = _rows(text, form, bounds)
    try:
        header = next(rows, [])
        bounds.check("max_columns", len(header))
        check_names(header, name)
        body = _body(rows, bounds)
    except csv.Error as problem:
        raise FileError(f"{name} cannot be read as {form.upper()}: {problem}") from problem
    width = len(header)
    broken = {
        number: f"the row has {len(row)} fields, the header {width}"
        for number, row in enumerate(body)
        if len(row) != width
    }
    fitted = [(row + [""] * width)[:width] for row in body]
    return pd.DataFrame(fitted, columns=header, dtype=object), broken


def _rows(text: IO[str], form: Literal["csv", "tsv"], bounds: Bounds) -> Iterator[list[str]]:
    """Yield the rows that are not blank. Raises csv.Error, LimitError."""
    csv.field_size_limit(NO_BOUND)
    lines = Lines(text, bounds)
    first = list(_until_header(lines))
    if form == "tsv":
        reader = csv.reader(chain(first, lines), delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(chain(first, lines), delimiter=_delimiter(first))
    blank = 0
    for row in reader:
        lines.begin_row()
        bounds.check("max_cell", max(map(len, row), default=0))
        if row:
            yield row
        else:
            blank += 1
            bounds.check("max_rows", blank)


def _body(rows: Iterator[list[str]], bounds: Bounds) -> list[list[str]]:
    body = list[list[str]]()
    for row in rows:
        body.append(row)
        bounds.check("max_rows", len(body))
    return body


def _until_header(lines: Lines) -> Iterator[str]:
    """Yield the first line that is not blank."""
    for line in lines:
        lines.begin_row()
        if line.strip():
            yield line
            return


def _delimiter(first: list[str]) -> str:
    """Return the mark that splits the header most; a comma where none does."""
    return max(DELIMITERS, key="".join(first).count)
