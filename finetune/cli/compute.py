"""A run computed for the command line: through the store and the engine, as the page does it."""

import time
from collections.abc import Callable

import typer

from finetune.experiments.inoculation.datasets import Sets
from finetune.experiments.inoculation.plan import Plan, cells
from finetune.experiments.inoculation.point import Epoch, Point
from finetune.experiments.inoculation.run import (
    KIND,
    InoculationRun,
    inoculation_run,
    known_results,
    run_request,
)
from finetune.experiments.inoculation.serialise import epoch_from, point_from
from finetune.report.progress import row_text
from probe.errors import ExperimentError
from probe.runs.compute.engine import Engine
from probe.runs.environment import environment
from probe.runs.experiment import Progress, Result
from probe.runs.models import named_model_hash
from probe.runs.owners import COMMAND_LINE
from probe.runs.run import OPEN, Json, StoredRun
from probe.runs.store import Store

POLL_SECONDS = 0.1
"""Seconds between two looks whether the run has ended."""


def compute_run(
    plan: Plan,
    sets: Sets,
    sources: Json,
    in_process: bool,
    on_result: Callable[[InoculationRun], None] | None = None,
) -> InoculationRun:
    """Compute a run and print its rows as they come; cells of earlier runs are taken over.

    `on_result` takes the run after each of its points. Interrupted, the run is cancelled. Raises
    ModelError, StoreError, and ExperimentError with the reason where a cell fails.
    """
    store = Store()
    request = run_request(plan, sets, environment(), {"model": named_model_hash(plan.model)})
    if sources:
        request.artefacts["sources"] = sources
    known = known_results(store.runs(kind=KIND), plan, request.artefacts)
    created = store.create(COMMAND_LINE, request, known)
    for point in inoculation_run(created).results:
        typer.echo(f"{row_text(point)}  (from an earlier call)")

    def listen(run_id: str, number: int, row: Progress | Result) -> None:
        typer.echo(row_text(_typed_row(plan, number, row)))
        if isinstance(row, Result) and on_result is not None:
            on_result(inoculation_run(store.get(run_id)))

    run = _run_to_its_end(store, Engine(store, in_process=in_process, listener=listen), created.id)
    if run.state == "failed":
        raise ExperimentError(run.error)
    return inoculation_run(run)


def _typed_row(plan: Plan, number: int, row: Progress | Result) -> Epoch | Point:
    key = vars(cells(plan)[number])
    return point_from(key, row.values) if isinstance(row, Result) else epoch_from(key, row.values)


def _run_to_its_end(store: Store, engine: Engine, run_id: str) -> StoredRun:
    """Wait for a run to end, and say what it waits for meanwhile."""
    trouble = ""
    try:
        engine.submit(run_id)
        while (run := store.get(run_id)).state in OPEN:
            if run.error != trouble and run.error:
                typer.echo(f"note: {run.error}")
            trouble = run.error
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        engine.close()
        store.set_state(run_id, "cancelled")
        raise
    engine.close()
    return run
