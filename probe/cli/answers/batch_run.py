"""A file scored as a run for the command line, through the store and the engine."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import typer

from probe.cli.answers.interrupts import INTERRUPTED
from probe.cli.compute import run_to_its_end
from probe.cli.output import end_progress, show_progress
from probe.errors import ExperimentError
from probe.runs.compute.engine import Engine
from probe.runs.experiment import Progress, Result
from probe.runs.owners import COMMAND_LINE
from probe.runs.run import RunRequest, StoredRun
from probe.runs.store import Store
from probe.scoring.assembly import assemble, done_parts
from probe.scoring.files import Places


def score_as_run(
    asked: Callable[[], RunRequest], identity: Mapping[str, str], places: Places
) -> tuple[dict[str, Any], bool]:  # Any: JSON
    """Compute a run and write its files; return the summary, and whether it was interrupted.

    A run of the same that has not ended goes on. Raises StoreError, FileError, ExperimentError with
    the reason where a part fails, and Exit where it was interrupted before any was scored.
    """
    store = Store()
    run = _unfinished(store, identity)
    if run is None:
        run = store.create(COMMAND_LINE, asked())
    else:
        store.reopen(run.id)
        parts = f"{len(done_parts(run))} of {len(run.cells)}"
        typer.echo(f"the run {run.id} has {parts} parts of this file; it goes on", err=True)
    run, stopped = _computed(store, run)
    if run.state == "failed":
        raise ExperimentError(run.error)
    if stopped and not done_parts(run):
        typer.echo("stopped before a part was scored; the same command goes on", err=True)
        raise typer.Exit(INTERRUPTED)
    return assemble(run, places).shape, stopped


def _unfinished(store: Store, identity: Mapping[str, str]) -> StoredRun | None:
    """Return the newest run of the command line that scores the same and has not ended."""
    runs = store.runs(COMMAND_LINE, "scoring")
    same = (run for run in runs if run.artefacts.get("identity") == dict(identity))
    return next((run for run in same if run.state != "done"), None)


def _computed(store: Store, run: StoredRun) -> tuple[StoredRun, bool]:
    began, done = time.monotonic(), {cell.number: 0 for cell in run.cells}
    earlier = sum(result["rows"] for result in run.results)

    def listen(run_id: str, number: int, row: Progress | Result) -> None:
        done[number] = row.values["rows"]
        fresh = sum(done.values())
        speed = fresh / max(time.monotonic() - began, 1e-9)
        show_progress(f"{earlier + fresh}/{run.plan['rows']} rows, {speed:.1f} a second")

    stopped = False
    try:
        run_to_its_end(store, Engine(store, listener=listen), run.id)
    except KeyboardInterrupt:
        stopped = True
    end_progress()
    return store.get(run.id), stopped
