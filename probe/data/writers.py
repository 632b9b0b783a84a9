"""Files of rows in any form: those of an input with our columns behind them, or our own alone."""

import csv
import io
import json
import math
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby, islice, product
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Literal, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from probe.data.file_options import FileOptions, read_form
from probe.data.formats.delimited import (
    DEFAULT_END,
    DELIMITERS,
    Delimited,
    DelimitedForm,
    open_delimited,
)
from probe.data.formats.encodings import PIECE_BYTES, compression_of, text_file
from probe.data.formats.parquet import KEY, Typed, features_json, features_of
from probe.data.rows import NO_RECORD, Form, Record, Source, is_missing
from probe.data.source import form_of
from probe.errors import FileError, FileQuestion, writing
from probe.limits import UNBOUNDED

GUARDED = "fields that spreadsheets would compute begin with '"
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
GUARD = "'"
"""Spreadsheets, which compute a cell that begins like a formula, take what follows it for text."""
Values = Sequence[Any]  # Any: text, numbers and truth values
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
LOOKED_AT = 100
"""Rows in which decimal commas are looked for."""


def as_json(value: object) -> object:
    """Turn what other forms hold and JSON does not into a list, null or text."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return None if value is pd.NA or value is pd.NaT else str(value)


def free_names(taken: Sequence[str], names: Sequence[str], suffix: str) -> list[str]:
    """Return names for new columns, with a suffix behind those that are taken already."""
    known, free = set(taken), list[str]()
    for name in names:
        while name in known:
            name = f"{name}.{suffix}"
        known.add(name)
        free.append(name)
    return free


@dataclass(frozen=True)
class Lines:
    """How a row with our values behind it becomes a line of a text file, which begins by a head."""

    words: str
    line: Callable[[Record, Values], str]
    head: str = ""
    encoding: str = "utf-8"


def _lines(path: Path, names: Sequence[str], source: Source | None, guard: bool) -> Lines:
    """Return how the lines of a text file are made, by its name and by the input."""
    form, columns = form_of(path), () if source is None else source.columns
    own = source.own if source is not None and source.form == form else None
    if isinstance(own, Delimited):  # split, ended and encoded alike, below what stands above
        encoding = own.file.encoding.removesuffix("-sig")
        kept = GUARDED if guard else "the text of every field stands as it is"
        words = (
            f"{form.upper()} as your file is, "
            f"{DELIMITERS.get(own.delimiter, repr(own.delimiter))} between its fields, in "
            f"{encoding.upper()}: {kept}"
        )
        comma = own.delimiter == ";" and _has_decimal_commas(source)
        words += ", numbers of ours with decimal commas like yours" if comma else ""
        line = partial(fields_line, own.quotes, own.delimiter, guard, path.name, comma=comma)
        told = [own.told] if own.told and own.above else []
        above = [*told, *map(line, own.above[:-1]), line([*own.columns, *names]), ""]
        mark = own.file.mark.decode(encoding)  # escaped texts aside, ours are in the input's
        return Lines(
            words,
            lambda record, values: line([*record.fields, *values]) + own.end,
            mark + own.end.join(above),
            encoding,
        )
    if form == "jsonl":
        kept = "what JSON has no form for, such as a date or a decimal, is text"
        if source and source.form == "jsonl":
            kept = "every value of yours stands as it is written"
        return Lines(f"JSON lines in UTF-8: {kept}", partial(_json_line, columns, names))
    line = partial(fields_line, form != "tsv", "\t" if form == "tsv" else ",", guard, path.name)
    end = "\n" if form == "tsv" else DEFAULT_END
    guarded = f"; {GUARDED}" if guard else ""
    return Lines(
        f"{form.upper()} in UTF-8, its texts as they are read{guarded}",
        lambda record, values: line([*map(record.cells.get, columns), *values]) + end,
        line([*columns, *names]) + end,
    )


def _json_line(columns: Sequence[str], names: Sequence[str], record: Record, values: Values) -> str:
    """Return an object; one that the input has as JSON keeps its text, ours stand behind it."""
    ours = _members(zip(names, values, strict=True))
    written = record.written
    if not written.endswith("}") or not written.startswith("{"):
        written = f"{{{_members((name, record.cells.get(name)) for name in columns)}}}"
    members = written[:-1].rstrip()
    between = ", " if ours and members != "{" else ""
    return f"{members}{between}{ours}}}\n"


def _members(values: Iterable[tuple[str, Any]]) -> str:  # Any: as of Values
    return json.dumps(dict(values), ensure_ascii=False, default=as_json)[1:-1]


def _has_decimal_commas(source: Source | None) -> bool:
    """Whether one of a file's first rows has a number with a decimal comma."""
    first = islice(source.records(), LOOKED_AT) if source else ()
    return any(DECIMAL_COMMA.fullmatch(text) for record in first for text in record.fields)


def fields_line(
    quotes: bool, delimiter: str, guard: bool, name: str, values: Values, comma: bool = False
) -> str:
    """Return fields, in quotes where these enclose them, as a line without its end.

    `name` is that of the file. A `guard` stands before what a spreadsheet would compute; with
    `comma` fractions have decimal commas. Raises FileError.
    """
    texts = []
    for value in values:
        is_computed = guard and isinstance(value, str) and value.startswith(FORMULA_MARKS)
        text = value if isinstance(value, str) else "" if is_missing(value) else str(value)
        if comma and isinstance(value, float):
            text = text.replace(".", ",")
        texts.append(GUARD + text if is_computed else text)
    if quotes:
        out = io.StringIO(newline="")
        # with this end a lone carriage return or line feed in a text is quoted
        csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerow(texts)
        return out.getvalue().removesuffix("\r\n")
    if any(mark in text for text in texts for mark in (delimiter, "\n", "\r")):
        mark = "tab" if delimiter == "\t" else repr(delimiter)
        raise FileError(
            f"{name}: a text holds a {mark} or line break, which TSV cannot; choose .csv"
        )
    return delimiter.join(texts)


def open_text(path: Path, lines: Lines) -> IO[str]:
    """Open a text file to write, packed as its name says, and write its head. Raises OSError.

    What the encoding cannot hold is escaped, such as half of a surrogate pair that JSON can have.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    compression = compression_of(path)
    file = pa.CompressedOutputStream(path, CODECS[compression]) if compression else path.open("wb")
    text = io.TextIOWrapper(file, lines.encoding, errors="backslashreplace", newline="")
    text.write(lines.head)
    return text


WHOLE_SCHEMAS = (
    b"org.apache.spark.sql.parquet.row.metadata",
    b"parquet.avro.schema",
    b"avro.schema",
    b"iceberg.schema",
)
"""Keys from which Spark, Avro and Iceberg take every column of a file, so that ours would lack."""
VALUE_TYPES: Mapping[str, str] = {"double": "float64"}
"""Types that the library `datasets` names in another way than Arrow does."""


def metadata_beside(
    metadata: Mapping[bytes, bytes], theirs: Any, ours: Any
) -> dict[bytes, bytes]:  # Any: pyarrow's schemas
    """Return the metadata of a file that has our columns behind those it had.

    Nothing is kept that names other columns or by which pandas could not read the file.
    """
    dropped = (*WHOLE_SCHEMAS, KEY)
    kept = {key: value for key, value in metadata.items() if key not in dropped}
    features = {name: each for name, each in features_of(metadata).items() if name in theirs.names}
    if features:
        types = {each.name: str(each.type) for each in ours}
        values = {
            name: {"dtype": VALUE_TYPES.get(kind, kind), "_type": "Value"}
            for name, kind in types.items()
        }
        kept |= features_json({**features, **values})
    unfit = (ValueError, TypeError, LookupError, AttributeError, SyntaxError, RecursionError)
    try:  # whether what pandas itself noted of the columns fits these
        pa.schema([*theirs, *ours], kept).empty_table().to_pandas()
    except (pa.ArrowException, *unfit):
        kept.pop(b"pandas", None)
    return kept


Rows = Callable[[], Iterator[tuple[Record, Values | None]]]
"""Yields the input's rows, from the first on, with our values, each time it is called.

A row with None in their place is left out.
"""
GROUP_ROWS = 16_384
CODECS: Mapping[str, str] = {".gz": "gzip", ".zst": "zstd"}
"""What packs a file, by the end of its name."""
FIRST_DATE = datetime(1980, 1, 1)
"""The first one that a ZIP archive can hold."""
EXCEL_ROWS, EXCEL_CHARACTERS = 1_048_576, 32_767
"""What a sheet holds, its header included, and a cell of it."""


def write_parquet(
    place: Any, name: str, columns: Sequence[str], names: Sequence[str], rows: Rows,
    own: object = None,
) -> None:  # fmt: skip  # Any: a path or one of pyarrow's streams
    """Write rows; columns that come from Parquet keep their types. Raises FileError."""

    def cells() -> Iterator[Values]:
        for record, values in rows():
            if values is not None:
                yield [*map(record.cells.get, columns), *values]

    try:
        if isinstance(own, Typed):
            return _beside_parquet(place, names, rows, own)
        schema = _schema([*columns, *names], cells())
        with pq.ParquetWriter(place, schema) as writer:
            for group in _groups(cells()):
                writer.write_batch(_batch(schema, group))
    except (TypeError, ValueError, pa.ArrowException) as problem:
        raise FileError(
            f"{name}: Parquet cannot hold a column of this table; choose .jsonl"
        ) from problem


def _beside_parquet(path: Path, names: Sequence[str], rows: Rows, own: Typed) -> None:
    ours = _schema(names, (values for _, values in rows() if values is not None))
    values = (values for _, values in rows())
    writer = None
    for batch in own.batches():
        several = list(islice(values, len(batch)))
        slices, start = [batch.slice(0, 0)], 0  # pyarrow filters not every type
        for is_scored, alike in groupby(several, lambda row: row is not None):
            count = len(list(alike))
            slices += [batch.slice(start, count)] if is_scored else []
            start += count
        mine = _batch(ours, [row for row in several if row is not None])
        whole = pa.RecordBatch.from_arrays(
            [*pa.concat_batches(slices).columns, *mine.columns],
            schema=pa.schema([*batch.schema, *ours]),
        )
        writer = writer or pq.ParquetWriter(
            path,
            whole.schema.with_metadata(metadata_beside(own.metadata, batch.schema, ours)),
        )
        writer.write_batch(whole)
    if writer:
        writer.close()


def _schema(names: Sequence[str], rows: Iterator[Values]) -> Any:  # Any: pyarrow
    """Return the types that hold every value of each column."""
    schema = pa.schema([(name, pa.null()) for name in names])
    for group in _groups(rows):
        arrays = [pa.array(column, from_pandas=True) for column in zip(*group, strict=True)]
        found = pa.schema([(name, array.type) for name, array in zip(names, arrays, strict=True)])
        schema = pa.unify_schemas([schema, found], promote_options="permissive")
    types = ((each.name, each.type) for each in schema)
    return pa.schema(
        [(name, pa.string() if pa.types.is_null(kind) else kind) for name, kind in types]
    )


def _batch(schema: Any, rows: Sequence[Values]) -> Any:  # Any: pyarrow
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [
        pa.array(column, kind, from_pandas=True)
        for column, kind in zip(columns, schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _groups(rows: Iterator[Values]) -> Iterator[list[Values]]:
    while group := list(islice(rows, GROUP_ROWS)):
        yield group


def check_rows(name: str, form: Form, rows: int) -> None:
    """Refuse more rows, besides a header, than a form holds. Raises FileError."""
    if form == "xlsx" and rows >= EXCEL_ROWS:
        raise FileError(f"{name}: a sheet holds {EXCEL_ROWS:,} rows; choose .csv")


class UndatedZip(zipfile.ZipFile):
    """A ZIP archive that is the same whenever it is written."""

    def open(
        self,
        name: str | zipfile.ZipInfo,
        mode: Literal["r", "w"] = "r",
        *others: Any,  # Any: passed on
        **options: Any,
    ) -> IO[bytes]:
        """Open a part, which every way of writing one does."""
        if isinstance(name, zipfile.ZipInfo) and mode == "w":
            name.date_time = FIRST_DATE.timetuple()[:6]
        return super().open(name, mode, *others, **options)


def write_excel(
    path: Path, name: str, columns: Sequence[str], names: Sequence[str], rows: Rows,
    own: Any = None,
) -> None:  # fmt: skip  # Any: what reads a workbook's cells
    """Write rows into a sheet; cells that come from Excel keep their types. Raises FileError."""
    from openpyxl import Workbook as NewBook  # loads slowly
    from openpyxl.writer.excel import ExcelWriter

    book = NewBook(write_only=True)
    sheet = book.create_sheet("scored")
    sheet.append([_cell(sheet, column) for column in (*columns, *names)])
    copied = own() if callable(own) else None
    scored = 0
    for record, values in rows():
        theirs = next(copied) if copied else ()
        if values is None:
            continue
        scored += 1
        check_rows(name, "xlsx", scored)
        if copied:
            cells = [_copied(sheet, cell) for cell in theirs]
            cells += [None] * (len(columns) - len(theirs))
        else:
            cells = [_cell(sheet, record.cells.get(column)) for column in columns]
        sheet.append([*cells, *(_cell(sheet, value) for value in values)])
    book.properties.created = book.properties.modified = FIRST_DATE
    with UndatedZip(path, "w", zipfile.ZIP_DEFLATED) as archive:
        ExcelWriter(book, archive).write_data()


def _cell(sheet: Any, value: Any) -> Any:  # Any: openpyxl's cells
    """Return a cell; a text that begins like a formula stays a text.

    What no workbook holds is text, too: a list, a time with its zone, a number without end.
    """
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.utils.exceptions import IllegalCharacterError

    if is_missing(value):
        return WriteOnlyCell(sheet, None)
    if getattr(value, "tzinfo", None) or (isinstance(value, float) and math.isinf(value)):
        value = str(value)
    try:
        cell = WriteOnlyCell(sheet, value)
    except (ValueError, IllegalCharacterError):
        text = ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", str(value))
        cell = WriteOnlyCell(sheet, text[:EXCEL_CHARACTERS])
    if cell.data_type in ("f", "e"):
        cell.data_type = "s"
    return cell


def _copied(sheet: Any, theirs: Any) -> Any:  # Any: openpyxl's cells
    cell = _cell(sheet, theirs.value)
    if theirs.value is not None:
        cell.number_format = theirs.number_format
    if theirs.data_type == "e":
        cell.data_type = "e"
    return cell


BLOCKS: Mapping[Form, tuple[Callable[..., None], str]] = {
    "parquet": (write_parquet, "Parquet: columns that are typed keep their types"),
    "xlsx": (
        write_excel,
        "an Excel workbook of one sheet: cells keep their types, a formula the value that is "
        "stored with it, which is none where no spreadsheet computed it",
    ),
}
"""What writes a form that is written whole, and the form in words."""


@contextmanager
def in_place(path: Path) -> Iterator[Path]:
    """Give a place beside a path, from where the file is packed and moved to it."""
    fresh, packed = (path.with_name(f".{path.name}.{end}") for end in ("new", "packed"))
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        yield fresh
        with writing(path):
            if compression := compression_of(path):
                with (
                    fresh.open("rb") as pieces,
                    pa.CompressedOutputStream(packed, CODECS[compression]) as out,
                ):
                    shutil.copyfileobj(pieces, out, PIECE_BYTES)
                packed.replace(path)
            else:
                fresh.replace(path)
    finally:
        for place in (fresh, packed):
            place.unlink(missing_ok=True)


GUARDED_FORMS: Sequence[Form] = get_args(DelimitedForm)


class Output:
    """A file of scored rows, or of rows of our own where there is no source.

    Rows come in the order of the source, from which some may be left out. Those of a form that is
    written whole are kept in a file without a name until then, one JSON list a row.
    """

    def __init__(
        self, path: Path, names: Sequence[str], source: Source | None = None, guard: bool = False
    ) -> None:
        """`names` are those of our columns. Raises FileError."""
        self.path, self._names, self._source = path, names, source
        self._form = checked_form(path, guard)
        self._lines = None if self._form in BLOCKS else _lines(path, names, source, guard)
        self.words = self._lines.words if self._lines else BLOCKS[self._form][1]
        with writing(path):
            if self._lines:
                self._file = open_text(path, self._lines)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = TemporaryFile("w+", encoding="utf-8", dir=path.parent)  # noqa: SIM115

    def write(self, rows: Iterable[tuple[Record, Values]]) -> None:
        """Write rows. Raises FileError."""
        line = (
            self._lines.line
            if self._lines
            else lambda record, values: json.dumps([record.number, *values], default=as_json) + "\n"
        )
        lines = "".join(line(record, values) for record, values in rows)
        with writing(self.path):
            self._file.write(lines)

    def finish(self) -> None:
        """Close the file with what it holds by now. Raises FileError."""
        with writing(self.path), self._file:
            if self._lines:
                return
            source, (write, _) = self._source, BLOCKS[self._form]
            columns, own = (source.columns, source.own) if source else ((), None)
            with in_place(self.path) as fresh, writing(fresh):
                write(fresh, self.path.name, columns, self._names, self._rows, own)

    def _rows(self) -> Iterator[tuple[Record, Values | None]]:
        """Yield each record with the values that are kept by its number, None where none are.

        It ends with the last row that has any.
        """
        self._file.seek(0)
        records = self._source.records() if self._source else None
        for number, *values in map(json.loads, self._file):
            if records is None:
                yield NO_RECORD, values
                continue
            for record in records:
                scored = record.number == number
                yield record, values if scored else None
                if scored:
                    break


def checked_form(path: Path, guard: bool) -> Form:
    """Return the form of a file to write. Raises FileError where it cannot be guarded."""
    form = form_of(path)
    if guard and form not in GUARDED_FORMS:
        raise FileError(f"{path.name}: only CSV and TSV are guarded for spreadsheets")
    return form


def check_cells(path: Path, table: Source, form: Form, columns: Sequence[str]) -> None:
    """Refuse to write columns of an input to a file whose form cannot hold them. Raises FileError.

    `form` is the input's. Its rows are read once more where the other form may hold less.
    """
    written = form_of(path)
    if written == "tsv" != form:
        line = partial(fields_line, False, "\t", False, path.name)
        line(columns)
        for record in table.records():
            line([record.cells.get(name) for name in columns])
    elif written == "parquet" and form in ("jsonl", "xlsx"):  # texts alone always fit
        place = pa.MockOutputStream()
        write_parquet(place, path.name, columns, (), lambda: ((row, ()) for row in table.records()))


def write_table(frame: pd.DataFrame, path: Path, guard: bool = False) -> None:
    """Write a frame in the form that the name says, guarded for spreadsheets or not.

    Raises FileError where that form cannot hold the text or the file cannot be written.
    """
    output = Output(path, [str(name) for name in frame.columns], guard=guard)
    output.write((NO_RECORD, row) for row in frame.itertuples(index=False, name=None))
    output.finish()


def write_guarded_copy(path: Path, copy: Path) -> None:
    """Write a guarded copy of a CSV or TSV file of ours. Raises FileError.

    What was asked about the file that ours stands beside is not asked again: quotes that may be
    either enclose fields, as a spreadsheet takes them, and text is copied in any encoding.
    """
    form: DelimitedForm = "tsv" if checked_form(path, guard=True) == "tsv" else "csv"
    try:
        text = text_file(path, UNBOUNDED)
    except FileQuestion as question:
        text = text_file(path, UNBOUNDED, read_form(question.options[0]).encoding)
    for quotes, header in product((None, True), repeat=2):  # a title may stand above the header
        try:
            source = open_delimited(text, form, FileOptions(header=header, quotes=quotes))
            break
        except FileQuestion as question:
            asked = question
    else:
        raise asked
    lines = _lines(copy, (), source, guard=True)
    with writing(copy), open_text(copy, lines) as file:
        file.writelines(lines.line(record, ()) for record in source.records())
