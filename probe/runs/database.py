"""The run database, with its troubles in words: full, locked, out of reach."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import OperationalError, TimeoutError
from sqlalchemy.orm import Session

from probe.errors import StoreError
from probe.runs.tables import open_database

TROUBLE = {
    "locked": "the run database is locked by another program",
    "lock timeout": "the run database is locked by another program",
    "full": "the disk with the run database is full",
    "No space left": "the disk with the run database is full",
}
"""What a database says, and what people are told."""


class Database:
    """An open database; `trouble` is the sentence of the last write, empty where it went well.

    All that reads or writes raises StoreError where the database is full, locked or out of reach.
    """

    def __init__(self, url: str, patience: float) -> None:
        """Open it by its URL, or the one in the home; a write waits `patience` seconds."""
        self.trouble = ""
        with _telling():
            self._engine = open_database(url, patience)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a session, to read with."""
        with _telling(), Session(self._engine) as session:
            yield session

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


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except (OperationalError, TimeoutError) as problem:
        said = str(getattr(problem, "orig", problem))
        known = next((words for sign, words in TROUBLE.items() if sign in said), "")
        raise StoreError(known or f"the run database cannot be used: {said}") from problem
