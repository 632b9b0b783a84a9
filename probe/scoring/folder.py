"""Where the app keeps a file that is scored as a run, its parts, and what comes of each."""

import gzip
import os
import secrets
import shutil
from collections.abc import Collection
from pathlib import Path

from probe.errors import FileError, writing
from probe.runs.run import Json
from probe.settings import settings


def _folder(name: str) -> Path:
    return settings().home / "scoring" / name


def new_folder() -> str:
    """Return the name of a folder that nobody has."""
    return secrets.token_hex(8)


def input_file(folder: str, file: str) -> Path:
    """Return the place of the file that is scored."""
    return _folder(folder) / "input" / file


def keep_input(folder: str, file: Path) -> Path:
    """Keep a file as long as its run. Raises FileError."""
    if file.is_dir():
        raise FileError(
            f"{file.name} is a folder, and a run keeps one file; save it as Parquet, with "
            "to_parquet()"
        )
    place = input_file(folder, file.name)
    with writing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    return place


def write_part(folder: str, key: Json, content: bytes) -> None:
    """Keep what is to be scored of a part. Raises FileError."""
    _write(_folder(folder) / "parts" / _name(key), content)


def read_part(folder: str, key: Json) -> bytes:
    """Return what is to be scored of a part, packed. Raises FileError."""
    return _read(_folder(folder) / "parts" / _name(key))


def write_values(folder: str, key: Json, content: bytes) -> None:
    """Keep what came of a part, packed already. Raises FileError."""
    _write(_folder(folder) / "values" / _name(key), content)


def read_values(folder: str, key: Json) -> bytes:
    """Return what came of a part, packed. Raises FileError."""
    return _read(_folder(folder) / "values" / _name(key))


def remove_folder(folder: str) -> None:
    """Remove all that is kept of a run."""
    shutil.rmtree(_folder(folder), ignore_errors=True)


def remove_orphans(kept: Collection[str], before: float) -> None:
    """Remove folders that are older than a time (seconds since 1970) and none of these."""
    for folder in _folder("").glob("*"):
        if folder.name not in kept and folder.stat().st_mtime < before:
            shutil.rmtree(folder, ignore_errors=True)


def folder_bytes(folder: str) -> int:
    """Return the bytes of all that is kept of a run."""
    return sum(path.stat().st_size for path in _folder(folder).rglob("*") if path.is_file())


def pack(content: bytes) -> bytes:
    """Pack what is kept or sent."""
    return gzip.compress(content, compresslevel=1, mtime=0)


def unpack(content: bytes) -> bytes:
    """Unpack what was kept or sent."""
    return gzip.decompress(content)


def _name(key: Json) -> str:
    return f"{key['start']:09}.json.gz"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise FileError("the file of this run is not here any more; score it anew") from problem


def _write(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, also where the machine stops."""
    fresh = path.with_name(f"{path.name}.new")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
