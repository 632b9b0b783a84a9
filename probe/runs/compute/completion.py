"""The end of a cell and of a run: a model is kept, the verdict drawn, the state set."""

from probe.models.weights.hashes import model_hash
from probe.runs.compute.failures import sentence
from probe.runs.experiment import Result, experiment_of
from probe.runs.models import save_model_files
from probe.runs.run import Json
from probe.runs.store import Store


def store_content(store: Store, run_id: str, key: Json, result: Result) -> None:
    """Put away what a result has beside its values. To be called before these are stored.

    Raises FileError.
    """
    if result.content:
        run = store.get(run_id)
        experiment_of(run.kind).store_content(run.plan, key, result.content)


def keep_model(store: Store, run_id: str, result: Result) -> str:
    """Keep a result's model where the run's experiment wants it kept.

    To be called before the result is stored. Returns why it could not be kept, or nothing.
    """
    run = store.get(run_id)
    name = experiment_of(run.kind).keep(run, result.values) if result.model else None
    if name is None:
        return ""
    store.set_kept(run_id, name)  # before it is there: a model that is no run's is everybody's
    try:
        folder = save_model_files(result.model, name)
    except OSError as problem:
        store.set_kept(run_id, run.kept)
        return f"the resulting model could not be kept: {sentence(problem)}"
    store.add_artefacts(run_id, {"kept": model_hash(folder)})
    return ""


def finish(store: Store, run_id: str) -> None:
    """Store the verdict, where there are enough results for one, and how the run ended."""
    run = store.get(run_id)
    verdict = experiment_of(run.kind).conclude(run, store.inputs(run_id))
    if verdict is not None:
        store.set_verdict(run_id, verdict)
    errors = [cell.error for cell in run.cells if cell.error]
    if run.cancelling:
        store.cancel_cells(run_id)
        store.set_state(run_id, "cancelled")
    elif errors:
        store.set_state(run_id, "failed", errors[0])
    else:
        store.set_state(run_id, "done")
