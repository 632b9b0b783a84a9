"""The first rows of a table as a person looks at them, whatever its cells hold."""

from itertools import islice

import pandas as pd

from probe.data.missing import is_missing
from probe.data.names import HALF
from probe.data.records import Tabular, cell

PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_CHARACTERS = 5, 30, 300
REPLACEMENT = "\ufffd"
"""Stands for half of a character, which no page can show."""


def first_rows(table: Tabular) -> pd.DataFrame:
    """Return the first rows and columns as texts, the end of a long one cut."""
    names = table.names[:PREVIEW_COLUMNS]
    rows = [
        [_shown(cell(record.cells, name)) for name in names]
        for record in islice(table.records(), PREVIEW_ROWS)
    ]
    return pd.DataFrame(rows, columns=[_shown(name) for name in names], dtype=object)


def _shown(cell: object) -> str:
    text = "" if is_missing(cell) else HALF.sub(REPLACEMENT, str(cell))
    return text if len(text) <= PREVIEW_CHARACTERS else text[:PREVIEW_CHARACTERS] + "…"
