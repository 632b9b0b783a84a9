"""Files of rows in any form: those of an input with our columns behind them, or our own alone."""

import csv
import io
import json
import math
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
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
from probe.data.formats.encodings import PIECE_BYTES, TextFile, packing_of, text_file
from probe.data.formats.excel import Workbook
from probe.data.formats.parquet import KEY, Features, Parquet, features_json, features_of
from probe.data.rows import NO_RECORD, Form, Reader, Record, Source, is_missing
from probe.data.source import form_of
from probe.errors import FileError, FileQuestion, writing
from probe.limits import UNBOUNDED

GUARDED = "fields that spreadsheets would compute begin with '"
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
GUARD = "'"
"""Spreadsheets, which compute a cell that begins like a formula, take what follows it for text."""


def guarded(cell: object) -> object:
    """Return a cell that no spreadsheet computes."""
    return GUARD + cell if is_computed(cell) else cell  # type: ignore[operator]  # it is a text


def is_computed(cell: object) -> bool:
    """Whether a spreadsheet would compute a cell: a text that begins like a formula."""
    return isinstance(cell, str) and cell.startswith(FORMULA_MARKS)


def as_text(cell: object) -> str:
    """Return a cell as the text of a CSV or TSV field."""
    if isinstance(cell, str):
        return cell
    return "" if is_missing(cell) else str(cell)


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


Values = Sequence[Any]  # Any: text, numbers and truth values
LINE_BREAKS = "\n\r"


@dataclass(frozen=True)
class DelimitedLines:
    """Lines of CSV or TSV; those of an input of the same form are split and ended as its own are.

    `above` is what stands before the names, `name` that of the new file. An input's fields stay
    `as_written`, or are made of its cells.
    """

    name: str
    columns: tuple[str, ...]
    names: tuple[str, ...]
    delimiter: str
    quotes: bool
    words: str
    end: str = "\n"
    encoding: str = "utf-8"
    above: str = ""
    as_written: bool = False
    guard: bool = False

    def head(self) -> str:
        """Return what comes before the first row."""
        return self.above + self._line([*self.columns, *self.names])

    def line(self, record: Record, values: Values) -> str:
        """Return a row of the input with our values behind it. Raises FileError."""
        theirs = record.fields if self.as_written else map(record.cells.get, self.columns)
        return self._line([*theirs, *values])

    def _line(self, values: Values) -> str:
        return self.end.join(
            (fields_text(values, self.quotes, self.delimiter, self.guard, self.name), "")
        )


@dataclass(frozen=True)
class JsonLines:
    """Objects in UTF-8; one that the input has as JSON keeps its text, ours stand behind it."""

    columns: tuple[str, ...]
    names: tuple[str, ...]
    words: str
    encoding: str = "utf-8"

    def head(self) -> str:
        """Return nothing: each row names its cells."""
        return ""

    def line(self, record: Record, values: Values) -> str:
        """Return an object on a line of its own."""
        ours = _members(dict(zip(self.names, values, strict=True)))
        written = record.written
        if not written.endswith("}") or not written.startswith("{"):
            written = f"{{{_members({name: record.cells.get(name) for name in self.columns})}}}"
        members = written[:-1].rstrip()
        between = ", " if ours and members != "{" else ""
        return f"{members}{between}{ours}}}\n"


def _members(values: dict[str, Any]) -> str:  # Any: as of Values
    return json.dumps(values, ensure_ascii=False, default=as_json)[1:-1]


def line_form(
    path: Path, names: Sequence[str], source: Source | None, guard: bool
) -> DelimitedLines | JsonLines:
    """Return how the lines of a text file are made, by its name and by the input."""
    form, columns, ours = form_of(path), source.columns if source else (), tuple(names)
    if source and isinstance(source.reader, Delimited) and source.form == form:
        return lines_beside(source.reader, ours, path.name, guard)
    if form == "jsonl":
        kept = "what JSON has no form for, such as a date or a decimal, is text"
        if source and source.form == "jsonl":
            kept = "every value of yours stands as it is written"
        return JsonLines(columns, ours, f"JSON lines in UTF-8: {kept}")
    delimiter, end = ("\t", "\n") if form == "tsv" else (",", DEFAULT_END)
    guarded_words = f"; {GUARDED}" if guard else ""
    words = f"{form.upper()} in UTF-8, its texts as they are read{guarded_words}"
    return DelimitedLines(
        path.name, columns, ours, delimiter, form != "tsv", words, end, guard=guard
    )


def lines_beside(
    reader: Delimited, names: Sequence[str], name: str, guard: bool = False
) -> DelimitedLines:
    """Return how lines of ours are made that stand beside those of an input of the same form."""
    encoding = reader.file.encoding.removesuffix("-sig")
    kept = GUARDED if guard else "the text of every field stands as it is"
    words = (
        f"{reader.form.upper()} as your file is, "
        f"{DELIMITERS.get(reader.delimiter, repr(reader.delimiter))} between its fields, in "
        f"{encoding.upper()}: {kept}"
    )
    titles = [
        fields_text(row, reader.quotes, reader.delimiter, guard, name) for row in reader.above[:-1]
    ]
    above = [reader.told] if reader.told and reader.above else []
    mark = reader.file.mark.decode(encoding)  # escaped texts aside, ours are in the input's
    return DelimitedLines(
        name, reader.columns, tuple(names), reader.delimiter, reader.quotes, words, reader.end,
        encoding, mark + "".join(line + reader.end for line in [*above, *titles]),
        as_written=True, guard=guard,
    )  # fmt: skip


def fields_text(values: Values, quotes: bool, delimiter: str, guard: bool, name: str) -> str:
    """Return fields, in quotes where these enclose them, as a line without its end.

    Raises FileError.
    """
    texts = [as_text(guarded(value) if guard else value) for value in values]
    if quotes:
        out = io.StringIO(newline="")
        # with this end a lone carriage return or line feed in a text is quoted
        csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerow(texts)
        return out.getvalue().removesuffix("\r\n")
    if any(mark in text for text in texts for mark in (delimiter, *LINE_BREAKS)):
        mark = "tab" if delimiter == "\t" else repr(delimiter)
        raise FileError(
            f"{name}: a text holds a {mark} or line break, which TSV cannot; choose .csv"
        )
    return delimiter.join(texts)


def open_text(path: Path, encoding: str) -> IO[str]:
    """Open a text file to write, packed as its name says. Raises OSError.

    What the encoding cannot hold is escaped, such as half of a surrogate pair that JSON can have.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    packing = packing_of(path)
    file = pa.CompressedOutputStream(path, CODECS[packing]) if packing else path.open("wb")
    return io.TextIOWrapper(file, encoding, errors="backslashreplace", newline="")


PANDAS = b"pandas"
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
        kept |= features_json({**features, **_features(ours)})
    if not _is_read_by_pandas(pa.schema([*theirs, *ours], kept)):
        kept.pop(PANDAS, None)
    return kept


def _features(schema: Any) -> Features:  # Any: pyarrow
    types = {field.name: str(field.type) for field in schema}
    return {
        name: {"dtype": VALUE_TYPES.get(kind, kind), "_type": "Value"}
        for name, kind in types.items()
    }


def _is_read_by_pandas(schema: Any) -> bool:  # Any: pyarrow
    """Whether what pandas itself noted of the columns fits these."""
    unfit = (ValueError, TypeError, LookupError, AttributeError, SyntaxError, RecursionError)
    try:
        schema.empty_table().to_pandas()
    except (pa.ArrowException, *unfit):
        return False
    return True


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
    path: Path, name: str, columns: Sequence[str], names: Sequence[str], rows: Rows,
    reader: Reader | None,
) -> None:  # fmt: skip
    """Write rows; columns that come from Parquet keep their types. Raises FileError."""
    with _held_by_parquet(name), writing(path):
        if isinstance(reader, Parquet):
            _beside_parquet(path, names, rows, reader)
        else:
            _plain_parquet(path, columns, names, rows)


def check_parquet(name: str, columns: Sequence[str], rows: Rows) -> None:
    """Refuse rows that are not of Parquet, without a file. Raises FileError."""
    with _held_by_parquet(name):
        _plain_parquet(pa.MockOutputStream(), columns, (), rows)


@contextmanager
def _held_by_parquet(name: str) -> Iterator[None]:
    try:
        yield
    except (TypeError, ValueError, pa.ArrowException) as problem:
        raise FileError(
            f"{name}: Parquet cannot hold a column of this table; choose .jsonl"
        ) from problem


def _beside_parquet(path: Path, names: Sequence[str], rows: Rows, reader: Parquet) -> None:
    ours = _schema(names, _named(names, (values for _, values in rows())))
    values = (values for _, values in rows())
    writer = None
    for batch in reader.batches():
        several = list(islice(values, len(batch)))
        whole = pa.RecordBatch.from_arrays(
            [*_scored(batch, several).columns, *_arrays(ours, list(_named(names, several)))],
            schema=pa.schema([*batch.schema, *ours]),
        )
        writer = writer or pq.ParquetWriter(
            path,
            whole.schema.with_metadata(metadata_beside(reader.metadata, batch.schema, ours)),
        )
        writer.write_batch(whole)
    if writer:
        writer.close()


def _scored(batch: Any, values: Sequence[Values | None]) -> Any:  # Any: pyarrow is untyped
    """Return the first rows of a batch, those that have values: pyarrow filters not every type."""
    slices, start = [batch.slice(0, 0)], 0
    for is_scored, several in groupby(values, lambda row: row is not None):
        count = len(list(several))
        slices += [batch.slice(start, count)] if is_scored else []
        start += count
    return pa.concat_batches(slices)


def _plain_parquet(
    place: Any,  # Any: a path or one of pyarrow's streams
    columns: Sequence[str],
    names: Sequence[str],
    rows: Rows,
) -> None:
    def cells() -> Iterator[dict[str, Any]]:  # Any: cells
        for record, values in rows():
            if values is not None:
                theirs = {name: record.cells.get(name) for name in columns}
                yield theirs | dict(zip(names, values, strict=True))

    schema = _schema([*columns, *names], cells())
    with pq.ParquetWriter(place, schema) as writer:
        for group in _groups(cells()):
            writer.write_batch(pa.RecordBatch.from_arrays(_arrays(schema, group), schema=schema))


def _named(
    names: Sequence[str], rows: Iterable[Values | None]
) -> Iterator[dict[str, Any]]:  # Any: cells
    return (dict(zip(names, values, strict=True)) for values in rows if values is not None)


def _schema(names: Sequence[str], rows: Iterator[Mapping[str, Any]]) -> Any:  # Any: pyarrow
    """Return the types that hold every value of each column."""
    schema = pa.schema([(name, pa.null()) for name in names])
    for group in _groups(rows):
        arrays = [pa.array([_plain(row[name]) for row in group]) for name in names]
        found = pa.schema([(name, array.type) for name, array in zip(names, arrays, strict=True)])
        schema = pa.unify_schemas([schema, found], promote_options="permissive")
    return pa.schema(
        [
            (field.name, pa.string() if pa.types.is_null(field.type) else field.type)
            for field in schema
        ]
    )


def _arrays(schema: Any, rows: Sequence[Mapping[str, Any]]) -> list[Any]:  # Any: pyarrow
    return [pa.array([_plain(row[field.name]) for row in rows], field.type) for field in schema]


def _plain(value: Any) -> Any:  # Any: a cell
    return None if is_missing(value) else value


def _groups(rows: Iterator[Any]) -> Iterator[list[Any]]:  # Any: rows of either kind
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
    reader: Reader | None,
) -> None:  # fmt: skip
    """Write rows into a sheet; cells that come from Excel keep their types. Raises FileError."""
    from openpyxl import Workbook as NewBook  # loads slowly
    from openpyxl.writer.excel import ExcelWriter

    book = NewBook(write_only=True)
    sheet = book.create_sheet("scored")
    sheet.append([_cell(sheet, column) for column in (*columns, *names)])
    for number, cells in enumerate(_excel_rows(sheet, columns, rows, reader), 2):
        check_rows(name, "xlsx", number - 1)
        sheet.append(cells)
    book.properties.created = book.properties.modified = FIRST_DATE
    with writing(path), UndatedZip(path, "w", zipfile.ZIP_DEFLATED) as archive:
        ExcelWriter(book, archive).write_data()


def _excel_rows(
    sheet: Any,
    columns: Sequence[str],
    rows: Rows,
    reader: Reader | None,  # Any: openpyxl
) -> Iterator[list[Any]]:
    if isinstance(reader, Workbook):
        for theirs, (_, values) in zip(reader.rows(), rows(), strict=False):
            if values is not None:
                blank = [None] * (len(columns) - len(theirs))
                yield [*(_copied(sheet, cell) for cell in theirs), *blank, *_cells(sheet, values)]
        return
    for record, values in rows():
        if values is not None:
            yield _cells(sheet, [*map(record.cells.get, columns), *values])


def _cells(sheet: Any, values: Values) -> list[Any]:  # Any: openpyxl's cells
    return [_cell(sheet, value) for value in values]


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


BLOCKS: Mapping[Form, Callable[..., None]] = {"parquet": write_parquet, "xlsx": write_excel}
"""What writes a form that is written whole."""
BLOCK_WORDS: Mapping[Form, str] = {
    "parquet": "Parquet: columns that are typed keep their types",
    "xlsx": (
        "an Excel workbook of one sheet: cells keep their types, a formula the value that is "
        "stored with it, which is none where no spreadsheet computed it"
    ),
}


def write_blocks(
    path: Path, form: Form, columns: Sequence[str], names: Sequence[str], rows: Rows,
    reader: Reader | None,
) -> None:  # fmt: skip
    """Write rows whole, and put the file in its place when it is. Raises FileError."""
    with in_place(path) as fresh:
        BLOCKS[form](fresh, path.name, columns, names, rows, reader)


@contextmanager
def in_place(path: Path) -> Iterator[Path]:
    """Give a place beside a path, from where the file is packed and moved to it."""
    fresh, packed = (path.with_name(f".{path.name}.{end}") for end in ("new", "packed"))
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        yield fresh
        with writing(path):
            if packing := packing_of(path):
                _pack(fresh, packed, packing)
                packed.replace(path)
            else:
                fresh.replace(path)
    finally:
        for place in (fresh, packed):
            place.unlink(missing_ok=True)


def _pack(plain: Path, packed: Path, packing: str) -> None:
    """Pack a file a piece at a time."""
    with plain.open("rb") as pieces, pa.CompressedOutputStream(packed, CODECS[packing]) as out:
        shutil.copyfileobj(pieces, out, PIECE_BYTES)


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
        self.path, self._names, self._source = path, tuple(names), source
        self._form = checked_form(path, guard)
        self._lines = None if self._form in BLOCKS else line_form(path, names, source, guard)
        with writing(path):
            if self._lines:
                self._file = open_text(path, self._lines.encoding)
                self._file.write(self._lines.head())
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = TemporaryFile("w+", encoding="utf-8", dir=path.parent)  # noqa: SIM115

    @property
    def words(self) -> str:
        """The form in words."""
        return self._lines.words if self._lines else BLOCK_WORDS[self._form]

    def write(self, rows: Iterable[tuple[Record, Values]]) -> None:
        """Write rows. Raises FileError."""
        lines = "".join(self._line(record, values) for record, values in rows)
        with writing(self.path):
            self._file.write(lines)

    def _line(self, record: Record, values: Values) -> str:
        if self._lines:
            return self._lines.line(record, values)
        return json.dumps([record.number, *values], default=as_json) + "\n"

    def finish(self) -> None:
        """Close the file with what it holds by now. Raises FileError."""
        with writing(self.path), self._file:
            if self._lines:
                return
            source = self._source
            columns, reader = (source.columns, source.reader) if source else ((), None)
            write_blocks(self.path, self._form, columns, self._names, self._rows, reader)

    def _rows(self) -> Iterator[tuple[Record, Values | None]]:
        self._file.seek(0)
        rows = map(json.loads, self._file)
        if self._source is None:
            return ((NO_RECORD, values) for _, *values in rows)
        return _beside(self._source.records(), rows)


def _beside(
    records: Iterator[Record], rows: Iterable[Values]
) -> Iterator[tuple[Record, Values | None]]:
    """Yield each record with the values that are kept by its number, None where none are.

    It ends with the last row that has any.
    """
    for number, *values in rows:
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
        lines = DelimitedLines(path.name, tuple(columns), (), "\t", quotes=False, words="")
        lines.head()
        for record in table.records():
            lines.line(record, ())
    elif written == "parquet" and form in ("jsonl", "xlsx"):  # texts alone always fit
        check_parquet(path.name, columns, lambda: ((record, ()) for record in table.records()))


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
    source = _opened(text, form)
    lines = lines_beside(source, (), copy.name, guard=True)
    with writing(copy), open_text(copy, lines.encoding) as file:
        file.write(lines.head())
        file.writelines(lines.line(record, ()) for record in source.records())


def _opened(file: TextFile, form: DelimitedForm) -> Delimited:
    for quotes in (None, True):
        for header in (None, True):  # ours has one, but there may be a title above it
            try:
                return open_delimited(file, form, FileOptions(header=header, quotes=quotes))
            except FileQuestion as question:
                asked = question
    raise asked
