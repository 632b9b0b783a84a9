"""Which cells hold nothing, whatever they were read from."""

from typing import Any

import pandas as pd


def is_missing(cell: Any) -> bool:  # Any: whatever a file may hold
    """Whether a cell holds nothing: None, NaN and pandas's own marks."""
    return cell is None or (pd.api.types.is_scalar(cell) and bool(pd.isna(cell)))
