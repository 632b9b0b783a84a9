"""The home, backed up to a folder and restored from it: runs, inoculated models, browsers' key.

The folder may be a mounted bucket: its files are written, listed, read and removed, but never
locked, renamed or changed. Each file of the home lies in `files` under its hash. A back-up is a
list of such files and written last, so that one that was cut off is none: it is passed over.
"""

import hashlib
import json
import logging
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from threading import Event, Thread

from sqlalchemy import make_url

from probe.errors import FileError, SettingsError, UserError, writing
from probe.models.weights import file_hash
from probe.runs.access import browser_secret
from probe.settings import kept_private, make_home, settings

DATABASE, KEY, MODELS = "runs.sqlite", "browser-secret", "models"
LISTS = "backup-*.json"
GENERATIONS = 3
"""Back-ups that are kept."""
NEW_SECONDS = 60.0
"""A model that no run of the database names yet is backed up when it is older than this."""


@dataclass(frozen=True)
class Backup:
    """A list of files: the hashes by the paths in the home, and a mark of whose home it was."""

    home: str
    files: dict[str, str]


def back_up(folder: Path) -> bool:
    """Back the home up; False where nothing has changed since the newest back-up.

    Only the newest back-ups are kept, and the files that one of these lists.

    Raises FileError where the folder cannot be written or holds another home's back-ups, and
    SettingsError where the run database is none that can be copied.
    """
    newest = check_folder(folder)
    with writing(folder):
        make_home()
        (folder / "files").mkdir(parents=True, exist_ok=True)
    with writing(folder), tempfile.TemporaryDirectory(dir=settings().home) as half:
        copied = Backup(_mark(), dict(_stored(folder, Path(half) / DATABASE)))
        if copied == newest:
            return False
        stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        (folder / LISTS.replace("*", stamp)).write_text(json.dumps(asdict(copied), indent=1))
        kept = [*zip(range(GENERATIONS), _backups(folder), strict=False)]
        lists = {path for _, (path, _) in kept}
        hashes = {hash_ for _, (_, backup) in kept for hash_ in backup.files.values()}
        for path in [path for path in folder.glob(LISTS) if path not in lists]:
            path.unlink(missing_ok=True)
        for path in [path for path in (folder / "files").iterdir() if path.name not in hashes]:
            path.unlink(missing_ok=True)
    return True


def restore(folder: Path) -> None:
    """Restore the newest whole back-up. Raises FileError for none, or a home that is not empty."""
    home, half = settings().home, _half()
    if not is_empty():
        raise FileError(f"{home} holds runs or models already: restore into an empty home")
    for _, backup in _backups(folder):
        shutil.rmtree(half, ignore_errors=True)
        with writing(home):
            if _fetch(folder, backup, half):
                break
    else:
        raise FileError(f"there is no whole back-up in {folder}")
    with writing(home):
        for path in sorted(backup.files, key=lambda path: path == DATABASE):  # it comes last
            target = database_file() if path == DATABASE else home / path
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.move(half / path, target)
            kept_private(target)
        shutil.rmtree(half)


def is_empty() -> bool:
    """Whether the home holds neither runs nor models, or no more than half a restored back-up."""
    models = settings().home / MODELS
    has_models = models.is_dir() and any(models.iterdir())
    return not database_file().exists() and (_half().exists() or not has_models)


def check_folder(folder: Path) -> Backup | None:
    """Return the newest back-up there, None for none. Raises FileError for another home's."""
    newest = next((backup for _, backup in _backups(folder)), None)
    if newest is not None and newest.home != _mark():
        raise FileError(f"{folder} holds the back-up of another home: name a folder of its own")
    return newest


def fingerprint() -> frozenset[tuple[str, int, int]]:
    """Return by what a change of the home shows: each file with its time and size."""
    database, home = database_file(), settings().home
    log = database.with_name(f"{database.name}-wal")
    facts = set()
    for file in (database, log, home / KEY, *(home / MODELS).rglob("*")):
        with suppress(FileNotFoundError):
            facts.add((str(file), file.stat().st_mtime_ns, file.stat().st_size))
    return frozenset(facts)


def database_file() -> Path:
    """Return where the run database lies. Raises SettingsError where it is no file."""
    if not settings().database:
        return settings().home / DATABASE
    url = make_url(settings().database)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise SettingsError(
            "only a SQLite run database is backed up here, and NLI_CLINIC_DATABASE names another "
            "one: back that up with its own tools"
        )
    return Path(url.database)


def _stored(folder: Path, copy: Path) -> Iterator[tuple[str, str]]:
    """Store what is new in the home; yields each path with its hash.

    Models are listed before the database is copied and read after it: so none is backed up whose
    run is not, which would be everybody's.
    """
    browser_secret()  # makes it where there is none
    models = sorted((settings().home / MODELS).glob("*"))
    named = _copy_database(copy)
    if copy.exists():
        yield DATABASE, _store(folder, copy)
    yield KEY, _store(folder, settings().home / KEY)
    for model in models:
        with suppress(FileNotFoundError):  # it was removed meanwhile
            if model.name in named or time.time() - model.stat().st_mtime > NEW_SECONDS:
                files = [file for file in sorted(model.rglob("*")) if file.is_file()]
                hashes = [_store(folder, file) for file in files]  # of all of it, or of none
                paths = [file.relative_to(settings().home).as_posix() for file in files]
                yield from zip(paths, hashes, strict=True)


def _copy_database(copy: Path) -> frozenset[str]:
    """Copy the database as it is at one moment, while it is in use; return its models' names.

    Raises FileError where it is no run database.
    """
    file = database_file()
    if not file.exists():
        return frozenset()
    try:
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            if target.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise FileError(f"{file} is damaged: no back-up is made of it")
            target.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
            return frozenset(name for (name,) in target.execute("SELECT kept FROM run"))
    except sqlite3.Error as problem:
        raise FileError(f"{file} cannot be backed up: {problem}") from problem


def _store(folder: Path, source: Path) -> str:
    """Copy a file into the folder where it is not there yet, and return its hash."""
    hash_ = file_hash(source)
    stored = folder / "files" / hash_
    if not stored.exists() or stored.stat().st_size != source.stat().st_size:
        shutil.copyfile(source, stored)
    return hash_


def _fetch(folder: Path, backup: Backup, half: Path) -> bool:
    """Copy a back-up's files to where they wait; False where one is missing or damaged."""
    for path, hash_ in backup.files.items():
        target = half / path
        target.parent.mkdir(parents=True, exist_ok=True)
        stored = folder / "files" / hash_
        if not stored.exists():
            return False
        shutil.copyfile(stored, target)
        if file_hash(target) != hash_:
            return False
    return True


def _backups(folder: Path) -> Iterator[tuple[Path, Backup]]:
    """Yield the back-ups, newest first; a list that was cut off is passed over."""
    for path in sorted(folder.glob(LISTS), reverse=True):
        with suppress(json.JSONDecodeError, UnicodeDecodeError):
            backup = Backup(**json.loads(path.read_text(encoding="utf-8")))
            places = map(Path, backup.files)
            if not any(".." in place.parts or place.is_absolute() for place in places):
                yield path, backup


def _half() -> Path:
    return settings().home / "restore.half"


def _mark() -> str:
    """Return what tells this home from others without telling its key."""
    return hashlib.sha256(f"home {browser_secret()}".encode()).hexdigest()[:16]


log = logging.getLogger(__name__)


def start_backups(folder: Path) -> Callable[[], None]:
    """Restore into an empty home, then back it up every few minutes; return what ends that.

    To be called before the run database is opened. The end backs up once more; what goes wrong is
    logged, and tried again the next time. Raises FileError where the home is empty and the back-ups
    are damaged, and where they are another home's: an app that went on would put its own in their
    place.
    """
    if is_empty() and any(folder.glob(LISTS)):
        restore(folder)
    check_folder(folder)
    ended = Event()

    def work() -> None:
        before, last = None, False
        while not last:
            last = ended.wait(60 * settings().backup_minutes)
            try:
                now = fingerprint()
                if now != before:
                    back_up(folder)
                before = now
            except Exception as problem:  # the outermost frame of this thread
                before = None
                log.error("no back-up: %s", problem, exc_info=not isinstance(problem, UserError))

    thread = Thread(target=work, name="backups", daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join()

    return end
