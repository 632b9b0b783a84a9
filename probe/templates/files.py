"""Generated pairs as a file."""

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from probe.data.source import Form, form_of
from probe.data.writers import in_place
from probe.errors import writing
from probe.tasks.task import Task

Rows = Iterable[dict[str, str]]

FACTS = ("label", "kind", "template", "complexity", "lexical", "heuristic", "subcase")
"""The columns behind the id and the texts."""


def write_pairs(
    rows: Iterable[Any],  # Any: as of `template_example`
    task: Task,
    path: Path,
) -> None:
    """Write generated examples in the form that the name says; the file is whole or not there.

    Raises FileError.
    """
    write, names = WRITERS[form_of(path, tuple(WRITERS))], ("id", *task.fields, *FACTS)
    with (
        in_place(path) as fresh,
        writing(path),
        fresh.open("w", encoding="utf-8", newline="") as file,
    ):
        write((cells(row, names) for row in rows), names, file)


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


WRITERS: dict[Form, Callable[[Rows, Sequence[str], IO[str]], None]] = {
    "csv": partial(_table, mark=",", end="\r\n"),
    "tsv": partial(_table, mark="\t", end="\n"),  # no text holds a tab or a quotation mark
    "jsonl": _json_lines,
}
