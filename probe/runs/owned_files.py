"""What runs keep on the disk beside their rows in the database and their models."""

from probe.runs.access import is_owner
from probe.runs.experiment import EXPERIMENTS
from probe.runs.run import StoredRun
from probe.runs.store import Store


def stored_bytes(run: StoredRun) -> int:
    """Return the bytes that a run keeps; nothing of a kind that is not known."""
    experiment = EXPERIMENTS.get(run.kind)
    return experiment.stored_bytes(run.plan) if experiment else 0


def run_bytes(store: Store, visitor: str) -> int:
    """Return the bytes that all runs of a visitor keep."""
    return sum(map(stored_bytes, store.runs_where(is_owner(visitor), with_cells=False)))
