"""Scored rows as frames, so that a test can read them by column."""

from collections.abc import Sequence

import pandas as pd

from probe.analysis.batch import Row
from probe.data.rows import Source
from probe.data.writers import free_names
from probe.models.classifier import Model
from probe.scoring.files import value_columns


def scored_frame(
    table: Source, rows: Sequence[Row], names: Sequence[str], model: Model
) -> pd.DataFrame:
    """Return the rows of a table with our columns behind its own."""
    columns = value_columns(model, names)
    values = columns.values(rows).scored
    ours = free_names(table.names, columns.scored, model.name)
    theirs = [[row.record.cells[name] for name in table.names] for row in rows]
    cells = [[*theirs[at], *values[at]] for at in range(len(rows))]
    return pd.DataFrame(cells, columns=[*table.names, *ours], dtype=object)


def made_frame(rows: Sequence[Row], names: Sequence[str], model: Model) -> pd.DataFrame:
    """Return every example that the transforms made."""
    columns = value_columns(model, names)
    return pd.DataFrame(columns.values(rows).made, columns=columns.made, dtype=object)
