"""In which precisions a file was computed: workers of a cluster may each be quick in another."""

from collections.abc import Mapping
from typing import Any

from probe.text.listing import listing

PRECISION_ROWS = "precision_rows"


def precisions_json(rows: Mapping[str, int]) -> dict[str, Any]:  # Any: JSON
    """Return what a summary says where there are several, by their rows; of one it says no more."""
    several = sorted(rows.items())
    if len(several) < 2:
        return {}
    return {"precision": listing([name for name, _ in several]), PRECISION_ROWS: dict(several)}


def precision_words(summary: Mapping[str, Any]) -> str:  # Any: JSON
    """Say in which precision a file was computed, of several also how many rows in each."""
    rows = summary.get(PRECISION_ROWS, {})
    each = [f"{name} for {count:,} row{'' if count == 1 else 's'}" for name, count in rows.items()]
    return listing(each) if each else str(summary["precision"])
