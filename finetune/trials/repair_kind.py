"""What the kinds of repair have in common: a plan on labelled examples, cells, points."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from finetune.trials.base import Training
from finetune.trials.datasets import SourceData, source_request
from probe.runs.experiment import Experiment, RunCell, earlier_results
from probe.runs.run import Json, RunRequest, StoredRun
from probe.tasks.task import WHY_IN_COMMON


class RepairPlan(Protocol):
    """What every plan says: the model that it begins with, and how it is trained."""

    @property
    def model(self) -> str:
        """The name of the model."""

    @property
    def training(self) -> Training:
        """How it is trained."""


Plan = TypeVar("Plan", bound=RepairPlan)
Cell = TypeVar("Cell", bound=Hashable)
Point = TypeVar("Point")


def keeps_none(plan: object, cell: object) -> bool:
    """Return that no cell's model is kept."""
    return False


@dataclass(frozen=True)
class RepairKind(Generic[Plan, Cell, Point]):
    """How a kind's plan, cells and points are read and written, and what a run comes to.

    `title` names a run before its model. The fields in `varies` say which cells a plan has; `told`
    are those of a result that are told over HTTP. The model of a cell that `keeps_model` stays.
    """

    name: str
    title: str
    plan_from: Callable[[Json], Plan]
    cells: Callable[[Plan], Sequence[Cell]]
    cell: Callable[..., Cell]
    point_from: Callable[[Json, Json], Point]
    conclude: Callable[[Plan, Sequence[Point]], Json | None]
    varies: Sequence[str]
    told: Callable[[Json], Json]
    keeps_model: Callable[[Plan, Cell], bool] = keeps_none

    def run_request(
        self,
        plan: Plan,
        source: SourceData,
        environment: Json | None = None,
        artefacts: Json | None = None,
    ) -> RunRequest:
        """Return what the store needs to begin a run; the sets' hashes are added to `artefacts`."""
        return source_request(self.name, as_json(plan), source, environment, artefacts)

    def known_results(
        self, runs: Iterable[StoredRun], plan: Plan, artefacts: Json
    ) -> dict[int, Json]:
        """Return by the numbers of a plan's cells what earlier runs came to with the same settings.

        Cells whose model is to be kept are computed anew.
        """
        same = self._settings(plan)
        return earlier_results(
            runs,
            self.name,
            artefacts,
            lambda values: self._settings(self.plan_from(values)) == same,
            self.cells(plan),
            lambda key: self.cell(**key),
            partial(self.keeps_model, plan),
        )

    def points_of(self, run: StoredRun) -> tuple[Point, ...]:
        """Return the points that a run has come to, in the order of its cells."""
        return tuple(self.point_from(cell.key, cell.result) for cell in run.cells if cell.result)

    def experiment(
        self,
        run_cell: RunCell,
        keep: Callable[[StoredRun, Json], str | None] = lambda run, result: None,
    ) -> Experiment:
        """Return the kind of run; `keep` names the model of a result, None to let it go."""
        return Experiment(
            kind=self.name,
            cells=lambda plan: [as_json(cell) for cell in self.cells(self.plan_from(plan))],
            run_cell=run_cell,
            title=lambda plan: f"{self.title} {Path(plan['model']).name}",
            brief=lambda result: self.told(result or {}),
            model=lambda plan: str(plan["model"]),
            keep=keep,
            conclude=lambda run, _: self._verdict(run),
            one_worker=lambda plan: self.plan_from(plan).training.mode == "fast",
        )

    def _verdict(self, run: StoredRun) -> Json | None:
        """Conclude, and say so where right answers are read in fewer classes than the task has."""
        verdict = self.conclude(self.plan_from(run.plan), self.points_of(run))
        if verdict is None or "measure" not in run.artefacts:
            return verdict
        return {**verdict, "explanation": f"{verdict['explanation']} {WHY_IN_COMMON}"}

    def _settings(self, plan: Plan) -> Json:
        """Return what is the same in every cell of a plan."""
        return {name: value for name, value in as_json(plan).items() if name not in self.varies}


def as_json(value: Any) -> Json:  # Any: a dataclass
    """Return a plan, or the key of a cell, as JSON."""
    return asdict(value)


def point_json(point: Any) -> Json:  # Any: a dataclass
    """Return a point as JSON, without its cell."""
    return {name: value for name, value in asdict(point).items() if name != "cell"}
