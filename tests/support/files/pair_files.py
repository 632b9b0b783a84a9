"""Thirty tiny pairs, and files of such pairs."""

import json
from pathlib import Path

from probe.data.rows import Columns
from probe.tasks.nli import Pair
from tests.support.models.tiny_bert import tiny_pairs

PAIRS = tiny_pairs(30)


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def row(pair: Pair, **more: object) -> dict[str, object]:
    """Return a pair as a row of a file."""
    return {"premise": pair.premise, "hypothesis": pair.hypothesis, "label": pair.gold, **more}


def pair_columns(premise: str, hypothesis: str, gold: str | None = None) -> Columns:
    """Return the columns of a table of pairs."""
    return Columns({"premise": premise, "hypothesis": hypothesis}, gold)
