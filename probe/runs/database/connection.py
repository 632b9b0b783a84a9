"""The open run database, with its troubles in words: full, locked, out of reach."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError, TimeoutError
from sqlalchemy.orm import Session

from probe.errors import SettingsError, StoreError
from probe.runs.database.upgrade import prepare_tables
from probe.settings import kept_private, make_home, variable

ERROR_SENTENCES = {
    "locked": "the run database is locked by another program",
    "lock timeout": "the run database is locked by another program",
    "full": "the disk with the run database is full",
    "No space left": "the disk with the run database is full",
}
"""Parts of a database's own messages, and what people are told."""
DAMAGES = ("malformed", "not a database")
"""Parts of the messages of SQLite for a file with a damaged page, the first one too."""
DAMAGED = (
    "the run database is damaged, so there are no runs, classes and annotation sets, and none can "
    "be made; all else works. To have them back, the app's owner stops it, names a new folder as "
    f"{variable('home')} and restores a back-up into that: python -m probe restore FOLDER"
)
CONNECTION_SETTINGS = {
    # readers work while one writes, and writers wait for each other
    "sqlite": (
        "PRAGMA busy_timeout = {wait}",
        "PRAGMA journal_mode = WAL",
        "PRAGMA foreign_keys = ON",
    ),
    "postgresql": ("SET lock_timeout = {wait}",),
}
"""The statements that each new connection begins with; {wait} is in milliseconds."""


class DamagedDatabase(StoreError):
    """The file of a run database has damaged pages."""


class Database:
    """An open database; `trouble` is the sentence of the last write, empty where it went well.

    All that reads or writes raises StoreError where the database is full, locked or out of reach. A
    damaged one is left as it is: from then on all raises `damage`, its sentence.
    """

    def __init__(self, url: str, patience: float) -> None:
        """Open it by its URL, or the one in the home; a write waits `patience` seconds."""
        self.trouble = self.damage = ""
        try:
            with _store_errors():
                self._engine = open_database(url, patience)
        except DamagedDatabase as problem:
            self.damage = str(problem)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a session, to read with."""
        if self.damage:
            raise DamagedDatabase(self.damage)
        try:
            with _store_errors(), Session(self._engine) as session:
                yield session
        except DamagedDatabase as problem:
            self.damage = str(problem)
            raise

    def write(self, *queries: Any) -> int:  # Any: SQLAlchemy's update() has no narrower type
        """Execute queries as one transaction; returns how many rows the last one changed."""
        with self.writing() as session:
            connection = session.connection()
            return [connection.execute(query).rowcount for query in queries][-1]

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Open a session that commits at its end, and remember whether it could."""
        try:
            with self.session() as session, session.begin():
                yield session
        except StoreError as problem:
            self.trouble = str(problem)
            raise
        self.trouble = ""


def open_database(url: str, patience: float) -> Engine:
    """Open a database, the one in the home without a URL, and bring its tables up to date.

    A write waits `patience` seconds for another program's lock. Raises SettingsError where the
    URL is none, its driver is not installed, or the home cannot be made.
    """
    if not url:
        file = make_home() / "runs.sqlite"
        file.touch(mode=0o600)  # what SQLite puts beside it has the same rights
        url = f"sqlite:///{kept_private(file)}"
    engine = _engine(url)
    patterns = CONNECTION_SETTINGS.get(engine.dialect.name, ())
    statements = [pattern.format(wait=round(1000 * patience)) for pattern in patterns]

    def set_up(connection: Any, record: object) -> None:  # Any: the driver's own connection
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        cursor.close()
        connection.commit()  # PostgreSQL takes a setting back with its transaction

    event.listen(engine, "connect", set_up)
    if engine.dialect.name == "sqlite":
        _require_whole(engine)
    prepare_tables(engine)
    return engine


def _require_whole(engine: Engine) -> None:
    """Look at each page of a database's file. Raises DamagedDatabase."""
    with engine.connect() as connection:
        if connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() != "ok":
            raise DamagedDatabase(DAMAGED)


def _engine(url: str) -> Engine:
    try:
        return create_engine(url, pool_pre_ping=True)
    except (ArgumentError, ValueError, ImportError) as problem:
        raise SettingsError(  # without the URL, which may hold a password
            f"{variable('database')} names no database that can be used here: {problem}"
        ) from problem


@contextmanager
def _store_errors() -> Iterator[None]:
    try:
        yield
    except (DatabaseError, TimeoutError) as problem:
        message = str(getattr(problem, "orig", problem))
        if any(part in message for part in DAMAGES):
            raise DamagedDatabase(DAMAGED) from problem
        if isinstance(problem, DatabaseError) and not isinstance(problem, OperationalError):
            raise
        known = next((words for part, words in ERROR_SENTENCES.items() if part in message), "")
        raise StoreError(known or f"the run database cannot be used: {message}") from problem
