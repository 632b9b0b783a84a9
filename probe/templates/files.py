"""Generated pairs as a file, written row by row."""

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from probe.data.formats.unpacking import packing_of
from probe.data.source import form_of
from probe.errors import FileError, writing
from probe.tasks.task import Task

Rows = Iterable[dict[str, str]]

FACTS = ("label", "kind", "template", "complexity", "lexical", "heuristic", "subcase")
"""The columns behind the id and the texts."""


def write_pairs(
    rows: Iterable[Any],  # Any: as of `template_example`
    task: Task,
    path: Path,
) -> None:
    """Write generated examples as they come, in the form that the name says. Raises FileError."""
    form = form_of(path)
    if form not in WRITERS or packing_of(path):
        raise FileError(f"{path.name}: pairs are written row by row; name the file .csv or .jsonl")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            names = ("id", *task.fields, *FACTS)
            WRITERS[form]((cells(row, names) for row in rows), names, file)


def cells(example: Any, names: Sequence[str]) -> dict[str, str]:
    """Return a row of the file."""
    return {
        name: str(example.gold if name == "label" else getattr(example, name)) for name in names
    }


def _table(rows: Rows, names: Sequence[str], file: IO[str], mark: str, end: str) -> None:
    writer = csv.DictWriter(file, names, delimiter=mark, lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)


def _json_lines(rows: Rows, names: Sequence[str], file: IO[str]) -> None:
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


WRITERS: dict[str, Callable[[Rows, Sequence[str], IO[str]], None]] = {
    "csv": partial(_table, mark=",", end="\r\n"),
    "tsv": partial(_table, mark="\t", end="\n"),  # no text holds a tab or a quotation mark
    "jsonl": _json_lines,
}
