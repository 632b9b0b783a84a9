"""The run database's tables."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    JSON,
    Connection,
    Engine,
    ForeignKey,
    String,
    create_engine,
    delete,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError, TimeoutError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, deferred, mapped_column

from probe.errors import SettingsError, StoreError
from probe.runs.run import Json
from probe.settings import kept_private, make_home, variable


class Base(DeclarativeBase):
    """The tables of the run database."""

    type_annotation_map = {Json: JSON}  # noqa: RUF012  # SQLAlchemy reads a plain attribute


class SchemaRow(Base):
    """Which version of the tables this is: one row."""

    __tablename__ = "run_schema"
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class RunRow(Base):
    """A run; `holder` is the engine that computes it, `seen` when that last renewed its lease."""

    __tablename__ = "run"
    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    owner: Mapped[str] = mapped_column(String(200), index=True)
    plan: Mapped[Json]
    inputs: Mapped[Json] = deferred(mapped_column(JSON))  # large, and read only to compute
    state: Mapped[str] = mapped_column(String(16), index=True)
    cancelling: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str] = mapped_column(default="")
    created: Mapped[float]
    started: Mapped[float] = mapped_column(default=0.0)
    finished: Mapped[float] = mapped_column(default=0.0)
    verdict: Mapped[Json] = mapped_column(default=dict)
    environment: Mapped[Json]
    kept: Mapped[str] = mapped_column(default="")
    artefacts: Mapped[Json] = mapped_column(default=dict)
    holder: Mapped[str] = mapped_column(default="")
    seen: Mapped[float] = mapped_column(default=0.0)


class CellRow(Base):
    """A cell of a run, made with it; `progress` and `result` are empty until there is one."""

    __tablename__ = "cell"
    run: Mapped[str] = mapped_column(ForeignKey("run.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[Json]
    state: Mapped[str] = mapped_column(String(16), default="queued")
    progress: Mapped[Json] = mapped_column(default=dict)
    result: Mapped[Json] = mapped_column(default=dict)
    error: Mapped[str] = mapped_column(default="")


class GrantRow(Base):
    """A link by which others may read a run, given by its owner."""

    __tablename__ = "grant"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    run: Mapped[str] = mapped_column(ForeignKey("run.id"), index=True)
    owner: Mapped[str] = mapped_column(String(200), index=True)
    created: Mapped[float]


class GrantHolderRow(Base):
    """A visitor who has opened such a link."""

    __tablename__ = "grant_holder"
    grant: Mapped[str] = mapped_column(ForeignKey("grant.id"), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(200), primary_key=True, index=True)


class Survey(Base):
    """What a class is asked; `id` is the secret of its link.

    Times are seconds since 1970; `ends` is 0 where it has no end. `shown` says whether respondents
    see the results.
    """

    __tablename__ = "survey"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    owner: Mapped[str] = mapped_column(String(200), index=True)
    title: Mapped[str]
    content: Mapped[Json] = deferred(mapped_column(JSON))
    created: Mapped[float]
    ends: Mapped[float] = mapped_column(default=0.0)
    shown: Mapped[bool] = mapped_column(default=False)

    @property
    def ended(self) -> bool:
        """Whether answers are no longer taken."""
        return 0 < self.ends <= time.time()


class RespondentRow(Base):
    """A visitor who has opened a survey's link, under a name of their own choice or none."""

    __tablename__ = "respondent"
    survey: Mapped[str] = mapped_column(ForeignKey("survey.id"), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(200), primary_key=True, index=True)
    nickname: Mapped[str] = mapped_column(default="")
    joined: Mapped[float]


class AssignmentRow(Base):
    """A batch of items that a respondent was given; `finished` is 0 until all are answered."""

    __tablename__ = "assignment"
    survey: Mapped[str] = mapped_column(ForeignKey("survey.id"), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(200), primary_key=True)
    batch: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    given: Mapped[float]
    finished: Mapped[float] = mapped_column(default=0.0)


class ResponseRow(Base):
    """What a respondent answered to an item."""

    __tablename__ = "response"
    survey: Mapped[str] = mapped_column(ForeignKey("survey.id"), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(200), primary_key=True)
    item: Mapped[str] = mapped_column(String(100), primary_key=True)
    answer: Mapped[str] = mapped_column(String(100))
    created: Mapped[float]


class SubmissionRow(Base):
    """An example that a respondent wrote, and a model's answer; `key` is the hash of its texts.

    `content` holds texts, label, answer, probabilities by label and the hash of the model.
    """

    __tablename__ = "submission"
    survey: Mapped[str] = mapped_column(ForeignKey("survey.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(200), index=True)
    content: Mapped[Json]
    fooled: Mapped[bool]
    created: Mapped[float]


class BroughtRow(Base):
    """A model of the hub or a folder that a visitor brought, as `ModelCache.open` reads it."""

    __tablename__ = "brought"
    visitor: Mapped[str] = mapped_column(String(200), primary_key=True)
    name: Mapped[str] = mapped_column(String(1000), primary_key=True, index=True)
    address: Mapped[str]
    labels: Mapped[Json]
    template: Mapped[str]
    task: Mapped[str]
    created: Mapped[float]


SCHEMA = 6
"""The version of the tables that this code reads and writes."""
OLDEST = 2
"""The oldest version that is upgraded: what came since are whole tables."""


def prepare_tables(engine: Engine) -> None:
    """Make the tables that are missing. Raises StoreError for those of another program."""
    with engine.connect() as connection:
        if _version(connection) == SCHEMA:
            return
    with engine.begin() as connection:  # no other program's upgrade runs beside it
        if connection.dialect.name == "sqlite":  # its driver begins none before a CREATE TABLE
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(text("SELECT pg_advisory_xact_lock(20190603)"))
        version = _version(connection)  # another program may have been quicker
        if version and not OLDEST <= version <= SCHEMA:
            raise StoreError(
                f"the run database has the version {version}, this program reads {SCHEMA}: "
                f"{'a newer' if version > SCHEMA else 'a much older'} program wrote it"
            )
        if version < SCHEMA:
            Base.metadata.create_all(connection)
            connection.execute(delete(SchemaRow))
            connection.execute(insert(SchemaRow).values(number=SCHEMA))


def _version(connection: Connection) -> int:
    """Return the version of the tables, 0 where there are none."""
    tables = inspect(connection).get_table_names()
    if SchemaRow.__tablename__ in tables:
        return connection.scalar(select(SchemaRow.number)) or 0
    return int("run" in tables)


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
            with _store_errors(), Session(self._engine, expire_on_commit=False) as session:
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
    try:
        engine = create_engine(url, pool_pre_ping=True)
    except (ArgumentError, ValueError, ImportError) as problem:
        raise SettingsError(  # without the URL, which may hold a password
            f"{variable('database')} names no database that can be used here: {problem}"
        ) from problem
    patterns = CONNECTION_SETTINGS.get(engine.dialect.name, ())
    statements = [pattern.format(wait=round(1000 * patience)) for pattern in patterns]

    def set_up(connection: Any, record: object) -> None:  # Any: the driver's own connection
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        cursor.close()
        connection.commit()  # PostgreSQL takes a setting back with its transaction

    event.listen(engine, "connect", set_up)
    if engine.dialect.name == "sqlite":  # each page of its file is looked at
        with engine.connect() as connection:
            if connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() != "ok":
                raise DamagedDatabase(DAMAGED)
    prepare_tables(engine)
    return engine


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
