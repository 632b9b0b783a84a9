"""The run store: what was asked, how far it is, what came of it. Only this module writes it."""

import os
import secrets
import time
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy import JSON, Engine, ForeignKey, String, create_engine, event, select, update
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    deferred,
    mapped_column,
    relationship,
    selectinload,
)

from finetune.inoculate import Epoch, Point
from finetune.plan import Cell, Plan, cells
from finetune.record import Json, epoch_from, plan_from, point_from, sets_from
from finetune.sets import InoculationError, Sets
from probe.models.catalogue import home

State = Literal["queued", "running", "done", "cancelled", "failed"]
OPEN: tuple[State, ...] = ("queued", "running")


@dataclass(frozen=True)
class CellState:
    """A cell of a run: its latest epoch while it runs, its point once it is done."""

    cell: Cell
    state: State
    epoch: Epoch | None
    point: Point | None
    error: str


@dataclass(frozen=True)
class Run:
    """A run with its cells, smallest size first. Times are seconds since 1970, 0 for not yet.

    `verdict` and `environment` are as stored; `kept` names the inoculated model in the catalogue.
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

    @property
    def points(self) -> tuple[Point, ...]:
        """The points that are there."""
        return tuple(state.point for state in self.cells if state.point)


class _Base(DeclarativeBase):
    type_annotation_map = {Json: JSON}  # noqa: RUF012  # SQLAlchemy reads a plain attribute


class _Run(_Base):
    __tablename__ = "run"
    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    owner: Mapped[str] = mapped_column(String(200), index=True)
    plan: Mapped[Json]
    sets: Mapped[Json] = deferred(mapped_column(JSON))  # large, and read only to compute
    state: Mapped[str] = mapped_column(String(16), index=True)
    cancelling: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str] = mapped_column(default="")
    created: Mapped[float]
    started: Mapped[float] = mapped_column(default=0.0)
    finished: Mapped[float] = mapped_column(default=0.0)
    verdict: Mapped[Json] = mapped_column(default=dict)
    environment: Mapped[Json]
    kept: Mapped[str] = mapped_column(default="")
    cells: Mapped[list["_Cell"]] = relationship(order_by="_Cell.number")


class _Cell(_Base):
    __tablename__ = "cell"
    run: Mapped[str] = mapped_column(ForeignKey("run.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    size: Mapped[int]
    lr: Mapped[float]
    seed: Mapped[int]
    state: Mapped[str] = mapped_column(String(16), default="queued")
    epoch: Mapped[Json] = mapped_column(default=dict)
    point: Mapped[Json] = mapped_column(default=dict)
    error: Mapped[str] = mapped_column(default="")


class Store:
    """The database of runs, safe to use from several threads.

    SQLite in the app's own folder; another database by URL, given or in NLI_CLINIC_DATABASE.
    A cell has one row, made with its run: storing it again changes that row.
    """

    def __init__(self, url: str | None = None) -> None:
        """Open the database, and make its tables where they are missing."""
        self._engine = _open(url or os.environ.get("NLI_CLINIC_DATABASE", ""))
        _Base.metadata.create_all(self._engine)

    def create(self, owner: str, plan: Plan, sets: Sets, environment: Json) -> Run:
        """Store a new run, queued, with all its cells."""
        run_id = secrets.token_hex(4)
        rows = [
            _Cell(run=run_id, number=number, **asdict(cell))
            for number, cell in enumerate(cells(plan))
        ]
        run = _Run(
            id=run_id, owner=owner, plan=asdict(plan), sets=asdict(sets), state="queued",
            created=time.time(), environment=environment,
        )  # fmt: skip
        with Session(self._engine) as session, session.begin():
            session.add(run)
            session.flush()
            session.add_all(rows)
        return self.get(run_id)

    def get(self, run_id: str) -> Run:
        """Return a run with its cells. Raises InoculationError where there is none."""
        with Session(self._engine) as session:
            row = session.get(_Run, run_id, options=[selectinload(_Run.cells)])
            if row is None:
                raise InoculationError(f"there is no run {run_id!r}")
            return _as_run(row)

    def runs(self, owner: str | None = None) -> tuple[Run, ...]:
        """Return the runs, newest first: of one owner, or all."""
        query = select(_Run).options(selectinload(_Run.cells)).order_by(_Run.created.desc())
        if owner is not None:
            query = query.where(_Run.owner == owner)
        with Session(self._engine) as session:
            return tuple(_as_run(row) for row in session.scalars(query))

    def unfinished(self) -> tuple[Run, ...]:
        """Return the runs that are neither done, cancelled nor failed, oldest first."""
        return tuple(run for run in reversed(self.runs()) if run.state in OPEN)

    def sets(self, run_id: str) -> Sets:
        """Return the pairs a run works on. Raises InoculationError where there is no run."""
        with Session(self._engine) as session:
            found = session.scalar(select(_Run.sets).where(_Run.id == run_id))
        if found is None:
            raise InoculationError(f"there is no run {run_id!r}")
        return sets_from(found)

    def mark(self, run_id: str, state: State, error: str = "") -> None:
        """Set the state of an open run; an ended one keeps its state, a running one its start."""
        when, before = ("started", OPEN[:1]) if state == "running" else ("finished", OPEN)
        query = update(_Run).where(_Run.id == run_id, _Run.state.in_(before))
        self._write(query.values(state=state, error=error, **{when: time.time()}))

    def request_cancel(self, run_id: str) -> None:
        """Note that somebody wants the run to stop, so that a restart does not resume it."""
        self._write(update(_Run).where(_Run.id == run_id).values(cancelling=True))

    def conclude(self, run_id: str, verdict: Json) -> None:
        """Store what a run came to."""
        self._write(update(_Run).where(_Run.id == run_id).values(verdict=verdict))

    def keep(self, run_id: str, name: str) -> None:
        """Store under which name the inoculated model is kept."""
        self._write(update(_Run).where(_Run.id == run_id).values(kept=name))

    def turn(self, run_id: str, cell: Cell, state: State, error: str = "") -> None:
        """Set the state of a cell; one that waits or starts has no progress yet."""
        fresh: Json = {"epoch": {}} if state in OPEN else {}
        self._cell(run_id, cell, state=state, error=error, **fresh)

    def progress(self, run_id: str, epoch: Epoch) -> None:
        """Store a cell's latest epoch."""
        self._cell(run_id, epoch.cell, state="running", epoch=asdict(epoch))

    def point(self, run_id: str, point: Point) -> None:
        """Store what a cell came to."""
        self._cell(run_id, point.cell, state="done", point=asdict(point), error="")

    def _cell(self, run_id: str, cell: Cell, **values: object) -> None:
        """Change a cell's row; what comes late about a cell that is done is not news."""
        self._write(
            update(_Cell)
            .where(_Cell.run == run_id, _Cell.state != "done")
            .where(_Cell.size == cell.size, _Cell.lr == cell.lr, _Cell.seed == cell.seed)
            .values(**values)
        )

    def _write(self, query: Any) -> None:  # Any: SQLAlchemy's update() has no narrower common type
        with self._engine.begin() as connection:
            connection.execute(query)


def _open(url: str) -> Engine:
    if not url:
        home().mkdir(parents=True, exist_ok=True)
        url = f"sqlite:///{home() / 'runs.sqlite'}"
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _tune_sqlite)
    return engine


def _tune_sqlite(connection: Any, record: object) -> None:  # Any: the driver's own connection
    """Let readers work while one writes, and let writers wait for each other."""
    for pragma in ("journal_mode=WAL", "busy_timeout=30000", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def run_json(run: Run) -> Json:
    """Return a run for other programs; its owner's token stays here."""
    shown = ("id", "state", "error", "created", "started", "finished", "kept")
    return {
        **{name: getattr(run, name) for name in shown},
        "plan": asdict(run.plan),
        "environment": run.environment,
        "verdict": run.verdict or None,
        "cells": [_cell_json(state) for state in run.cells],
    }


def _cell_json(state: CellState) -> Json:
    point = state.point
    scores = {
        name: getattr(point, name, None) for name in ("original", "challenge", "dev", "seconds")
    }
    return {**asdict(state.cell), "state": state.state, "error": state.error, **scores}


def _as_run(row: _Run) -> Run:
    return Run(
        row.id, row.owner, plan_from(row.plan), _state(row.state), row.cancelling, row.error,
        row.created, row.started, row.finished, row.verdict, row.environment, row.kept,
        tuple(_as_cell(cell) for cell in row.cells),
    )  # fmt: skip


def _as_cell(row: _Cell) -> CellState:
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
