"""Cells as text files hold them: the values of other forms, and the guard for spreadsheets."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from probe.data.missing import is_missing

FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
GUARD = "'"
"""Spreadsheets, which compute a cell that begins like a formula, take what follows it for text."""


def guarded(cell: object) -> object:
    """Return a cell that no spreadsheet computes."""
    return GUARD + cell if is_computed(cell) else cell  # type: ignore[operator]  # it is a text


def is_computed(cell: object) -> bool:
    """Whether a spreadsheet would compute a cell: a text that begins like a formula."""
    return isinstance(cell, str) and cell.startswith(FORMULA_MARKS)


def as_text(cell: object) -> str:
    """Return a cell as the text of a CSV or TSV field."""
    if isinstance(cell, str):
        return cell
    return "" if is_missing(cell) else str(cell)


def as_json(value: object) -> object:
    """Turn what other forms hold and JSON does not into a list, null or text."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return None if value is pd.NA or value is pd.NaT else str(value)


def free_names(taken: Sequence[str], names: Sequence[str], suffix: str) -> list[str]:
    """Return names for new columns, with a suffix behind those that are taken already."""
    known, free = set(taken), list[str]()
    for name in names:
        while name in known:
            name = f"{name}.{suffix}"
        known.add(name)
        free.append(name)
    return free
