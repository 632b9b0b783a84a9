"""Who may see a run: its owner, and who holds a link that the owner gave.

Reading by a link is all that it allows. What a visitor may not see is answered as what does not
exist, in as much time: nobody learns what is here.
"""

import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, false, func, or_, select
from sqlalchemy.exc import IntegrityError

from probe.errors import UnknownRun
from probe.runs.database.tables import GrantHolderRow, GrantRow, RunRow
from probe.runs.owners import as_token
from probe.runs.run import StoredRun
from probe.runs.store import Store, unknown_run


@dataclass(frozen=True)
class Grant:
    """A link to a run, given by its owner; `holders` counts the visitors who opened it."""

    id: str
    run: str
    created: float
    holders: int


def is_owner(visitor: str) -> ColumnElement[bool]:
    """Return the condition of the runs that are a visitor's own; without a token none are."""
    token = as_token(visitor)
    return RunRow.owner == token if token else false()


def granted_runs(visitor: str) -> Select[Any]:  # Any: as of SQLAlchemy
    """Return the query of the runs whose links a visitor has opened."""
    held = GrantHolderRow.grant == GrantRow.id, GrantHolderRow.visitor == as_token(visitor)
    return select(GrantRow.run).join(GrantHolderRow, held[0]).where(held[1])


def own_run(store: Store, visitor: str, run_id: str) -> StoredRun:
    """Return a visitor's own run. Raises UnknownRun."""
    return _run_where(store, run_id, is_owner(visitor))


def readable_run(store: Store, visitor: str, run_id: str) -> StoredRun:
    """Return a run that is a visitor's own or behind a link that they opened. Raises UnknownRun."""
    return _run_where(store, run_id, _readable(visitor))


def readable_runs(store: Store, visitor: str, kind: str) -> tuple[StoredRun, ...]:
    """Return the runs of a kind that a visitor may read, newest first, without their cells."""
    return store.runs_where(_readable(visitor), RunRow.kind == kind, with_cells=False)


def chosen_runs(store: Store, visitor: str, ids: Sequence[str]) -> list[StoredRun]:
    """Return the runs that a visitor may read, in the order of the ids; others are passed over."""
    runs = {run.id: run for run in store.runs_where(_readable(visitor), RunRow.id.in_(ids))}
    return [runs[run_id] for run_id in dict.fromkeys(ids) if run_id in runs]


def _readable(visitor: str) -> ColumnElement[bool]:
    return or_(is_owner(visitor), RunRow.id.in_(granted_runs(visitor)))


def _run_where(store: Store, run_id: str, allowed: ColumnElement[bool]) -> StoredRun:
    with store.database.session() as session:
        known = session.scalar(select(RunRow.id).where(RunRow.id == run_id, allowed))
    if known is None:
        raise unknown_run(run_id)
    return store.get(run_id)


def share(store: Store, visitor: str, run_id: str) -> str:
    """Return the grant by which others may read an own run, one for each run. Raises UnknownRun."""
    own_run(store, visitor, run_id)
    given = next((grant.id for grant in grants(store, visitor) if grant.run == run_id), None)
    if given is not None:
        return given
    grant = secrets.token_urlsafe(16)
    with store.database.writing() as session:
        session.add(GrantRow(id=grant, run=run_id, owner=visitor, created=time.time()))
    return grant


def redeem(store: Store, visitor: str, grant: str) -> str:
    """Let a visitor read the run of a link from now on; return its id. Raises UnknownRun."""
    with store.database.session() as session:
        row = session.get(GrantRow, grant)
    if row is None or not as_token(visitor):
        raise UnknownRun("there is no run behind this link")
    if row.owner != visitor:
        # another page of the same visitor may be quicker
        with suppress(IntegrityError), store.database.writing() as session:
            session.merge(GrantHolderRow(grant=grant, visitor=visitor))
    return row.run


def grants(store: Store, visitor: str) -> tuple[Grant, ...]:
    """Return the links that a visitor gave, newest first."""
    holders = select(func.count()).where(GrantHolderRow.grant == GrantRow.id).scalar_subquery()
    rows = select(GrantRow.id, GrantRow.run, GrantRow.created, holders)
    own = rows.where(GrantRow.owner == as_token(visitor)).order_by(GrantRow.created.desc())
    with store.database.session() as session:
        return tuple(Grant(*row) for row in session.execute(own))


def revoke(store: Store, visitor: str, grant: str) -> None:
    """Take a link back: who opened it reads the run no longer. Raises UnknownRun."""
    if grant not in {given.id for given in grants(store, visitor)}:
        raise UnknownRun("there is no run behind this link")
    _delete_grants(store, GrantRow.id == grant)


def revoke_all(store: Store, run_id: str) -> None:
    """Take all links to a run back."""
    _delete_grants(store, GrantRow.run == run_id)


def _delete_grants(store: Store, which: ColumnElement[bool]) -> None:
    ids = select(GrantRow.id).where(which)
    store.database.write(
        delete(GrantHolderRow).where(GrantHolderRow.grant.in_(ids)),
        delete(GrantRow).where(which),
    )


def forget_opened_links(store: Store, visitor: str) -> None:
    """Forget which links a visitor has opened."""
    opened = GrantHolderRow.visitor == as_token(visitor)
    store.database.write(delete(GrantHolderRow).where(opened))
