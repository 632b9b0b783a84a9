"""The worker's side of a run: one cell, told to stop and telling how far it is over dask.

Imported by a spawned process, so it stays clear of gradio and of the run store.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from distributed import Event, Variable, Worker, WorkerPlugin, get_worker

from finetune.experiments.inoculation.cell import Cancelled, Epoch, Point, fresh, run_cell
from finetune.experiments.inoculation.plan import Cell, Plan
from finetune.experiments.inoculation.sets import Sets
from finetune.training.checkpoints import save_model
from probe.errors import ModelError
from probe.models.classifier import Classifier
from probe.models.hashes import model_hash
from probe.models.library import load, place
from probe.runs.serialise import sets_from

EVERY = 0.5
"""Seconds between two questions whether to stop, and between two reports."""


class LowPriority(WorkerPlugin):
    """Makes a worker give way to the app that it shares a machine with."""

    name = "low-priority"

    def setup(self, worker: Worker) -> None:
        """Lower the priority of the worker's process and keep torch to one thread."""
        import torch  # after OMP_NUM_THREADS and OMP_WAIT_POLICY are set

        torch.set_num_threads(1)
        if hasattr(os, "nice"):  # not on Windows
            os.nice(10)


@dataclass(frozen=True)
class Computed:
    """A cell's point, and the files of its model where that may be kept."""

    point: Point
    files: dict[str, bytes] = field(default_factory=dict)


def variable(run_id: str) -> str:
    """Return the name under which the scheduler holds a run's sets, as JSON text."""
    return f"sets-{run_id}"


def compute(
    run_id: str, plan: Plan, model: str, cell: Cell, topic: str, stop_event: str
) -> Computed | None:
    """Run a cell on a worker and return its point, None where it was stopped.

    `model` is the hash of the plan's model, `topic` takes the reports, `stop_event` names the
    event that stops it. Raises ModelError, or whatever goes wrong in torch.
    """
    stop, tell = _ask(stop_event), _teller(topic, run_id)
    if stop():
        return None
    tell(cell)
    classifier, sets = fresh(pristine(plan.model, model)), _sets(run_id)
    try:
        for row in run_cell(plan, sets, cell, classifier, stop):
            if isinstance(row, Point):
                last = cell.size == max(plan.sizes)
                return Computed(row, _files(classifier) if last else {})
            tell(row)
    except Cancelled:
        pass
    return None


@lru_cache(maxsize=1)
def pristine(model: str, expected: str) -> Classifier:
    """Load a model once for all runs that begin with it. Raises ModelError for another one."""
    if model_hash(place(model)[0]) != expected:
        raise ModelError(f"the model {model!r} where this was computed is not the app's")
    return load(model)


@lru_cache(maxsize=1)
def _sets(run_id: str) -> Sets:
    return sets_from(json.loads(Variable(variable(run_id)).get(timeout=60)))


def _ask(stop_event: str) -> Callable[[], bool]:
    event, asked = Event(stop_event), 0.0

    def stop() -> bool:
        nonlocal asked
        if time.monotonic() - asked < EVERY:
            return False
        asked = time.monotonic()
        return bool(event.is_set())

    return stop


def _teller(topic: str, run_id: str) -> Callable[[Cell | Epoch], None]:
    worker, told = get_worker(), 0.0

    def tell(news: Cell | Epoch) -> None:
        nonlocal told
        if isinstance(news, Epoch) and time.monotonic() - told < EVERY:
            return
        told = time.monotonic() if isinstance(news, Epoch) else 0.0
        worker.log_event(topic, {"run": run_id, type(news).__name__.lower(): asdict(news)})

    return tell


def _files(classifier: Classifier) -> dict[str, bytes]:
    """Return the model's files by name: the worker may lie on another machine than the app."""
    with TemporaryDirectory() as folder:
        save_model(classifier, Path(folder))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}
