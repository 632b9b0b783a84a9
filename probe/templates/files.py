"""Generated pairs as a file."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from probe.data.source import form_of
from probe.data.writers import in_place
from probe.errors import writing
from probe.tasks.task import Task

FACTS = ("label", "kind", "template", "complexity", "lexical", "heuristic", "subcase")
"""The columns behind the id and the texts."""


def write_pairs(rows: Iterable[Any], task: Task, path: Path) -> None:  # Any: `template_example`'s
    """Write examples in the form that the name says, whole or not at all. Raises FileError."""
    form, names = form_of(path, ("csv", "tsv", "jsonl")), ("id", *task.fields, *FACTS)
    mark, end = ("\t", "\n") if form == "tsv" else (",", "\r\n")  # no text holds a tab or a quote
    with (
        in_place(path) as fresh,
        writing(path),
        fresh.open("w", encoding="utf-8", newline="") as file,
    ):
        table = csv.DictWriter(file, names, delimiter=mark, lineterminator=end)
        if form != "jsonl":
            table.writeheader()
        for row in rows:
            cells = {n: str(row.gold if n == "label" else getattr(row, n)) for n in names}
            if form == "jsonl":
                file.write(json.dumps(cells, ensure_ascii=False) + "\n")
            else:
                table.writerow(cells)
