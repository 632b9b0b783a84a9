"""Thirty tiny pairs, and files of such pairs."""

import json
from pathlib import Path

from probe.tasks.nli import Pair
from tests.support.tiny_bert import tiny_pairs

PAIRS = tiny_pairs(30)


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def row(pair: Pair, **more: object) -> dict[str, object]:
    """Return a pair as a row of a file."""
    return {"premise": pair.premise, "hypothesis": pair.hypothesis, "label": pair.gold, **more}
