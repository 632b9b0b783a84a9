"""A run computed for the command line: through the store and the engine, as the page does it."""

import time
from collections.abc import Callable, Iterable, Mapping

import typer

from probe.cli.output import stopped_by_interrupt
from probe.errors import ExperimentError, Stopped
from probe.runs.access import COMMAND_LINE
from probe.runs.engine import Engine
from probe.runs.experiment import Progress, Result
from probe.runs.run import OPEN, Json, RunRequest, StoredRun
from probe.runs.store import Store, is_current, renewed_of, renewed_words
from probe.stopping import check_stop

POLL_SECONDS = 0.1
"""Seconds between two looks whether the run has ended."""

RowText = Callable[[Json, Progress | Result], str]
"""Writes a row of the cell with a key as one line."""
Known = Callable[[Iterable[StoredRun]], Mapping[int, Json]]
"""Returns by the numbers of their cells what earlier runs of the same kind came to."""


def compute_run(
    request: RunRequest,
    known: Known,
    row_text: RowText,
    in_process: bool,
    on_result: Callable[[StoredRun], object] | None = None,
) -> StoredRun:
    """Compute a run and print its rows as they come; cells of earlier runs are taken over.

    `on_result` takes the run after each of its results. Interrupted, the run is cancelled. Raises
    StoreError, and ExperimentError with the reason where a cell fails.
    """
    store = Store()
    runs = store.runs(kind=request.kind)
    results = known([run for run in runs if is_current(run)])
    if words := renewed_words(len(known(runs).keys() - results.keys())):
        typer.echo(f"note: {words}")
    created = store.create(COMMAND_LINE, request, results)
    for cell in created.cells:
        if cell.result is not None:
            typer.echo(f"{row_text(cell.key, Result(cell.result))}  (from an earlier call)")

    def listen(run_id: str, number: int, row: Progress | Result) -> None:
        if isinstance(row, Progress) and "texts" in row.values:
            return  # they are counted between two rows of the cell's own
        typer.echo(row_text(created.cells[number].key, row))
        if isinstance(row, Result) and on_result is not None:
            on_result(store.get(run_id))

    engine = Engine(store, in_process=in_process, listener=listen)
    try:
        run = run_to_its_end(store, engine, created.id)
    except KeyboardInterrupt:
        typer.echo("stopped; the same command goes on with the cells that are done", err=True)
        raise
    if run.state == "failed":
        raise ExperimentError(run.error)
    return run


def run_to_its_end(store: Store, engine: Engine, run_id: str) -> StoredRun:
    """Wait for a run to end, and say what it waits for meanwhile.

    Interrupted, the run is cancelled, and KeyboardInterrupt raised.
    """
    before = "", ""
    try:
        with stopped_by_interrupt():
            engine.submit(run_id)
            while (run := store.get(run_id, with_cells=False)).state in OPEN:
                told = renewed_of(run), run.error
                for words in told:
                    if words and words not in before:
                        typer.echo(f"note: {words}")
                before = told
                time.sleep(POLL_SECONDS)
                check_stop()
    except (KeyboardInterrupt, Stopped) as interrupted:
        engine.close()
        store.set_state(run_id, "cancelled")
        raise KeyboardInterrupt from interrupted
    engine.close()
    return store.get(run_id)
