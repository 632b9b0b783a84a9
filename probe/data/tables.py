"""Tables: read in whatever form they come, written back unaltered."""

import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pandas as pd

from probe.data.delimited import read_delimited
from probe.data.encodings import TextFile, text_file
from probe.data.json_rows import Row, json_lines, json_list, read_json
from probe.data.parquet import read_parquet
from probe.data.squad import BEGINNING, is_squad, squad_rows
from probe.errors import FileError, writing
from probe.limits import UNBOUNDED, Bounds

Form = Literal["csv", "tsv", "jsonl", "parquet"]
FORMS: dict[str, Form] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "tsv",  # the MNLI and SNLI releases
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


@dataclass(frozen=True)
class Table:
    """The rows of a file. Text files keep every cell as the text it was.

    `broken` maps the number of a row that does not fit the header to the reason; `bounds` are those
    within which it was read.
    """

    frame: pd.DataFrame
    form: Form
    broken: dict[int, str] = field(default_factory=dict)
    bounds: Bounds = UNBOUNDED


def form_of(path: Path) -> Form:
    """Return a file's form by its name. Raises FileError."""
    name = path.name.lower().removesuffix(".gz")
    form = FORMS.get(Path(name).suffix)
    if form is None:
        raise FileError(
            f"{path.name}: name the file .csv, .tsv, .jsonl or .parquet (or any of them .gz)"
        )
    return form


def read_table(path: Path, bounds: Bounds = UNBOUNDED) -> Table:
    """Read CSV, TSV, JSON lines or Parquet, also the releases of MNLI, SNLI and SQuAD.

    The encoding is guessed where it is not UTF-8. TSV is read without quoting, as released. A file
    that passes a bound is read no further than to there. Raises FileError and LimitError with a
    sentence.
    """
    form = form_of(path)
    broken: dict[int, str] = {}
    if form == "parquet":
        frame = read_parquet(path, bounds)
    else:
        file = text_file(path, bounds)
        if form == "jsonl":
            frame = _read_json(file)
        else:
            with file.open() as text:
                frame, broken = read_delimited(text, form, path.name, bounds)
    if frame.empty:
        raise FileError(f"{path.name} has no rows below its header")
    return Table(frame, form, broken, bounds)


def _read_json(file: TextFile) -> pd.DataFrame:
    with file.open(newline="\n") as text:
        return read_json(_json_rows(file, text), file.path.name, file.bounds)


def _json_rows(file: TextFile, text: IO[str]) -> Iterator[Row]:
    if file.first == "[":
        return json_list(text, file.path.name, file.bounds)
    with file.open(newline="\n") as beginning:
        squad = is_squad(beginning.read(BEGINNING))
    if squad:
        return squad_rows(text, file.path.name)
    return json_lines(text, file.path.name, file.bounds)


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write in the form that the name says.

    Raises FileError where that form cannot hold the text or the file cannot be written.
    """
    form = form_of(path)
    if form == "parquet":
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_parquet(frame, path)
        return
    if form == "jsonl":
        rows = frame.to_dict("records")
        lines = (json.dumps(row, ensure_ascii=False, default=_plain) for row in rows)
        text = "".join(line + "\n" for line in lines)
    else:
        text = _delimit(frame, form, path.name)
    # half of a surrogate pair, which JSON can escape and UTF-8 cannot hold, stays the escape
    data = text.encode(errors="backslashreplace")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data) if path.suffix.lower() == ".gz" else data)


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    try:
        frame.to_parquet(path, index=False)
    except (TypeError, ValueError) as problem:  # what pyarrow raises
        raise FileError(
            f"{path.name}: Parquet cannot hold a column of this table; choose .jsonl ({problem})"
        ) from problem


def _plain(value: object) -> object:
    """Turn what Parquet holds and JSON does not into a list, null or text."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return None if value is pd.NA or value is pd.NaT else str(value)


def is_missing(cell: Any) -> bool:  # Any: whatever a frame may hold
    """Whether a cell holds nothing: None, NaN and pandas's own marks."""
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


def _delimit(frame: pd.DataFrame, form: Form, name: str) -> str:
    out = io.StringIO(newline="")
    if form == "tsv":
        rows = [list(frame.columns), *frame.to_numpy(dtype=object).tolist()]
        cells = [["" if is_missing(cell) else str(cell) for cell in row] for row in rows]
        if any(mark in cell for row in cells for cell in row for mark in "\t\n\r"):
            raise FileError(
                f"{name}: a text holds a tab or line break, which TSV cannot; choose .csv"
            )
        return "".join("\t".join(row) + "\n" for row in cells)
    # as RFC 4180 ends a line; with "\n" a lone carriage return in a text would go unquoted
    frame.to_csv(out, index=False, lineterminator="\r\n")
    return out.getvalue()
