"""Tables: read in whatever form they come, written back unaltered."""

import csv
import gzip
import io
import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from charset_normalizer import from_bytes

from probe.errors import FileError, writing

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

    `broken` maps the number of a row that does not fit the header to the reason.
    """

    frame: pd.DataFrame
    form: Form
    broken: dict[int, str] = field(default_factory=dict)


def form_of(path: Path) -> Form:
    """Return a file's form by its name. Raises FileError."""
    name = path.name.lower().removesuffix(".gz")
    form = FORMS.get(Path(name).suffix)
    if form is None:
        raise FileError(
            f"{path.name}: name the file .csv, .tsv, .jsonl or .parquet (or any of them .gz)"
        )
    return form


def read_table(path: Path) -> Table:
    """Read CSV, TSV, JSON lines or Parquet, also the MNLI and SNLI releases.

    The encoding is guessed where it is not UTF-8. TSV is read without quoting, as released.
    Raises FileError with a sentence for a file that cannot be read.
    """
    form = form_of(path)
    try:
        raw = (
            gzip.decompress(path.read_bytes())
            if path.suffix.lower() == ".gz"
            else path.read_bytes()
        )
    except (OSError, EOFError, zlib.error) as problem:
        raise FileError(f"{path.name} cannot be opened: {problem}") from problem
    if not raw.strip():
        raise FileError(f"{path.name} is empty")
    if form == "parquet":
        return _parquet(raw, path.name)
    text = _text(raw, path.name)
    if not text.strip():
        raise FileError(f"{path.name} is empty")
    table = _json_lines(text, path.name) if form == "jsonl" else _delimited(text, form, path.name)
    if table.frame.empty:
        raise FileError(f"{path.name} has no rows below its header")
    return table


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


def _text(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        matches = from_bytes(raw)
        best = matches.best()
        if best is None:
            raise FileError(f"{name} is not text, or in an encoding that cannot be told") from None
        # in a short text several encodings make equal sense: Western Windows is the likeliest
        alike = [match for match in matches if match.chaos <= best.chaos]
        western = [match for match in alike if "cp1252" in match.could_be_from_charset]
        return str((western or [best])[0])


def _delimited(text: str, form: Form, name: str) -> Table:
    """Parse by hand rather than through pandas, so that one ragged row does not stop the rest."""
    if form == "tsv":
        reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        rows = [row for row in reader if row]
    except csv.Error as problem:
        raise FileError(f"{name} cannot be read as {form.upper()}: {problem}") from problem
    header, *body = rows
    if len(set(header)) < len(header):
        twice = next(column for column in header if header.count(column) > 1)
        raise FileError(f"{name} has two columns called {twice!r}; rename one")
    width = len(header)
    broken = {
        number: f"the row has {len(row)} fields, the header {width}"
        for number, row in enumerate(body)
        if len(row) != width
    }
    fitted = [(row + [""] * width)[:width] for row in body]
    return Table(pd.DataFrame(fitted, columns=header, dtype=object), form, broken)


def _delimiter(text: str) -> str:
    """Return the mark that splits the header most; a comma where none does."""
    header = text.split("\n", 1)[0]
    return max((",", ";", "\t", "|"), key=header.count)


def _json_lines(text: str, name: str) -> Table:
    try:
        if text.lstrip().startswith("["):
            rows = json.loads(text)
        else:
            # only line feeds end a row: JSON strings may hold other line separators
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except json.JSONDecodeError as problem:
        raise FileError(f"{name} is not JSON lines: {problem}") from problem
    if not all(isinstance(row, dict) for row in rows):
        raise FileError(f"{name}: each line must be a JSON object")
    names = list(dict.fromkeys(key for row in rows for key in row))
    columns = {key: pd.Series([row.get(key) for row in rows], dtype=object) for key in names}
    return Table(pd.DataFrame(columns), "jsonl")


def _parquet(raw: bytes, name: str) -> Table:
    try:
        # nullable, or a whole number beside an empty cell becomes a fraction
        frame = pd.read_parquet(io.BytesIO(raw), dtype_backend="numpy_nullable")
        return Table(frame.reset_index(drop=True), "parquet")
    except (OSError, ValueError) as problem:  # pyarrow's errors are ValueErrors
        raise FileError(f"{name} is not a Parquet file: {problem}") from problem


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
