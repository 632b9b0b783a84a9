"""The scored rows of a file on the disk, and an index by which a page of them is found at once.

The index has one entry of some bytes for each row; the page reads it and no more than its own rows.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probe.tasks.task import Label, Task, task_named
from probe.ui.results.batch_tables import ALL, ANY, FILTERS, LEAST_SURE, Record, stays
from probe.ui.results.row_numbers import rows_on

ROWS, INDEX, FACTS = "rows.jsonl", "rows.index", "rows.json"
KEPT_GOLDS = 1000
"""Gold labels that can be chosen by; a file with more holds something else in that column."""


@dataclass(frozen=True)
class Selection:
    """Which rows are shown: a filter, a gold label or any, and those that stay under a change."""

    kept: str = ALL
    label: str = ANY
    change: str = ""


@dataclass(frozen=True)
class RowsPage:
    """A page of the selected rows, its number, that of the last, and how many there are."""

    rows: list[Record]
    number: int
    last: int
    count: int
    task: Task


def _entry(names: Sequence[str]) -> np.dtype[Any]:
    """Return what the index has of a row: where it begins and what it is chosen by."""
    return np.dtype(
        [
            ("place", "u8"),
            ("confidence", "f4"),
            ("gold", "i4"),
            ("filters", "?", (len(FILTERS),)),
            ("stays", "?", (len(names),)),
        ]
    )


class RowsWriter:
    """Writes rows as they are scored; `golds` are the gold labels so far, in their order."""

    def __init__(self, folder: Path, task: Task, names: Sequence[str]) -> None:
        self._folder, self._task, self._names = folder, task, list(dict.fromkeys(names))
        self._type, self._place = _entry(self._names), 0
        self.golds: list[Label] = []
        for name in (ROWS, INDEX):
            (folder / name).write_bytes(b"")

    def add(self, records: Sequence[Record]) -> None:
        """Write more rows behind the others."""
        lines = [(json.dumps(record, ensure_ascii=False) + "\n").encode() for record in records]
        entries = np.zeros(len(records), self._type)
        for at, record in enumerate(records):
            entries[at] = self._indexed(record)
            self._place += len(lines[at])
        for name, data in ((ROWS, b"".join(lines)), (INDEX, entries.tobytes())):
            with (self._folder / name).open("ab") as file:
                file.write(data)

    def finish(self) -> None:
        """Say what the rows are read with; before that there is no page of them."""
        facts = {"task": self._task.name, "names": self._names, "golds": self.golds}
        (self._folder / FACTS).write_text(json.dumps(facts), encoding="utf-8")

    def _indexed(self, record: Record) -> tuple[Any, ...]:
        gold = record["gold"]
        if gold and gold not in self.golds and len(self.golds) < KEPT_GOLDS:
            self.golds.append(gold)
        return (
            self._place,
            np.nan if record["confidence"] is None else record["confidence"],
            self.golds.index(gold) if gold in self.golds else -1,
            [holds(record) for holds in FILTERS.values()],
            [stays(record, name) for name in self._names],
        )


def rows_page(folder: Path, selection: Selection, number: int) -> RowsPage:
    """Read a page of the selected rows.

    The least sure come in the order of their confidence, all others in that of the file.
    """
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    index = np.fromfile(folder / INDEX, _entry(facts["names"]))
    chosen = np.flatnonzero(_mask(index, selection, facts))
    if selection.kept == LEAST_SURE:
        chosen = chosen[np.argsort(index["confidence"][chosen], kind="stable")]
    number, last, shown = rows_on(number, len(chosen))
    rows = _read(folder / ROWS, index["place"][chosen[shown]].tolist())
    return RowsPage(rows, number, last, len(chosen), task_named(facts["task"]))


def _mask(
    index: NDArray[Any],
    selection: Selection,
    facts: Mapping[str, Any],  # Any: JSON
) -> NDArray[np.bool_]:
    kept = selection.kept if selection.kept in FILTERS else ALL
    mask: NDArray[np.bool_] = index["filters"][:, list(FILTERS).index(kept)]
    if selection.label != ANY:
        golds = facts["golds"]
        mask = mask & (index["gold"] == golds.index(selection.label)) if (
            selection.label in golds
        ) else np.zeros_like(mask)  # fmt: skip
    if selection.change:
        names = facts["names"]
        at = names.index(selection.change) if selection.change in names else None
        mask = mask & index["stays"][:, at] if at is not None else np.zeros_like(mask)
    return mask


def _read(path: Path, places: Sequence[int]) -> list[Record]:
    rows = list[Record]()
    with path.open("rb") as file:
        for place in places:
            file.seek(place)
            rows.append(json.loads(file.readline()))
    return rows
