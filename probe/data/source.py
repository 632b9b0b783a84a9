"""A file read row by row or whole, in whatever form it comes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import get_args

import pandas as pd

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.formats.delimited import open_delimited
from probe.data.formats.encodings import compression_of, text_file
from probe.data.formats.excel import open_workbook
from probe.data.formats.json_forms import begins_with_object, open_json
from probe.data.formats.parquet import open_arrow, open_parquet
from probe.data.names import HALF, check_names
from probe.data.rows import MOST_PATHS, Form, Record, Source, cell, is_missing, paths
from probe.errors import FileError
from probe.limits import UNBOUNDED, Bounds

FORMS: dict[str, Form] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "tsv",  # the MNLI and SNLI releases
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
}

ARCHIVES = (".zip", ".tar", ".tgz", ".7z", ".rar")


READERS: dict[str, Callable[[Path, Bounds, FileOptions], Source]] = {
    **dict.fromkeys((".parquet", ".pq"), lambda path, bounds, _: open_parquet(path, bounds)),
    **dict.fromkeys(
        (".arrow", ".feather"),
        lambda path, bounds, options: open_arrow(path, bounds, options.sheet),
    ),
    ".xlsx": open_workbook,
}
"""What opens a file that is no plain CSV, TSV or JSON, by the end of its name."""


def form_of(path: Path, among: Sequence[Form] = get_args(Form)) -> Form:
    """Return a file's form by its name. Raises FileError where it is none of some."""
    form = FORMS.get(end_of(path))
    if end_of(path) in ARCHIVES:
        raise FileError(
            f"{path.name} is an archive of files; unpack it and name the one to be read, of a "
            "folder that the library datasets saved the file data-00000-of-00001.arrow"
        )
    if form is None or form not in among:
        *others, last = (f".{each}" for each in among)
        offered = f"{', '.join(others)} or {last}" if others else last
        raise FileError(
            f"{path.name}: name the file {offered} (packed also .gz or .zst), and save it in that "
            "form"
        )
    return form


def open_source(
    path: Path,
    bounds: Bounds = UNBOUNDED,
    options: FileOptions = AS_THE_FILE_TELLS,
    held: list[Record] | None = None,
) -> Source:
    """Read a file once, so that what is wrong with it is said before any row is scored.

    What the options leave open is told by the file. Rows are `held` in memory where a list is given
    for them. Raises FileError and LimitError with a sentence, FileQuestion where the file can be
    read in several ways.
    """
    source = _opened(path, bounds, options)
    names, nested = dict.fromkeys(source.columns), dict[str, None]()
    rows, broken = 0, 0
    for rows, record in enumerate(source.read(), 1):
        bounds.check("max_rows", rows)
        cells = record.cells
        if cells.keys() - names.keys():
            names |= dict.fromkeys(cells)
            bounds.check("max_columns", len(names))
            check_names(list(names), path.name)
        if len(nested) < MOST_PATHS and any(isinstance(each, dict) for each in cells.values()):
            new = (each for each in paths(cells) if each not in names)
            nested = dict.fromkeys(islice(chain(nested, new), MOST_PATHS))
        broken += bool(record.broken)
        if held is not None:
            held.append(record)
    if not rows:
        raise FileError(f"{path.name} has no rows below its header")
    if held is not None:
        source = replace(source, read=held.__iter__, own=None)
    return replace(
        source, columns=list(names), rows=rows, bounds=bounds, broken=broken, nested=list(nested),
        path=path,
    )  # fmt: skip


def _opened(path: Path, bounds: Bounds, options: FileOptions) -> Source:
    end = ".arrow" if path.is_dir() else end_of(path)
    if end in READERS:
        return READERS[end](path, bounds, options)
    form, file = form_of(path), text_file(path, bounds, options.encoding)
    if form == "jsonl" or (file.first == "{" and begins_with_object(file)):
        return open_json(file, options.sheet)
    return open_delimited(file, "tsv" if form == "tsv" else "csv", options)


def end_of(path: Path) -> str:
    """Return the end of a file's name, unpacked."""
    return Path(path.name.lower().removesuffix(compression_of(path))).suffix


def read_table(
    path: Path, bounds: Bounds = UNBOUNDED, options: FileOptions = AS_THE_FILE_TELLS
) -> Source:
    """Read a file as `open_source` does, and hold its rows in memory."""
    return open_source(path, bounds, options, [])


PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_CHARACTERS = 5, 30, 300
REPLACEMENT = "\ufffd"
"""Stands for half of a character, which no page can show."""


def first_rows(table: Source) -> pd.DataFrame:
    """Return the first rows and columns as texts, the end of a long one cut."""
    names = table.names[:PREVIEW_COLUMNS]
    rows = [
        [_shown(cell(record.cells, name)) for name in names]
        for record in islice(table.records(), PREVIEW_ROWS)
    ]
    return pd.DataFrame(rows, columns=[_shown(name) for name in names], dtype=object)


def _shown(cell: object) -> str:
    text = "" if is_missing(cell) else HALF.sub(REPLACEMENT, str(cell))
    return text if len(text) <= PREVIEW_CHARACTERS else text[:PREVIEW_CHARACTERS] + "…"
