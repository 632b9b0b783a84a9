"""Parquet and Excel, which are written from their beginning to their end and not added to."""

import math
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from probe.data.formats.excel import Workbook
from probe.data.formats.parquet import Parquet
from probe.data.formats.unpacking import PIECE_BYTES, packing_of
from probe.data.missing import is_missing
from probe.data.records import Record
from probe.data.source import Form, Reader
from probe.data.writers.lines import Values
from probe.data.writers.parquet_metadata import metadata_beside
from probe.errors import FileError, writing

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
