"""Who computes a run: of several apps on one database only one, and another when that one dies."""

import os
import secrets
import socket
import time

import psutil  # type: ignore[import-untyped]  # has no types
from sqlalchemy import or_, select, update

from probe.runs.database import Database
from probe.runs.store import OPEN
from probe.runs.tables import RunRow

LEASE = 30.0
"""Seconds without a sign of life after which a run is anybody's."""


class Lease:
    """What one engine holds. Raises StoreError where the database cannot be used."""

    def __init__(self, database: Database) -> None:
        """Hold nothing yet, under a name of machine, process, when that began, and chance."""
        born = psutil.Process().create_time()
        self._name = f"{socket.gethostname()} {os.getpid()} {born} {secrets.token_hex(4)}"
        self._database = database

    def take(self, run_id: str) -> bool:
        """Hold a run; False where another engine does that lives."""
        with self._database.session() as session:
            other = session.scalar(select(RunRow.holder).where(RunRow.id == run_id)) or ""
        free = ["", self._name, *([other] if _gone(other) else [])]
        late = RunRow.seen < time.time() - LEASE
        query = update(RunRow).where(RunRow.id == run_id, or_(RunRow.holder.in_(free), late))
        return self._database.write(query.values(holder=self._name, seen=time.time())) == 1

    def left(self) -> tuple[str, ...]:
        """Return the open runs that this engine or one that is gone has held."""
        held = RunRow.state.in_(OPEN), RunRow.holder != ""
        with self._database.session() as session:
            rows = session.execute(select(RunRow.id, RunRow.holder, RunRow.seen).where(*held))
            return tuple(
                run_id
                for run_id, other, seen in rows
                if other == self._name or seen < time.time() - LEASE or _gone(other)
            )

    def renew(self) -> None:
        """Give a sign of life."""
        self._sign(time.time())

    def leave(self) -> None:
        """Leave what is held to the next engine."""
        self._sign(0.0)

    def _sign(self, seen: float) -> None:
        mine = RunRow.holder == self._name, RunRow.state.in_(OPEN)
        self._database.write(update(RunRow).where(*mine).values(seen=seen))


def _gone(holder: str) -> bool:
    """Whether that engine's process has ended; of another machine's nothing is known."""
    host, process, born, _ = holder.split(" ") if holder else ("", "", "", "")
    if host != socket.gethostname():
        return False
    try:
        return bool(psutil.Process(int(process)).create_time() != float(born))
    except psutil.NoSuchProcess:
        return True
