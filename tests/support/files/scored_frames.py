"""Scored rows as frames, so that a test can read them by column."""

from collections.abc import Sequence

import pandas as pd

from probe.analysis.batch import Row
from probe.data.rows import Columns, Source
from probe.data.writers import free_names
from probe.models.classifier import Model
from probe.scoring.files import ScoredPart, ScoringRequest, part_of, value_columns


def scored_frame(
    table: Source, rows: Sequence[Row], names: Sequence[str], model: Model
) -> pd.DataFrame:
    """Return the rows of a table with our columns behind its own."""
    columns, part = value_columns(model, _request(names)), _part(rows, names, model)
    ours = free_names(table.names, columns.scored, model.name)
    theirs = [[row.record.cells[name] for name in table.names] for row in rows]
    cells = [[*known, *made] for known, made in zip(theirs, part.scored, strict=True)]
    return pd.DataFrame(cells, columns=[*table.names, *ours], dtype=object)


def made_frame(rows: Sequence[Row], names: Sequence[str], model: Model) -> pd.DataFrame:
    """Return every example that the transforms made."""
    columns = value_columns(model, _request(names)).made
    return pd.DataFrame(_part(rows, names, model).made, columns=columns, dtype=object)


def _part(rows: Sequence[Row], names: Sequence[str], model: Model) -> ScoredPart:
    return part_of(rows, model, _request(names))


def _request(names: Sequence[str]) -> ScoringRequest:
    return ScoringRequest(Columns({}), tuple(names))
