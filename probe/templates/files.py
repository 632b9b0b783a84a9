"""Generated pairs as a file, written row by row."""

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from probe.data.tables import form_of
from probe.errors import FileError, writing
from probe.templates.pairs import TemplatePair

COLUMNS = (
    "id",
    "premise",
    "hypothesis",
    "label",
    "kind",
    "template",
    "complexity",
    "lexical",
    "heuristic",
    "subcase",
)


def write_pairs(rows: Iterable[TemplatePair], path: Path) -> None:
    """Write rows as they come, in the form that the name says. Raises FileError."""
    form = form_of(path)
    if form not in WRITERS or path.suffix.lower() == ".gz":
        raise FileError(f"{path.name}: pairs are written row by row; name the file .csv or .jsonl")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            WRITERS[form](map(cells, rows), file)


def cells(pair: TemplatePair) -> dict[str, str]:
    """Return a row of the file."""
    return {name: str(pair.gold if name == "label" else getattr(pair, name)) for name in COLUMNS}


def _delimited(rows: Iterable[dict[str, str]], file: IO[str]) -> None:
    _table(rows, file, ",", "\r\n")


def _tabbed(rows: Iterable[dict[str, str]], file: IO[str]) -> None:
    _table(rows, file, "\t", "\n")  # the texts hold neither tabs nor quotation marks


def _table(rows: Iterable[dict[str, str]], file: IO[str], mark: str, end: str) -> None:
    writer = csv.DictWriter(file, COLUMNS, delimiter=mark, lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)


def _json_lines(rows: Iterable[dict[str, str]], file: IO[str]) -> None:
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


WRITERS: dict[str, Callable[[Iterable[dict[str, str]], IO[str]], None]] = {
    "csv": _delimited,
    "tsv": _tabbed,
    "jsonl": _json_lines,
}
