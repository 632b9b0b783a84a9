"""Tables guarded for spreadsheets, which compute a cell that begins like a formula."""

from pathlib import Path
from typing import Literal, cast

import pandas as pd

from probe.data.delimited import read_delimited
from probe.data.encodings import text_file
from probe.data.tables import form_of, write_table
from probe.errors import FileError
from probe.limits import UNBOUNDED

FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
GUARDED_FORMS = ("csv", "tsv")
GUARD = "'"
"""Spreadsheets take what follows it for text."""


def guarded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which no text, and no column's name, begins like a formula."""
    columns = [
        column if pd.api.types.is_numeric_dtype(column) else _guarded_column(column)
        for _, column in frame.items()
    ]
    return pd.concat(columns, axis=1).rename(columns=_guarded) if columns else frame


def _guarded_column(column: pd.Series) -> pd.Series:
    return pd.Series(map(_guarded, column), index=column.index, name=column.name, dtype=object)


def _guarded(cell: object) -> object:
    return GUARD + cell if isinstance(cell, str) and cell.startswith(FORMULA_MARKS) else cell


def guarded_form(path: Path) -> Literal["csv", "tsv"]:
    """Return the form of a file that spreadsheets open as it is. Raises FileError for others."""
    form = form_of(path)
    if form in GUARDED_FORMS:
        return cast(Literal["csv", "tsv"], form)
    raise FileError(f"{path.name}: only CSV and TSV are guarded for spreadsheets")


def write_guarded_copy(path: Path, copy: Path) -> None:
    """Write a guarded copy of a CSV or TSV file of ours. Raises FileError."""
    with text_file(path, UNBOUNDED).open() as text:
        frame, _ = read_delimited(text, guarded_form(path), path.name, UNBOUNDED)
    write_table(guarded(frame), copy)
