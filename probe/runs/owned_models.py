"""The models that are kept of a visitor's runs: how many there are and what they take."""

from sqlalchemy import func, or_, select

from probe.limits import check
from probe.runs.access import is_owner
from probe.runs.database.tables import RunRow
from probe.runs.run import OPEN
from probe.runs.store import Store
from probe.settings import settings


def check_kept_models(store: Store, visitor: str, more: int) -> None:
    """Refuse runs that would keep more models than a visitor may have. Raises LimitError.

    A run that is still going counts as one that keeps its model.
    """
    keeps = or_(RunRow.kept != "", RunRow.state.in_(OPEN))
    with store.database.session() as session:
        kept = session.scalar(select(func.count()).where(is_owner(visitor), keeps)) or 0
    check("max_kept_models", kept + more)


def model_bytes(store: Store, visitor: str) -> int:
    """Return how many bytes the models of a visitor's runs take."""
    with store.database.session() as session:
        names = session.scalars(select(RunRow.kept).where(is_owner(visitor), RunRow.kept != ""))
        return sum(kept_bytes(name) for name in names)


def kept_bytes(name: str) -> int:
    """Return how many bytes a kept model takes, 0 where it is not there."""
    files = (settings().home / "models" / name).glob("*")
    return sum(path.stat().st_size for path in files)
