"""A visitor's files: results at addresses that nobody can guess, and what was uploaded.

gradio hands out whatever lies in its cache to who knows the address. So results lie in folders with
random names inside the visitor's own, and an upload belongs to who first uses it, by a hard link in
that folder. The folders are the register: there is no other list that could differ from them.
"""

import filecmp
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import time
from base64 import urlsafe_b64encode
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache
from glob import escape
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.rows import Source
from probe.data.source import open_source, read_table
from probe.errors import FileError, LimitError, RunError
from probe.limits import Bounds, check, visitor_bounds
from probe.runs.access import as_token, model_bytes, run_bytes
from probe.runs.store import Store
from probe.settings import ASSETS, kept_private, make_home, settings
from probe.tasks.examples import bundled_file
from probe.tasks.task import Task

HOUR, MEGABYTE = 3600, 1_000_000
VISITORS, UPLOADS, BUNDLED, FINDINGS = "visitors", "uploads", "bundled", "lessons"
"""The folder of all visitors' folders; in one of these that of its uploads, beside results; and
that of the bundled examples, which are everyone's."""
TAKEN = "taken-"
"""Begins the names of folders of what was taken of something that is kept, such as a run."""
CHOOSE = "choose a file first, or one of the examples"
GONE = "this file is not here any more; choose or upload it again"


@dataclass(frozen=True)
class StoredFiles:
    """An upload, or the files of one result; times are seconds since 1970, `id` is its folder."""

    upload: bool
    id: str
    names: tuple[str, ...]
    size: int
    created: float
    expires: float


def cache_folder() -> Path:
    """Return gradio's own cache, out of which it hands out files."""
    folder = Path(os.environ.get("GRADIO_TEMP_DIR", Path(tempfile.gettempdir()) / "gradio"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return kept_private(folder).absolute()


def folder_of(visitor: str) -> Path:
    """Return the folder of a visitor's files, one for all who have no token."""
    digest = hashlib.sha256(as_token(visitor).encode()).hexdigest()
    return cache_folder() / VISITORS / digest[:32]


def fresh_folder(visitor: str, taken: bool = False) -> Path:
    """Return a new folder for results, at an address that nobody can guess.

    What is `taken` of something that is kept, and can be made of it again, is not listed beside it.
    """
    folder = folder_of(visitor) / f"{TAKEN if taken else ''}{secrets.token_urlsafe(16)}"
    folder.mkdir(mode=0o700, parents=True)
    return folder


def folder_for(visitor: str, *made_of: object) -> Path:
    """Return where results of a run belong, which nobody can guess without the token."""
    told = json.dumps([as_token(visitor), *made_of])
    digest = hashlib.sha256(told.encode()).digest()[:16]
    return folder_of(visitor) / f"{TAKEN}{urlsafe_b64encode(digest).decode().rstrip('=')}"


def own_file(visitor: str, place: str | Path) -> Path:
    """Return a file that a visitor's event names, and note a new upload as theirs.

    An event that comes before the page has its token notes nothing. Raises FileError where it is
    another's, as where it is not there.
    """
    path, results = Path(place).resolve(), folder_of(visitor).resolve()
    if not path.is_file():
        raise FileError(GONE)
    is_upload = path.parent.parent == cache_folder().resolve()
    if not (
        path.is_relative_to(results) or _is_example(path) or (is_upload and _usable(path, visitor))
    ):
        raise FileError(GONE)
    return path


def read_upload(visitor: str, path: str | None, options: FileOptions = AS_THE_FILE_TELLS) -> Source:
    """Read the whole of a visitor's file. Raises FileError, LimitError."""
    if not path:
        raise FileError(CHOOSE)
    return read_table(own_file(visitor, path), visitor_bounds(), options)


def open_upload(visitor: str, path: str | None, options: FileOptions = AS_THE_FILE_TELLS) -> Source:
    """Open a visitor's file to be read row by row. Raises FileError, LimitError."""
    if not path:
        raise FileError(CHOOSE)
    place = own_file(visitor, path)
    form = options.header, options.encoding, options.sheet, options.quotes
    return _opened(place, place.stat().st_mtime_ns, visitor_bounds(), form)


@lru_cache(maxsize=32)
def _opened(
    path: Path, changed: int, bounds: Bounds, form: tuple[bool | None, str, str, bool | None]
) -> Source:
    """Read a file through no more than once, as long as it stays as it is."""
    return open_source(path, bounds, FileOptions(*form))


def _is_example(path: Path) -> bool:
    """Whether a file is a copy of bundled examples, which are everyone's."""
    if path.parent == (cache_folder() / BUNDLED).resolve():
        return True
    example = ASSETS / "examples" / path.name
    return example.is_file() and filecmp.cmp(path, example, shallow=False)


def bundled_copy(task: Task) -> Path:
    """Return a file of a task's bundled test examples, written once for everybody."""
    path = cache_folder() / BUNDLED / f"bundled-{task.name}.csv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        frame = read_table(bundled_file(task)).frame
        with TemporaryDirectory(dir=path.parent) as folder:  # nobody reads half of it
            fresh = Path(folder) / path.name
            frame[frame["split"] == "test"].to_csv(fresh, index=False)
            fresh.replace(path)
    return path


def upload_called(visitor: str, which: str) -> Path:
    """Return a visitor's upload by the name of its folder. Raises FileError where there is none."""
    held = {folder.name: folder for folder in (folder_of(visitor) / UPLOADS).glob("*")}
    files = held[which].iterdir() if which in held else ()
    for file in files:
        if (here := cache_folder() / which / file.name).is_file():
            return own_file(visitor, here)
    raise FileError(GONE)


def upload_like(visitor: str, file: Path) -> Path:
    """Return the upload of a visitor that is the same as a file; made where there is none.

    Raises FileError where the file is gone.
    """
    for held in (folder_of(visitor) / UPLOADS).glob(f"*/{escape(file.name)}"):
        with suppress(OSError, FileError):
            if filecmp.cmp(held, file, shallow=False):
                return upload_called(visitor, held.parent.name)
    place = cache_folder() / secrets.token_hex(32) / file.name
    place.parent.mkdir(mode=0o700)
    try:
        shutil.copyfile(file, place)
    except OSError as problem:
        raise FileError(GONE) from problem
    return own_file(visitor, place)


def _usable(path: Path, visitor: str) -> bool:
    """Whether an upload is the visitor's, or nobody's yet; who has a token makes it theirs."""
    if as_token(visitor):
        return _claim(path, folder_of(visitor).resolve() / UPLOADS)
    return path.stat().st_nlink == 1


def _claim(path: Path, uploads: Path) -> bool:
    """Link to an upload; return whether nobody else does. Of two at once neither has it."""
    link = uploads / path.parent.name / path.name
    link.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.link(path, link)
    if path.stat().st_nlink == 2 and link.samefile(path):
        return True
    shutil.rmtree(link.parent)
    return False


def files_of(visitor: str, taken: bool = False) -> list[StoredFiles]:
    """Return a visitor's files, the newest first; also those that are `taken` of something kept."""
    stored = list[StoredFiles]()
    for folder in _folders(folder_of(visitor)):
        if taken or not folder.name.startswith(TAKEN):
            with suppress(FileNotFoundError):  # deleted meanwhile
                stored.append(_stored(folder))
    return sorted(stored, key=lambda files: -files.created)


def delete_taken(visitor: str) -> None:
    """Delete what was taken of things that are kept."""
    for folder in folder_of(visitor).glob(f"{TAKEN}*"):
        _delete(folder)


def _stored(folder: Path) -> StoredFiles:
    created = folder.stat().st_mtime
    names = tuple(sorted(path.name for path in folder.iterdir() if path.is_file()))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    expires, upload = created + settings().keep_hours * HOUR, folder.parent.name == UPLOADS
    return StoredFiles(upload, folder.name, names, size, created, expires)


def paths_of(visitor: str, which: str) -> list[Path]:
    """Return where a visitor's upload, or the files of a result, can be fetched from."""
    if (folder_of(visitor) / UPLOADS / which).is_dir():
        return [upload_called(visitor, which)]
    found = [folder for folder in _folders(folder_of(visitor)) if folder.name == which]
    return sorted(path for folder in found for path in folder.iterdir() if path.is_file())


def delete_files(visitor: str, which: str) -> None:
    """Delete an upload or the files of a result. Raises FileError where a visitor has none such."""
    folders = {folder.name: folder for folder in _folders(folder_of(visitor))}
    if which not in folders:
        raise FileError(GONE)
    _delete(folders[which])


def delete_old_files() -> None:
    """Delete files of visitors and findings of lessons older than NLI_CLINIC_KEEP_HOURS."""
    before = time.time() - settings().keep_hours * HOUR
    for visitor in (cache_folder() / VISITORS).glob("*"):
        for folder in _folders(visitor):
            if folder.stat().st_mtime < before:
                _delete(folder)
    for found in (make_home() / FINDINGS).glob("*"):
        if found.stat().st_mtime < before:
            found.unlink(missing_ok=True)


def check_start(store: Store, visitor: str) -> None:
    """Refuse a run to a browser that is not known, or that has stored as much as is allowed.

    Raises RunError or LimitError.
    """
    if not as_token(visitor):
        raise RunError("this page does not know your browser yet; load it again")
    check_room(store, visitor)


def check_room(store: Store, visitor: str) -> None:
    """Refuse to store more for a visitor who has as much as is allowed. Raises LimitError.

    While the run database is damaged nothing of runs can be stored, and files alone are counted.
    What was taken of things that are kept goes first.
    """
    other = 0
    if not store.database.damage:
        other = model_bytes(store, visitor) + run_bytes(store, visitor)
    for taken in (True, False):
        stored = other + sum(files.size for files in files_of(visitor, taken))
        with suppress(LimitError) if taken else nullcontext():
            check("max_stored_mb", ceil(stored / MEGABYTE))
            return
        delete_taken(visitor)


def _delete(folder: Path) -> None:
    """Delete a folder of files; of an upload what gradio has of it too."""
    if folder.parent.name == UPLOADS:
        shutil.rmtree(cache_folder() / folder.name, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def _folders(visitor: Path) -> list[Path]:
    """Return the folders of a visitor's results and uploads."""
    results = [path for path in visitor.glob("*") if path.name != UPLOADS]
    return [*results, *(visitor / UPLOADS).glob("*")]
