"""The run store: what was asked, how far it is, what came of it. Only this module writes it."""

import secrets
import time
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sqlalchemy import or_, select, update
from sqlalchemy.orm import selectinload

from finetune.experiments.inoculation.cell import Epoch, Point
from finetune.experiments.inoculation.plan import Cell, Plan, cells
from finetune.experiments.inoculation.sets import Sets
from probe.errors import UnknownRun
from probe.models.hashes import sets_facts
from probe.runs.database import Database
from probe.runs.serialise import Json, epoch_from, plan_from, point_from, sets_from
from probe.runs.tables import CellRow, RunRow
from probe.settings import settings

State = Literal["queued", "running", "done", "cancelled", "failed"]
OPEN: tuple[State, ...] = ("queued", "running")
STOPPED: tuple[State, ...] = ("cancelled", "failed")
WAITS = "what is computed waits in memory and is stored as soon as that ends"


@dataclass(frozen=True)
class CellState:
    """A cell of a run: its latest epoch while it runs, its point once it is done.

    `error` of one that is done says why its model could not be kept.
    """

    cell: Cell
    state: State
    epoch: Epoch | None
    point: Point | None
    error: str


@dataclass(frozen=True)
class Run:
    """A run with its cells, smallest size first. Times are seconds since 1970, 0 for not yet.

    `verdict` and `environment` are as stored; `kept` names the inoculated model in the catalogue.
    `error` of an open run says what it waits for. `artefacts` are hashes: of the `model`, the
    `sets` (with their sizes) and the model `kept`.
    """

    id: str
    owner: str
    plan: Plan
    state: State
    cancelling: bool
    error: str
    created: float
    started: float
    finished: float
    verdict: Json
    environment: Json
    kept: str
    cells: tuple[CellState, ...]
    artefacts: Json = field(default_factory=dict)

    @property
    def points(self) -> tuple[Point, ...]:
        """The points that are there."""
        return tuple(state.point for state in self.cells if state.point)


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
        self, owner: str, plan: Plan, sets: Sets, environment: Json, artefacts: Json | None = None
    ) -> Run:
        """Store a new run, queued, with all its cells; the sets' hashes are added to `artefacts`.

        The engine adds the model's when it takes the run up.
        """
        run_id = secrets.token_hex(6)
        rows = [
            CellRow(run=run_id, number=number, **asdict(cell))
            for number, cell in enumerate(cells(plan))
        ]
        run = RunRow(
            id=run_id, owner=owner, plan=asdict(plan), sets=asdict(sets), state="queued",
            created=time.time(), environment=environment,
            artefacts={**(artefacts or {}), "sets": sets_facts(sets)},
        )  # fmt: skip
        with self.database.writing() as session:
            session.add(run)
            session.flush()
            session.add_all(rows)
        return self.get(run_id)

    def get(self, run_id: str) -> Run:
        """Return a run with its cells. Raises UnknownRun where there is none."""
        with self.database.session() as session:
            row = session.get(RunRow, run_id, options=[selectinload(RunRow.cells)])
            if row is None:
                raise UnknownRun(f"there is no run {run_id!r}")
            return self._as_run(row)

    def runs(self, owner: str | None = None) -> tuple[Run, ...]:
        """Return the runs, newest first: of one owner, or all."""
        return self._runs(*([] if owner is None else [RunRow.owner == owner]))

    def unfinished(self) -> tuple[Run, ...]:
        """Return the runs that are neither done, cancelled nor failed, oldest first."""
        return self._runs(RunRow.state.in_(OPEN))[::-1]

    def sets(self, run_id: str) -> Sets:
        """Return the pairs a run works on. Raises UnknownRun where there is no run."""
        with self.database.session() as session:
            found = session.scalar(select(RunRow.sets).where(RunRow.id == run_id))
        if found is None:
            raise UnknownRun(f"there is no run {run_id!r}")
        return sets_from(found)

    def mark(self, run_id: str, state: State, error: str = "") -> None:
        """Set the state of an open run; an ended one keeps its state, a running one its start."""
        when, before = ("started", OPEN[:1]) if state == "running" else ("finished", OPEN)
        fresh = {when: time.time()}
        self._run(run_id, RunRow.state.in_(before), state=state, error=error, **fresh)

    def wait(self, run_id: str, error: str) -> None:
        """Put an open run back into the queue, and say what it waits for."""
        self._run(run_id, RunRow.state.in_(OPEN), state="queued", error=error)

    def reopen(self, run_id: str) -> None:
        """Queue what a failed or cancelled run lacks; any other run stays as it is."""
        again: Json = {"state": "queued", "error": ""}
        ended = RunRow.id == run_id, RunRow.state.in_(STOPPED)
        lacking = or_(CellRow.state.in_(STOPPED), CellRow.error != "")
        run = select(RunRow.id).where(*ended).scalar_subquery()
        self.database.write(
            update(CellRow).where(CellRow.run == run, lacking).values(**again),
            update(RunRow).where(*ended).values(cancelling=False, finished=0.0, **again),
        )

    def request_cancel(self, run_id: str) -> None:
        """Note that somebody wants the run to stop, so that a restart does not resume it."""
        self._run(run_id, cancelling=True)

    def conclude(self, run_id: str, verdict: Json) -> None:
        """Store what a run came to."""
        self._run(run_id, verdict=verdict)

    def keep(self, run_id: str, name: str) -> None:
        """Store under which name the inoculated model is kept."""
        self._run(run_id, kept=name)

    def describe(self, run_id: str, artefacts: Json) -> None:
        """Add to the hashes of what a run is made from and of what it made."""
        self._run(run_id, artefacts={**self.get(run_id).artefacts, **artefacts})

    def turn(self, run_id: str, cell: Cell, state: State, error: str = "") -> None:
        """Set the state of a cell; one that waits or starts has no progress yet."""
        fresh: Json = {"epoch": {}} if state in OPEN else {}
        self._cell(run_id, cell, state=state, error=error, **fresh)

    def progress(self, run_id: str, epoch: Epoch) -> None:
        """Store a cell's latest epoch."""
        self._cell(run_id, epoch.cell, state="running", epoch=asdict(epoch))

    def point(self, run_id: str, point: Point, error: str = "") -> None:
        """Store what a cell came to, and why its model could not be kept."""
        self._cell(run_id, point.cell, state="done", point=asdict(point), error=error)

    def _cell(self, run_id: str, cell: Cell, **values: object) -> None:
        """Change a cell's row; what comes late about a cell that is done is not news."""
        self.database.write(
            update(CellRow)
            .where(CellRow.run == run_id, CellRow.state != "done")
            .where(CellRow.size == cell.size, CellRow.lr == cell.lr, CellRow.seed == cell.seed)
            .values(**values)
        )

    def _run(self, run_id: str, *where: Any, **values: object) -> None:  # Any: as of SQLAlchemy
        self.database.write(update(RunRow).where(RunRow.id == run_id, *where).values(**values))

    def _runs(self, *where: Any) -> tuple[Run, ...]:  # Any: as of SQLAlchemy
        """Return the runs that fit, newest first."""
        query = select(RunRow).where(*where).options(selectinload(RunRow.cells))
        with self.database.session() as session:
            rows = session.scalars(query.order_by(RunRow.created.desc()))
            return tuple(self._as_run(row) for row in rows)

    def _as_run(self, row: RunRow) -> Run:
        """Read a run; an open one tells of the database's trouble, which that cannot store."""
        waits = self.database.trouble if row.state in OPEN else ""
        return Run(
            row.id, row.owner, plan_from(row.plan), _state(row.state), row.cancelling,
            f"{waits}; {WAITS}" if waits else row.error,
            row.created, row.started, row.finished, row.verdict, row.environment, row.kept,
            tuple(_as_cell(cell) for cell in row.cells), row.artefacts,
        )  # fmt: skip


def run_json(run: Run) -> Json:
    """Return a run for other programs; its owner's token stays here.

    Whoever knows a run's id may read it and cancel it: over HTTP there is no owner. The ids are
    drawn at random and only listed to their owner.
    """
    shown = ("id", "state", "error", "created", "started", "finished", "kept")
    return {
        **{name: getattr(run, name) for name in shown},
        "plan": asdict(run.plan),
        "environment": run.environment,
        "artefacts": run.artefacts,
        "verdict": run.verdict or None,
        "cells": [_cell_json(state) for state in run.cells],
    }


def _cell_json(state: CellState) -> Json:
    point = state.point
    scores = {
        name: getattr(point, name, None) for name in ("original", "challenge", "dev", "seconds")
    }
    return {**asdict(state.cell), "state": state.state, "error": state.error, **scores}


def _as_cell(row: CellRow) -> CellState:
    return CellState(
        Cell(row.size, row.lr, row.seed),
        _state(row.state),
        epoch_from(row.epoch) if row.epoch else None,
        point_from(row.point) if row.point else None,
        row.error,
    )


def _state(text: str) -> State:
    states: tuple[State, ...] = (*OPEN, "done", "cancelled", "failed")
    return next(state for state in states if state == text)
