"""Arrow files and the folders of the library `datasets`, which `save_to_disk` writes.

The command line alone reads them: an Arrow file may claim any size of what it packs.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from probe.data.formats.encodings import check_content
from probe.data.formats.parquet import BATCH_ROWS, Parquet
from probe.data.names import check_names, listed
from probe.errors import FileError, FileQuestion, reading
from probe.limits import UNBOUNDED, Bounds

SUFFIXES = (".arrow", ".feather")
FILE = b"ARROW1"
"""Begins a file that lists its batches, and no stream of them."""
SPLITS, STATE = "dataset_dict.json", "state.json"
"""What a folder holds of several data sets, and of one."""


def is_arrow(path: Path) -> bool:
    """Whether a path is an Arrow file by its name, or a folder."""
    return path.suffix.lower() in SUFFIXES or path.is_dir()


def open_arrow(path: Path, bounds: Bounds, split: str = "") -> Parquet:
    """Look at what a file or a folder says of its columns.

    Raises FileError, and FileQuestion for a folder of several splits.
    """
    if bounds != UNBOUNDED:
        raise FileError(
            f"{path.name}: Arrow files are read on the command line alone; save it as Parquet, "
            "with to_parquet()"
        )
    folder, words = _split(path, split)
    files = _files(folder)
    with _opened(files[0]) as (schema, _):
        check_names(schema.names, path.name)
    names = tuple(schema.names)
    return Parquet(path, bounds, names, schema.metadata or {}, partial(_batches, files), words)


def _batches(files: list[Path]) -> Iterator[Any]:  # Any: pyarrow is untyped
    for file in files:
        with _opened(file) as (_, batches):
            for batch in batches:
                for start in range(0, len(batch), BATCH_ROWS):
                    yield batch.slice(start, BATCH_ROWS)


def arrow_files(path: Path) -> list[Path]:
    """Return every file of which the rows of a path are read. Raises FileError."""
    if not path.is_dir():
        return [path]
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
def _opened(path: Path) -> Iterator[tuple[Any, Iterator[Any]]]:  # Any: pyarrow is untyped
    """Give the schema and the batches of an Arrow file: a stream, or with a list of its batches."""
    check_content(path, UNBOUNDED, FILE)
    with reading(path.name, "Arrow", "fetch or save it again"), pa.memory_map(str(path)) as mapped:
        is_file = mapped.read(len(FILE)) == FILE
        mapped.seek(0)
        if is_file:
            file = pa.ipc.open_file(mapped)
            yield file.schema, map(file.get_batch, range(file.num_record_batches))
        else:
            stream = pa.ipc.open_stream(mapped)
            yield stream.schema, iter(stream)
