"""What becomes of a run: its model is kept, its outcome named, its state set."""

from collections.abc import Mapping

from finetune.experiments.inoculation.cell import Point
from finetune.experiments.inoculation.plan import BASE, kept_name
from finetune.experiments.inoculation.verdict import conclude, verdict_json
from probe.models.hashes import model_hash
from probe.runs.failures import sentence
from probe.runs.saved_models import put
from probe.runs.store import OPEN, Run, Store


def keep(store: Store, run_id: str, point: Point, files: Mapping[str, bytes]) -> str:
    """Keep the model of the largest size; of several the one with the best original dev.

    To be called before the point is stored. Returns why it could not be kept, or nothing.
    """
    run = store.get(run_id)
    rivals = [other.dev for other in run.points if _largest(run, other)]
    if not files or (run.kept and point.dev < max(rivals, default=0.0)):
        return ""
    name = kept_name(run.plan, run_id)
    try:
        folder = put(files, name)
    except OSError as problem:
        return f"the inoculated model could not be kept: {sentence(problem)}"
    store.keep(run_id, name)
    store.describe(run_id, {"kept": model_hash(folder)})
    return ""


def finish(store: Store, run_id: str) -> None:
    """Judge what there is, if the largest size is among it, and say how the run ended."""
    run = store.get(run_id)
    _judge(store, run)
    errors = [state.error for state in run.cells if state.error]
    if run.cancelling:
        for state in run.cells:
            if state.state in OPEN:
                store.turn(run_id, state.cell, "cancelled")
        store.mark(run_id, "cancelled")
    elif errors:
        store.mark(run_id, "failed", errors[0])
    else:
        store.mark(run_id, "done")


def _judge(store: Store, run: Run) -> None:
    largest = any(_largest(run, point) for point in run.points)
    if largest and any(point.cell == BASE for point in run.points):
        verdict = conclude(run.plan, store.sets(run.id), run.points)
        store.conclude(run.id, verdict_json(verdict))


def _largest(run: Run, point: Point) -> bool:
    return point.cell.size == max(run.plan.sizes)
