"""What the endpoints over HTTP that start a run have in common."""

from collections.abc import Callable
from typing import Any

from probe.runs.access import check_kept_models, new_owner, require_for_runs, start_runs
from probe.runs.engine import Engine
from probe.runs.run import RunRequest
from probe.runs.store import Store


def start_for_owner(
    store: Store,
    engine: Engine,
    owner: str,
    model: str,
    request: Callable[[], RunRequest],
    keeps_model: bool = True,
) -> dict[str, Any]:
    """Start the run of a `request` that is made once its owner may use the model.

    Returns its id and its owner's token, a new one where there is none. `keeps_model` says whether
    it may leave a model. Raises a sentence for the person.
    """
    visitor = owner or new_owner()
    require_for_runs(store, visitor, model)
    if keeps_model:
        check_kept_models(store, visitor, 1)
    (run,) = start_runs(store, engine, visitor, [request()])
    return {"run": run.id, "owner": visitor}
