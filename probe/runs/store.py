"""The run store: what was asked, how far it is, what came of it. Only this module writes it."""

import secrets
import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NoReturn

from sqlalchemy import ColumnElement, insert, or_, select, update

from probe.errors import UnknownRun
from probe.runs.database import CellRow, Database, RunRow
from probe.runs.experiment import current_verdict, experiment_of
from probe.runs.run import OPEN, STOPPED, AnyRun, Json, Run, RunCell, RunRequest, State, StoredRun
from probe.settings import settings

StoredCell = RunCell[Json, Json, Json]
STATES: dict[str, State] = {state: state for state in (*OPEN, "done", *STOPPED)}
IS_OPEN = RunRow.state.in_(OPEN)
"""The condition of the runs that are neither done, cancelled nor failed."""
QUEUED: Json = {"state": "queued", "error": "", "progress": {}}
"""The values of a cell that waits."""
WAITS = "what is computed waits in memory and is stored as soon as that ends"


class Store:
    """The database of runs, safe to use from several threads.

    SQLite in the app's own folder; another database by URL, given or in NLI_CLINIC_DATABASE.
    A cell has one row, made with its run: storing it again changes that row. All that reads or
    writes raises StoreError where the database is full, locked or out of reach.
    """

    def __init__(self, url: str | None = None, patience: float = 5.0) -> None:
        """Open the database, and make its tables where they are missing.

        A write waits `patience` seconds for another program's lock.
        """
        self.database = Database(url or settings().database, patience)

    def create(
        self, owner: str, request: RunRequest, results: Mapping[int, Json] | None = None
    ) -> StoredRun:
        """Store a new run, queued, with all its cells; those with a result are done already.

        `results` are by the numbers of their cells. The engine adds the model's hash when it takes
        the run up. Raises ExperimentError for an unknown kind.
        """
        run_id, known, experiment = secrets.token_hex(6), results or {}, experiment_of(request.kind)
        cells: list[Json] = [
            {
                "run": run_id,
                "number": number,
                "key": key,
                "state": "done" if number in known else "queued",
                "result": known.get(number, {}),
            }
            for number, key in enumerate(experiment.cells(request.plan))
        ]
        asked = {**vars(request), "artefacts": {**request.artefacts, "form": experiment.form}}
        del asked["seconds"]
        run = RunRow(id=run_id, owner=owner, state="queued", created=time.time(), **asked)
        with self.database.writing() as session:
            session.add(run)
            session.flush()
            if cells:
                session.execute(insert(CellRow), cells)
        return self.get(run_id)

    def get(self, run_id: str, *where: ColumnElement[bool], with_cells: bool = True) -> StoredRun:
        """Return a run that fits all conditions. Raises UnknownRun for none."""
        found = self.runs_where(RunRow.id == run_id, *where, with_cells=with_cells)
        return found[0] if found else _unknown(run_id)

    def runs(self, owner: str | None = None, kind: str | None = None) -> tuple[StoredRun, ...]:
        """Return the runs, newest first: of one owner or all, of one kind or all."""
        wanted = ((RunRow.owner, owner), (RunRow.kind, kind))
        return self.runs_where(*(column == value for column, value in wanted if value is not None))

    def runs_where(
        self, *where: ColumnElement[bool], with_cells: bool = True
    ) -> tuple[StoredRun, ...]:
        """Return the runs that fit all conditions, newest first; without cells it is quicker.

        An open one tells of the database's trouble, which that cannot store.
        """
        query = select(RunRow).where(*where).order_by(RunRow.created.desc())
        columns = (
            CellRow.run, CellRow.number, CellRow.key, CellRow.state,
            CellRow.progress, CellRow.result, CellRow.error,
        )  # fmt: skip
        of_runs = CellRow.run.in_(select(RunRow.id).where(*where))
        of_cells = select(*columns).where(of_runs).order_by(CellRow.run, CellRow.number)
        cells: defaultdict[str, list[StoredCell]] = defaultdict(list)
        with self.database.session() as session:
            rows = session.scalars(query).all()
            # as they are: to make objects of the rows of cells takes as long again
            for run, number, key, state, progress, result, error in (
                session.execute(of_cells) if with_cells else ()
            ):
                cell = RunCell(number, key, STATES[state], progress or None, result or None, error)
                cells[run].append(cell)
            trouble = f"{self.database.trouble}; {WAITS}" if self.database.trouble else ""
            return tuple(
                Run(
                    row.id, row.kind, row.owner, row.plan, STATES[row.state], row.cancelling,
                    (row.state in OPEN and trouble) or row.error,
                    row.created, row.started, row.finished,
                    current_verdict(
                        row.kind, row.plan, row.artefacts, row.verdict,
                        [(cell.key, cell.result) for cell in cells[row.id]],
                    ),
                    row.environment, row.kept, tuple(cells[row.id]), row.artefacts,
                )
                for row in rows
            )  # fmt: skip

    def ids(self, *where: ColumnElement[bool]) -> tuple[str, ...]:
        """Return the ids of the runs that fit all conditions, oldest first."""
        query = select(RunRow.id).where(*where).order_by(RunRow.created)
        with self.database.session() as session:
            return tuple(session.scalars(query))

    def inputs(self, run_id: str) -> Json:
        """Return what a run works on. Raises UnknownRun where there is no run."""
        with self.database.session() as session:
            inputs = session.scalar(select(RunRow.inputs).where(RunRow.id == run_id))
        return _unknown(run_id) if inputs is None else inputs

    def set_state(self, run_id: str, state: State, error: str = "") -> None:
        """Set the state of an open run; an ended one keeps its state, a running one its start."""
        when, before = ("started", OPEN[:1]) if state == "running" else ("finished", OPEN)
        times = {when: time.time()}
        self.update(run_id, RunRow.state.in_(before), state=state, error=error, **times)

    def requeue(self, run_id: str, error: str) -> None:
        """Put an open run back into the queue, and say what it waits for, "" for its turn."""
        self.update(run_id, IS_OPEN, state="queued", started=0.0, error=error)

    def reopen(self, run_id: str) -> None:
        """Queue what a failed or cancelled run lacks; any other run stays as it is."""
        ended = RunRow.id == run_id, RunRow.state.in_(STOPPED)
        lacking = or_(CellRow.state.in_(STOPPED), CellRow.error != "")
        run = select(RunRow.id).where(*ended).scalar_subquery()
        self.database.write(
            update(CellRow).where(CellRow.run == run, lacking).values(**QUEUED),
            update(RunRow)
            .where(*ended)
            .values(state="queued", error="", cancelling=False, started=0.0, finished=0.0),
        )

    def request_cancel(self, run_id: str) -> None:
        """Note that somebody wants the run to stop, so that a restart does not resume it."""
        self.update(run_id, cancelling=True)

    def set_kept(self, run_id: str, name: str) -> None:
        """Store under which name a run's model is kept."""
        self.update(run_id, kept=name)

    def add_artefacts(self, run_id: str, artefacts: Json) -> None:
        """Add to the facts of a run, several at once where need be; None takes one away."""
        row = RunRow.id == run_id
        with self.database.writing() as session:
            # takes the row, so that nobody adds in between
            session.execute(update(RunRow).where(row).values(state=RunRow.state))
            known = session.scalar(select(RunRow.artefacts).where(row)) or {}
            added = {name: value for name, value in artefacts.items() if value is not None}
            kept = {name: value for name, value in known.items() if name not in artefacts}
            session.execute(update(RunRow).where(row).values(artefacts={**kept, **added}))

    def set_cell(self, run_id: str, number: int, state: State, **values: object) -> None:
        """Set the state of a cell and what else there is; one that starts has no progress yet.

        What comes late about a cell that is done is not news.
        """
        known = {"error": "", **({"progress": {}} if state in OPEN else {}), **values}
        own = CellRow.number == number, CellRow.state != "done"
        self.update_cells(run_id, *own, state=state, **known)

    def set_result(self, run_id: str, number: int, result: Json, error: str = "") -> None:
        """Store what a cell came to, and why its model could not be kept."""
        self.set_cell(run_id, number, "done", result=result, error=error)

    def queue_cells(self, run_id: str) -> None:
        """Queue the cells of a run that have not ended, without their progress."""
        self.update_cells(run_id, CellRow.state.in_(OPEN), **QUEUED)

    def cancel_cells(self, run_id: str, but: Collection[int] = ()) -> None:
        """Cancel the cells of a run that have not ended, `but` those of these numbers."""
        which = CellRow.state.in_(OPEN), CellRow.number.not_in(but)
        self.update_cells(run_id, *which, state="cancelled")

    def update(self, run_id: str, *where: ColumnElement[bool], **values: object) -> None:
        """Change a run's row where it fits all conditions."""
        self.database.write(update(RunRow).where(RunRow.id == run_id, *where).values(**values))

    def update_cells(self, run_id: str, *where: ColumnElement[bool], **values: object) -> None:
        """Change those of a run's cells that fit all conditions."""
        self.database.write(update(CellRow).where(CellRow.run == run_id, *where).values(**values))


def _unknown(run_id: str) -> NoReturn:
    """Say that a run is not there, or not for who asks."""
    raise UnknownRun(f"there is no run {run_id!r}")


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
    artefacts = {**run.artefacts, "form": form, "renewed": len(run.results)}
    done = CellRow.run == run.id, CellRow.state == "done"
    store.database.write(
        update(CellRow).where(*done).values(**QUEUED, result={}),
        update(RunRow).where(RunRow.id == run.id).values(artefacts=artefacts),
    )
    return store.get(run.id)


def renewed_words(count: int) -> str:
    """Say how many parts are computed again, "" for none."""
    s, are = ("", "is") if count == 1 else ("s", "are")
    words = f"{count} part{s} that an earlier version of this program computed {are} computed again"
    return words if count else ""


def renewed_of(run: AnyRun) -> str:
    """Say how many parts of a run are computed again, or were; "" for none."""
    return renewed_words(run.artefacts.get("renewed", 0))
