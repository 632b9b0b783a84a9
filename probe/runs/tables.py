"""The run database's tables, and how a database is opened: SQLite, or another by its URL."""

from typing import Any

from sqlalchemy import JSON, Engine, ForeignKey, String, create_engine, event, inspect, text
from sqlalchemy.orm import DeclarativeBase, Mapped, deferred, mapped_column, relationship
from sqlalchemy.schema import CreateColumn

from probe.runs.serialise import Json
from probe.settings import settings

TUNING = {
    # readers work while one writes, and writers wait for each other
    "sqlite": (
        "PRAGMA busy_timeout = {wait}",
        "PRAGMA journal_mode = WAL",
        "PRAGMA foreign_keys = ON",
    ),
    "postgresql": ("SET lock_timeout = {wait}",),
}
"""What each new connection is told; {wait} is in milliseconds."""


class Base(DeclarativeBase):
    """The tables of the run database."""

    type_annotation_map = {Json: JSON}  # noqa: RUF012  # SQLAlchemy reads a plain attribute


class RunRow(Base):
    """A run. What was added after the first release has a default on the database's side."""

    __tablename__ = "run"
    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    owner: Mapped[str] = mapped_column(String(200), index=True)
    plan: Mapped[Json]
    sets: Mapped[Json] = deferred(mapped_column(JSON))  # large, and read only to compute
    state: Mapped[str] = mapped_column(String(16), index=True)
    cancelling: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str] = mapped_column(default="")
    created: Mapped[float]
    started: Mapped[float] = mapped_column(default=0.0)
    finished: Mapped[float] = mapped_column(default=0.0)
    verdict: Mapped[Json] = mapped_column(default=dict)
    environment: Mapped[Json]
    kept: Mapped[str] = mapped_column(default="")
    artefacts: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    holder: Mapped[str] = mapped_column(default="", server_default=text("''"))
    seen: Mapped[float] = mapped_column(default=0.0, server_default=text("0"))
    cells: Mapped[list["CellRow"]] = relationship(order_by="CellRow.number")


class CellRow(Base):
    """A cell of a run, made with it."""

    __tablename__ = "cell"
    run: Mapped[str] = mapped_column(ForeignKey("run.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    size: Mapped[int]
    lr: Mapped[float]
    seed: Mapped[int]
    state: Mapped[str] = mapped_column(String(16), default="queued")
    epoch: Mapped[Json] = mapped_column(default=dict)
    point: Mapped[Json] = mapped_column(default=dict)
    error: Mapped[str] = mapped_column(default="")


def open_database(url: str, patience: float) -> Engine:
    """Open a database, the one in the home without a URL, and make what tables it lacks.

    A write waits `patience` seconds for another program's lock.
    """
    if not url:
        settings().home.mkdir(parents=True, exist_ok=True)
        url = f"sqlite:///{settings().home / 'runs.sqlite'}"
    engine = create_engine(url, pool_pre_ping=True)
    tuning = TUNING.get(engine.dialect.name, ())
    told = [line.format(wait=round(1000 * patience)) for line in tuning]

    def tune(connection: Any, record: object) -> None:  # Any: the driver's own connection
        cursor = connection.cursor()
        for line in told:
            cursor.execute(line)
        cursor.close()
        connection.commit()  # PostgreSQL takes a setting back with its transaction

    event.listen(engine, "connect", tune)
    Base.metadata.create_all(engine)
    _add_columns(engine)
    return engine


def _add_columns(engine: Engine) -> None:
    """Give the tables of an older version the columns that they lack."""
    there = inspect(engine)
    for table in Base.metadata.sorted_tables:
        known = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in known:
                definition = CreateColumn(column).compile(dialect=engine.dialect)
                with engine.begin() as connection:
                    connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {definition}"))
