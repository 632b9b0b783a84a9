"""Results of another form, which a version of this program computed that gave less or otherwise.

An experiment counts the forms that its results have had. A run keeps the one that it was begun
with; those of before there were several keep none, and have the first.
"""

from probe.runs.experiment import experiment_of
from probe.runs.run import AnyRun, StoredRun
from probe.runs.store import Store

RENEWED = "{count} part{s} that an earlier version of this program computed {are} computed again"


def is_current(run: StoredRun) -> bool:
    """Whether the results of a run are of the form that they have now. Raises ExperimentError."""
    return bool(run.artefacts.get("form", 1) == experiment_of(run.kind).form)


def renew(store: Store, run: StoredRun) -> StoredRun:
    """Queue what an open run has in another form, and note how much that is; return the run.

    Raises ExperimentError, StoreError.
    """
    if is_current(run):
        return run
    form = experiment_of(run.kind).form
    store.discard_results(run.id, {"form": form, "renewed": len(run.results)})
    return store.get(run.id)


def renewed_words(count: int) -> str:
    """Say how many parts are computed again, "" for none."""
    several = count != 1
    s, are = ("s", "are") if several else ("", "is")
    return RENEWED.format(count=count, s=s, are=are) if count else ""


def renewed_of(run: AnyRun) -> str:
    """Say how many parts of a run are computed again, or were; "" for none."""
    return renewed_words(run.artefacts.get("renewed", 0))
