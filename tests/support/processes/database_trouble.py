"""Faults of the SQLite database in a home: it is full, or locked."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.pool import Pool


@contextmanager
def full(home: Path) -> Iterator[None]:
    """Limit the database to its present size."""
    with sqlite3.connect(home / "runs.sqlite") as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()

    def limit(connection: sqlite3.Connection, *others: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def unlimit(connection: sqlite3.Connection, *others: object) -> None:
        connection.execute("PRAGMA max_page_count = 1000000")

    event.listen(Pool, "checkout", limit)
    event.listen(Pool, "checkin", unlimit)
    yield
    event.remove(Pool, "checkout", limit)
    event.remove(Pool, "checkin", unlimit)


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Hold a write transaction on the database."""
    connection = sqlite3.connect(home / "runs.sqlite", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    yield
    connection.execute("ROLLBACK")
    connection.close()
