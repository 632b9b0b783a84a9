"""Parquet within bounds: what a file says of itself first, then its texts, then the whole of it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from probe.data.formats.encodings import MEGABYTE, Content, check_content, content_of
from probe.data.names import check_names, listed
from probe.data.rows import Record, Source
from probe.errors import FileError, FileQuestion, reading
from probe.limits import UNBOUNDED, Bounds
from probe.stopping import check_stop

BATCH_ROWS = 4096
BUFFER_BYTES = 1 << 20
VALUE_BYTES = 8
LISTED_BYTES = 40
"""Bytes of a number or a None in a Python list."""
SIGNATURE, FORM = b"PAR1", ("Parquet", "fetch or save it again")
NESTED = (pa.ListArray, pa.LargeListArray, pa.FixedSizeListArray)


class Typed(NamedTuple):
    """A file of typed columns: what it says of all of them together, and its batches."""

    metadata: Mapping[bytes, bytes]
    batches: Callable[[], Iterator[Any]]  # Any: pyarrow is untyped


def _source(
    path: Path, schema: Any, batched: Callable[[], Iterator[Any]], words: str = ""
) -> Source:  # Any: pyarrow is untyped
    """Return the rows of what reads batches, with the names of classes by column."""

    def batches() -> Iterator[Any]:  # Any: as above
        with reading(path.name, *FORM):
            for batch in batched():
                check_stop()
                batch.validate(full=True)  # texts may be none, lists may end before they begin
                yield batch.replace_schema_metadata()

    def records() -> Iterator[Record]:
        rows = chain.from_iterable(batch.to_pylist() for batch in batches())
        return (Record(number, cells) for number, cells in enumerate(rows))

    own = Typed(schema.metadata or {}, batches)
    classes = {
        column: tuple(map(str, _listed(feature.get("names"))))
        for column, feature in features_of(own.metadata).items()
        if isinstance(feature, Mapping)
        if feature.get("_type") == "ClassLabel" and feature.get("names")
    }
    check_names(schema.names, path.name)
    return Source("parquet", tuple(schema.names), records, words, classes, own)


def open_parquet(path: Path, bounds: Bounds) -> Source:
    """Look at what a file says of itself, and at its texts. Raises FileError, LimitError."""
    content = content_of(path, bounds)
    check_content(content, SIGNATURE)

    def batched() -> Iterator[Any]:  # Any: pyarrow is untyped
        with content.whole() as place, pq.ParquetFile(place, buffer_size=BUFFER_BYTES) as file:
            yield from file.iter_batches(BATCH_ROWS)

    with reading(path.name, *FORM), content.whole() as place:
        with pq.ParquetFile(place) as file:
            metadata, schema = file.metadata, file.schema
            source = _source(path, file.schema_arrow, batched)
        _check_metadata(metadata, schema, bounds)
        if bounds.max_cell or bounds.max_unpacked_mb:
            _check_texts(place, schema, bounds)
    return source


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


FILE = b"ARROW1"
"""Begins a file that lists its batches at its end; before that list they are a stream."""
FILE_START = 8
"""Bytes before the stream in such a file."""
TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
HEADER, BATCH_OF_DICTIONARY, BUFFERS, COMPRESSION = 2, 1, 2, 3
"""Numbers of fields in the tables of which a message is made (Message.fbs and Schema.fbs)."""
SPLITS, STATE = "dataset_dict.json", "state.json"
"""What a folder holds of several data sets, and of one."""


def open_arrow(path: Path, bounds: Bounds, split: str = "") -> Source:
    """Look at what a file or a folder says of its columns.

    Raises FileError, and FileQuestion for a folder of several splits.
    """
    folder, words = _split(path, split)
    files = _files(folder)

    def batched() -> Iterator[Any]:  # Any: pyarrow is untyped
        for file in files:
            with _opened(file, bounds) as (_, batches):
                for batch in batches:
                    for start in range(0, len(batch), BATCH_ROWS):
                        yield batch.slice(start, BATCH_ROWS)

    with _opened(files[0], bounds) as (schema, _):
        source = _source(path, schema, batched, words)
    if bounds != UNBOUNDED:
        bounds.check("max_columns", sum(map(_leaf_count, schema.types)))
        _check(files, bounds)
    return source


def arrow_files(path: Path) -> list[Path]:
    """Return every file of which the rows of a folder are read. Raises FileError."""
    named = [path / split for split in _splits(path)] or [path]
    return [file for folder in named for file in _files(folder)]


def _split(path: Path, asked: str) -> tuple[Path, str]:
    """Return the folder of the split that is asked for, or of the only one, and its name."""
    splits = _splits(path)
    if asked and asked not in splits:
        raise FileError(f"{path.name} has no split {asked!r}; it has: {listed(splits)}")
    if not splits:
        return path, ""
    if not asked and len(splits) > 1:
        raise FileQuestion(
            f"{path.name} holds several splits: {listed(splits)}",
            *(f"--sheet {split}" for split in splits[:5]),
        )
    chosen = asked or splits[0]
    return path / chosen, f"split {chosen!r}"


def _splits(path: Path) -> list[str]:
    told = _json(path / SPLITS).get("splits") if path.is_dir() else None
    return [Path(str(split)).name for split in told] if isinstance(told, list) else []


def _files(path: Path) -> list[Path]:
    """Return the Arrow files of one data set, in their order."""
    if not path.is_dir():
        return [path]
    state = _json(path / STATE)
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise FileError(f"{path.name} holds rows by their number; save it after flatten_indices()")
    named = [str(each.get("filename")) for each in state.get("_data_files", ())]
    files = [path / Path(name).name for name in named] or sorted(path.glob("*.arrow"))
    if not files:
        raise FileError(
            f"{path.name} is a folder without Arrow files; name a file, or a folder that the "
            "library datasets saved with save_to_disk()"
        )
    return files


def _json(path: Path) -> dict[str, Any]:  # Any: JSON
    if not path.is_file():
        return {}
    with reading(f"{path.name} of {path.parent.name}", "JSON", "save the data set again"):
        return dict(json.loads(path.read_text(encoding="utf-8")))


@contextmanager
def _mapped(path: Path, bounds: Bounds) -> Iterator[Any]:  # Any: pyarrow is untyped
    """Give the stream that an Arrow file is, or that it holds."""
    content = Content(path, bounds)
    check_content(content, FILE)
    with (
        reading(path.name, "Arrow", "fetch or save it again"),
        content.whole() as plain,
        pa.memory_map(str(plain)) as mapped,
    ):
        mapped.seek(FILE_START if mapped.read(len(FILE)) == FILE else 0)
        yield mapped


@contextmanager
def _opened(
    path: Path, bounds: Bounds
) -> Iterator[tuple[Any, Iterator[Any]]]:  # Any: pyarrow is untyped
    """Give the schema and the batches of an Arrow file."""
    with _mapped(path, bounds) as mapped:
        stream = pa.ipc.open_stream(mapped)
        yield stream.schema, iter(stream)


def _leaf_count(kind: Any) -> int:  # Any: pyarrow is untyped
    """Return how many columns of plain values a type is made of."""
    parts = (kind.field(number).type for number in range(kind.num_fields))
    return sum(map(_leaf_count, parts)) if kind.num_fields else 1


def _check(files: Sequence[Path], bounds: Bounds) -> None:
    """Refuse files that are larger than they look. Raises FileError, LimitError."""
    rows = size = claimed = messages = 0
    for file in files:
        with _mapped(file, bounds) as mapped:
            for message in pa.ipc.MessageReader.open_stream(mapped):
                check_stop()
                messages += 1
                bounds.check("max_rows", messages)  # each costs time even where it holds no row
                claimed += _claimed(message)
                bounds.check("max_unpacked_mb", claimed / MEGABYTE)
        with _opened(file, bounds) as (_, batches):
            for batch in batches:
                check_stop()
                rows += len(batch)
                bounds.check("max_rows", rows)
                batch.validate(full=True)
                size += sum(_size(column, bounds, file.name) for column in batch.columns)
                bounds.check("max_unpacked_mb", size / MEGABYTE)


def _claimed(message: Any) -> int:  # Any: pyarrow is untyped
    """Return the bytes that the packed buffers of a message claim to hold, 0 where none is packed.

    As many are reserved before they are unpacked, and no more are unpacked.
    """
    if message.type == "schema":
        return 0
    table, body = memoryview(message.metadata), memoryview(message.body)
    batch = _followed(table, _field(table, _followed(table, 0), HEADER))
    if message.type == "dictionary":
        batch = _followed(table, _field(table, batch, BATCH_OF_DICTIONARY))
    if not _field(table, batch, COMPRESSION):
        return 0
    buffers = _followed(table, _field(table, batch, BUFFERS))
    places = (buffers + 4 + 16 * number for number in range(_number(table, buffers, 4)))
    starts = (_number(table, place, 8) for place in places)
    return sum(max(0, _number(body, start, 8, signed=True)) for start in starts)


def _field(table: memoryview, at: int, number: int) -> int:
    """Return where a field of a table of a flat buffer stands, 0 where it has none."""
    fields = at - _number(table, at, 4, signed=True)
    end, place = fields + _number(table, fields, 2), fields + 4 + 2 * number
    offset = _number(table, place, 2) if place < end else 0
    return at + offset if offset else 0


def _followed(table: memoryview, place: int) -> int:
    return place + _number(table, place, 4)


def _number(data: memoryview, place: int, size: int, signed: bool = False) -> int:
    return int.from_bytes(data[place : place + size], "little", signed=signed)


def _size(array: Any, bounds: Bounds, name: str, width: int = VALUE_BYTES) -> int:
    """Return the bytes that values take at least. Raises LimitError, and FileError for a kind.

    `width` are those of one beside its text. A kind is refused whose values may lie over one
    another in the file: how large they are together no number in it tells.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    size = width * len(array)
    bounds.check("max_unpacked_mb", size / MEGABYTE)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if kind in TEXTS:
        return size + text_size(array, bounds)
    if kind is array.type and (parts := parts_of(array)):
        return size + sum(_size(part, bounds, name, LISTED_BYTES) for part in parts)
    if pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return size
    raise FileError(
        f"{name}: columns of the type {array.type} are read on the command line alone; save it as "
        "Parquet, with to_parquet()"
    )


# The names that a file gives to the whole numbers of its labels. Files of the hub and those that
# its library `datasets` writes carry them, in the key `huggingface` of their metadata. They say
# what a 0 means, where a convention of a task only tells what it often does.
KEY = b"huggingface"
Features = Mapping[str, Any]  # Any: JSON
"""What a data set says of its columns, by name."""


def features_of(metadata: Mapping[bytes, bytes]) -> Features:
    """Return what a file's metadata say of its columns, {} where nothing can be read."""
    try:
        features = json.loads(metadata.get(KEY, b"{}"))["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def features_json(features: Features) -> dict[bytes, bytes]:
    """Return metadata that say this of the columns."""
    return {KEY: json.dumps({"info": {"features": features}}).encode()}


def card_features(card: Mapping[str, Any], config: str) -> Features:  # Any: YAML
    """Return what a data set's card says of the columns of a configuration, {} for nothing.

    The card counts classes as `class_label: names: {'0': entailment, ...}`, a file as a list.
    """
    infos = card.get("dataset_info")
    every = [info for info in _listed(infos) if isinstance(info, Mapping)]
    fitting = [info for info in every if info.get("config_name", config) == config]
    columns = _listed(fitting[0].get("features")) if fitting else []
    features: dict[str, Any] = {}
    for column in columns:
        kind = column.get("dtype")
        label = kind.get("class_label") if isinstance(kind, Mapping) else None
        names = label.get("names") if isinstance(label, Mapping) else None
        if isinstance(names, Mapping):
            names = [names[key] for key in sorted(names, key=int)]
        if named := list(map(str, _listed(names))):
            features[str(column.get("name"))] = {"_type": "ClassLabel", "names": named}
    return features


def _listed(value: Any) -> list[Any]:  # Any: YAML
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
