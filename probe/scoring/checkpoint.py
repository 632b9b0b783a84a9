"""How far a scoring is: a small file that changes at one stroke, after what it tells of."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from probe.errors import reading, writing

FILE = "state.json"


@dataclass(frozen=True)
class Checkpoint:
    """Rows that are done, where each file ends behind them, and what they come to together.

    `identity` names what was scored and how.
    """

    identity: Mapping[str, str]
    rows: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    totals: Mapping[str, Any] | None = None  # Any: JSON


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Store how far a scoring is. Raises FileError."""
    fresh = folder / f"{FILE}.new"
    with writing(fresh), fresh.open("w", encoding="utf-8") as file:
        json.dump(asdict(checkpoint), file)
        file.flush()
        os.fsync(file.fileno())
    with writing(folder):
        fresh.replace(folder / FILE)


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """Return how far an interrupted scoring came, None where there is none.

    Raises FileError where that cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    with reading(str(path), "how far a scoring came", "delete its folder"):
        return Checkpoint(**json.loads(path.read_text(encoding="utf-8")))


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of what has changed since."""
    return [name for name in now if before.get(name) != now[name]]
