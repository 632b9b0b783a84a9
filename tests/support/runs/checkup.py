"""A finished check-up of made-up figures in a store."""

from collections.abc import Sequence

from probe.checkup.experiment import run_request
from probe.checkup.measuring import Asked, Figure, Group, Plan, figure_json, figure_of
from probe.runs.run import StoredRun
from probe.runs.store import Store
from probe.statistics import share
from tests.support.models.tiny_bert import tiny_pairs

N = 100


def scored(
    name: str, group: Group, right: int, *, more: bool = True, n: int = N, title: str = ""
) -> Figure:
    """Return a figure with so many right of n, those first."""
    rows = [at < right for at in range(n)]
    return figure_of(name, title or name.capitalize(), group, share(rows), rows, more)


def finished(
    store: Store, owner: str, parts: Sequence[Sequence[Figure]], model: str = "da"
) -> StoredRun:
    """Store a check-up whose parts came to these figures; an empty part is not measured yet."""
    plan = Plan(model, "nli", tuple(f"part {at}" for at in range(len(parts))), Asked(n=N))
    run = store.create(owner, run_request(plan, tiny_pairs(24)))
    store.set_state(run.id, "running")
    for at, figures in enumerate(parts):
        if figures:
            values = {"figures": [figure_json(each) for each in figures]}
            store.set_result(run.id, at, {**values, "revision": None, "seconds": 1.0})
    if all(parts):
        store.set_state(run.id, "done")
    return store.get(run.id)
