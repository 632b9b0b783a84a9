"""The first rows of a table as a person looks at them, whatever its cells hold."""

import pandas as pd

from probe.data.names import HALF
from probe.data.tables import is_missing

PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_CHARACTERS = 5, 30, 300
REPLACEMENT = "\ufffd"
"""Stands for half of a character, which no page can show."""


def first_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the first rows and columns as texts, the end of a long one cut."""
    part = frame.iloc[:PREVIEW_ROWS, :PREVIEW_COLUMNS]
    rows = [[_shown(cell) for cell in row] for row in part.itertuples(index=False, name=None)]
    return pd.DataFrame(rows, columns=[_shown(name) for name in part.columns], dtype=object)


def _shown(cell: object) -> str:
    text = "" if is_missing(cell) else HALF.sub(REPLACEMENT, str(cell))
    return text if len(text) <= PREVIEW_CHARACTERS else text[:PREVIEW_CHARACTERS] + "…"
