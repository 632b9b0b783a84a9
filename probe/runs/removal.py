"""Runs that go: those that their owner deletes, and ended ones that have been kept long enough.

A deleted run belongs to nobody at once. One that is still going is cancelled first, and its rows
and its model are removed once it has ended, by whichever app looks next.
"""

import time

from sqlalchemy import delete, update

from probe.runs.access import own_run, revoke_all
from probe.runs.compute.engine import Engine
from probe.runs.database.tables import CellRow, RunRow
from probe.runs.experiment import EXPERIMENTS
from probe.runs.models import remove_model_files
from probe.runs.owners import COMMAND_LINE, DAY
from probe.runs.run import OPEN, StoredRun, ended
from probe.runs.store import Store
from probe.settings import settings

NOBODY = "nobody"
"""The owner of deleted runs."""


def delete_run(store: Store, engine: Engine, visitor: str, run_id: str) -> None:
    """Delete a visitor's own run with its cells, its model and its links. Raises UnknownRun."""
    discard_run(store, engine, own_run(store, visitor, run_id))


def discard_run(store: Store, engine: Engine, run: StoredRun) -> None:
    """Delete a run, whosever it is: for who runs the app."""
    revoke_all(store, run.id)
    store.database.write(update(RunRow).where(RunRow.id == run.id).values(owner=NOBODY))
    if ended(run):
        _remove(store, run)
    else:
        engine.cancel(run.id)


def delete_model(store: Store, visitor: str, run_id: str) -> None:
    """Delete the model of a visitor's own run; the run stays. Raises UnknownRun."""
    if name := own_run(store, visitor, run_id).kept:
        remove_model_files(name)
        store.set_kept(run_id, "")


def remove_old_runs(store: Store) -> None:
    """Remove deleted runs that have ended, and visitors' runs that ended NLI_CLINIC_KEEP_DAYS ago.

    The runs of the command line stay.
    """
    is_over = RunRow.state.not_in(OPEN)
    going = [store.runs_where(is_over, RunRow.owner == NOBODY, with_cells=False)]
    if days := settings().keep_days:
        before = time.time() - days * DAY
        old = RunRow.finished < before, RunRow.finished > 0, RunRow.owner != COMMAND_LINE
        going.append(store.runs_where(is_over, *old, with_cells=False))
    for runs in going:
        for run in runs:
            revoke_all(store, run.id)
            _remove(store, run)
    if days:
        _sweep(store, before)


def _sweep(store: Store, before: float) -> None:
    """Remove what was put away for runs that were never stored, since an app ended in between."""
    for experiment in EXPERIMENTS.values():
        if experiment.sweep:
            runs = store.runs_where(RunRow.kind == experiment.kind, with_cells=False)
            experiment.sweep([run.plan for run in runs], before)


def _remove(store: Store, run: StoredRun) -> None:
    """Remove a run: the model first, since one that is no run's is everybody's."""
    if run.kept:
        remove_model_files(run.kept)
    if experiment := EXPERIMENTS.get(run.kind):
        experiment.remove(run.plan)
    store.database.write(
        delete(CellRow).where(CellRow.run == run.id), delete(RunRow).where(RunRow.id == run.id)
    )
