"""Parquet within bounds: what a file says of itself first, then its texts, then the whole of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from probe.data.formats.encodings import check_content
from probe.data.formats.unpacking import MEGABYTE, unpacked_file
from probe.data.names import check_names
from probe.data.records import Record
from probe.errors import reading
from probe.limits import Bounds
from probe.stopping import check_stop

BATCH_ROWS = 4096
BUFFER_BYTES = 1 << 20
VALUE_BYTES = 8
LISTED_BYTES = 40
"""Bytes of a number or a None in a Python list."""
SIGNATURE, FORM = b"PAR1", ("Parquet", "fetch or save it again")
NESTED = (pa.ListArray, pa.LargeListArray, pa.FixedSizeListArray)
NULLABLE: dict[pa.DataType, pd.api.extensions.ExtensionDtype] = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.float32(): pd.Float32Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.string(): pd.StringDtype(),
    pa.large_string(): pd.StringDtype(),
}
"""Or a whole number beside an empty cell becomes a fraction."""


@dataclass(frozen=True)
class Parquet:
    """A file of typed columns, Parquet or Arrow, within its bounds.

    `metadata` is what it says of all its columns together, `batched` reads its batches.
    """

    path: Path
    bounds: Bounds
    columns: tuple[str, ...]
    metadata: Mapping[bytes, bytes]
    batched: Callable[[], Iterator[Any]]  # Any: pyarrow is untyped
    words: str = ""
    form: Literal["parquet"] = "parquet"

    def batches(self) -> Iterator[Any]:  # Any: pyarrow is untyped
        """Yield the rows with every column of the file. Raises FileError."""
        with reading(self.path.name, *FORM):
            for batch in self.batched():
                check_stop()
                batch.validate(full=True)  # texts may be none, lists may end before they begin
                yield batch.replace_schema_metadata()

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame with the types of the file. Raises FileError."""
        batches = list(self.batches())
        with reading(self.path.name, *FORM):
            table = pa.Table.from_batches(batches) if batches else pa.table({})
            frame: pd.DataFrame = table.to_pandas(types_mapper=NULLABLE.get)
            return frame

    def records(self) -> Iterator[Record]:
        """Yield the rows with their cells as Python's values. Raises FileError."""
        rows = chain.from_iterable(batch.to_pylist() for batch in self.batches())
        for number, cells in enumerate(rows):
            yield Record(number, cells)


def open_parquet(path: Path, bounds: Bounds) -> Parquet:
    """Look at what a file says of itself, and at its texts. Raises FileError, LimitError."""
    check_content(path, bounds, SIGNATURE)
    with reading(path.name, *FORM), unpacked_file(path, bounds) as source:
        with pq.ParquetFile(source) as file:
            metadata, schema, arrow = file.metadata, file.schema, file.schema_arrow
            columns = tuple(arrow.names)
        check_names(columns, path.name)
        _check_metadata(metadata, schema, bounds)
        if bounds.max_cell or bounds.max_unpacked_mb:
            _check_texts(source, schema, bounds)
    return Parquet(path, bounds, columns, arrow.metadata or {}, partial(_batches, path, bounds))


def _batches(path: Path, bounds: Bounds) -> Iterator[Any]:  # Any: pyarrow is untyped
    with (
        unpacked_file(path, bounds) as source,
        pq.ParquetFile(source, buffer_size=BUFFER_BYTES) as file,
    ):
        yield from file.iter_batches(BATCH_ROWS)


def _check_metadata(metadata: Any, schema: Any, bounds: Bounds) -> None:  # Any: pyarrow is untyped
    """Refuse a file by the sizes that it says of itself, before any of it is unpacked.

    A value that is repeated costs next to nothing in the file and its whole size in memory.
    """
    # a group of rows costs time even where it holds none
    bounds.check("max_rows", max(metadata.num_rows, metadata.num_row_groups))
    bounds.check("max_columns", metadata.num_columns)
    size = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        check_stop()
        size += group.total_byte_size
        for number in range(group.num_columns):
            size += group.column(number).num_values * _width(schema.column(number))
    bounds.check("max_unpacked_mb", size / MEGABYTE)


def _width(column: Any) -> int:
    """Return the bytes that each value of a column takes at least."""
    if column.max_repetition_level:
        return LISTED_BYTES
    return column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else VALUE_BYTES


def _check_texts(source: Any, schema: Any, bounds: Bounds) -> None:
    """Refuse texts that are too long, each or together, while equal ones are still held once."""
    columns = [schema.column(number) for number in range(len(schema))]
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    size = 0
    with pq.ParquetFile(source, read_dictionary=texts) as file:
        for batch in file.iter_batches(BATCH_ROWS):
            check_stop()
            for leaf in (leaf for column in batch.columns for leaf in _leaves(column)):
                if isinstance(leaf, pa.DictionaryArray) and len(leaf.dictionary):
                    size += text_size(leaf, bounds)
                    bounds.check("max_unpacked_mb", size / MEGABYTE)


def text_size(texts: Any, bounds: Bounds) -> int:  # Any: pyarrow is untyped
    """Return the bytes of texts together. Raises LimitError where one is too long."""
    once = isinstance(texts, pa.DictionaryArray)  # equal texts are held once
    held = texts.dictionary if once else texts
    lengths = pc.binary_length(held.cast(pa.large_binary()))
    if bounds.max_cell and (pc.max(lengths).as_py() or 0) > bounds.max_cell:
        is_text = pa.types.is_string(held.type) or pa.types.is_large_string(held.type)
        longest = pc.max(pc.utf8_length(held) if is_text else lengths).as_py()
        bounds.check("max_cell", longest)
    return pc.sum(pc.take(lengths, texts.indices) if once else lengths).as_py() or 0


def parts_of(array: Any) -> list[Any]:  # Any: as above
    """Return the arrays of which lists, maps or structures are made, none for plain values."""
    if isinstance(array, pa.StructArray):
        return array.flatten() or [pa.nulls(len(array))]
    if isinstance(array, pa.MapArray):
        return [array.keys, array.items]
    return [array.flatten()] if isinstance(array, NESTED) else []


def _leaves(array: Any) -> Iterator[Any]:
    parts = parts_of(array)
    if not parts:
        yield array
    for part in parts:
        yield from _leaves(part)
