"""Brings a run database of an older version up to date.

Version 1 has no table `run_schema`: its runs are inoculations, with `sets` for inputs, and its
cells have columns for size, lr and seed, the latest epoch and the point. The first of them lack
the columns artefacts, holder and seen. Version 2 has no grants, version 3 no surveys.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, MetaData, Table, delete, insert, inspect, select, text

from probe.errors import StoreError
from probe.runs.database.tables import Base, CellRow, SchemaRow
from probe.runs.run import Json

SCHEMA = 4
"""The version of the tables that this code reads and writes."""
KIND_OF_VERSION_1 = "inoculation"
ADDED_TO_VERSION_1 = {
    "artefacts": "JSON DEFAULT '{}' NOT NULL",
    "holder": "VARCHAR DEFAULT '' NOT NULL",
    "seen": "DOUBLE PRECISION DEFAULT 0 NOT NULL",
}
KEY_OF_VERSION_1 = ("size", "lr", "seed")


def prepare_tables(engine: Engine) -> None:
    """Make the tables that are missing and upgrade those of an older version.

    Raises StoreError where a newer version wrote them.
    """
    if _version(engine) == SCHEMA:
        return
    with _alone(engine) as connection:
        version = _version(connection)  # another program may have been quicker
        if version > SCHEMA:
            raise StoreError(
                f"the run database has the version {version}, this program reads {SCHEMA}: "
                "a newer program wrote it"
            )
        if version == 1:
            _upgrade_version_1(connection)
        if version < SCHEMA:
            Base.metadata.create_all(connection)
            connection.execute(delete(SchemaRow))
            connection.execute(insert(SchemaRow).values(number=SCHEMA))


def _version(database: Engine | Connection) -> int:
    """Return the version of the tables, 0 where there are none."""
    tables = inspect(database).get_table_names()
    if SchemaRow.__tablename__ not in tables:
        return int("run" in tables)
    if isinstance(database, Engine):
        with database.connect() as connection:
            return _stored_version(connection)
    return _stored_version(database)


def _stored_version(connection: Connection) -> int:
    return connection.scalar(select(SchemaRow.number)) or 0


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that no other program's upgrade runs beside."""
    with engine.begin() as connection:
        if connection.dialect.name == "sqlite":  # its driver begins none before a CREATE TABLE
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(text("SELECT pg_advisory_xact_lock(20190603)"))
        yield connection


def _upgrade_version_1(connection: Connection) -> None:
    names = {column["name"] for column in inspect(connection).get_columns("run")}
    for name, definition in ADDED_TO_VERSION_1.items():
        if name not in names:
            connection.execute(text(f"ALTER TABLE run ADD COLUMN {name} {definition}"))
    kind = f"VARCHAR(64) DEFAULT '{KIND_OF_VERSION_1}' NOT NULL"
    connection.execute(text(f"ALTER TABLE run ADD COLUMN kind {kind}"))
    connection.execute(text("ALTER TABLE run RENAME COLUMN sets TO inputs"))
    connection.execute(text("ALTER TABLE cell RENAME TO cell_of_version_1"))
    Base.metadata.create_all(connection)
    old = Table("cell_of_version_1", MetaData(), autoload_with=connection)
    for row in connection.execute(select(old)).mappings().all():
        connection.execute(insert(CellRow).values(**_cell_of_version_1(dict(row))))
    old.drop(connection)


def _cell_of_version_1(row: Json) -> Json:
    kept = {name: row[name] for name in ("run", "number", "state", "error")}
    key = {name: row[name] for name in KEY_OF_VERSION_1}
    progress, result = _without_cell(row["epoch"]), _without_cell(row["point"])
    return {**kept, "key": key, "progress": progress, "result": result}


def _without_cell(values: Json) -> Json:
    """Leave out what the cell's key holds."""
    return {name: value for name, value in values.items() if name != "cell"}
