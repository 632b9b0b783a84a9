"""Who computes a run: of several apps on one database only one, and another when that one dies."""

import os
import secrets
import socket
import time

import psutil  # type: ignore[import-untyped]  # has no types
from sqlalchemy import or_, select, update

from probe.runs.database.connection import Database
from probe.runs.database.tables import RunRow
from probe.runs.run import OPEN

LEASE_SECONDS = 30.0
"""Seconds without a renewal after which anybody may take a run."""


class Lease:
    """The runs that one engine holds. Raises StoreError where the database cannot be used."""

    def __init__(self, database: Database) -> None:
        """Hold nothing yet, under a name of machine, process, when that began, and chance."""
        born = psutil.Process().create_time()
        self._name = f"{socket.gethostname()} {os.getpid()} {born} {secrets.token_hex(4)}"
        self._database = database

    def acquire(self, run_id: str) -> bool:
        """Hold a run; False where another engine does that lives."""
        with self._database.session() as session:
            holder = session.scalar(select(RunRow.holder).where(RunRow.id == run_id)) or ""
        free = ["", self._name, *([holder] if _has_ended(holder) else [])]
        expired = RunRow.seen < time.time() - LEASE_SECONDS
        query = update(RunRow).where(RunRow.id == run_id, or_(RunRow.holder.in_(free), expired))
        return self._database.write(query.values(holder=self._name, seen=time.time())) == 1

    def available(self) -> tuple[str, ...]:
        """Return the open runs that this engine holds, or one that has ended or gone silent.

        Also those that nobody began to compute: their app ended too early.
        """
        silent = time.time() - LEASE_SECONDS
        columns = RunRow.id, RunRow.holder, RunRow.seen, RunRow.created
        with self._database.session() as session:
            rows = session.execute(select(*columns).where(RunRow.state.in_(OPEN))).all()
        return tuple(
            run_id
            for run_id, holder, seen, created in rows
            if holder == self._name or (seen if holder else created) < silent or _has_ended(holder)
        )

    def held(self) -> frozenset[str]:
        """Return the open runs that this engine holds."""
        mine = RunRow.state.in_(OPEN), RunRow.holder == self._name
        with self._database.session() as session:
            return frozenset(session.scalars(select(RunRow.id).where(*mine)))

    def renew(self) -> None:
        """Note that this engine lives."""
        self._set_seen(time.time())

    def release(self) -> None:
        """Leave what is held to the next engine."""
        self._set_seen(0.0)

    def _set_seen(self, seen: float) -> None:
        mine = RunRow.holder == self._name, RunRow.state.in_(OPEN)
        self._database.write(update(RunRow).where(*mine).values(seen=seen))


def _has_ended(holder: str) -> bool:
    """Whether that engine's process has ended; of another machine's nothing is known."""
    host, process, born, _ = holder.split(" ") if holder else ("", "", "", "")
    if host != socket.gethostname():
        return False
    try:
        return bool(psutil.Process(int(process)).create_time() != float(born))
    except psutil.NoSuchProcess:
        return True
