"""What the kinds of repair have in common: a plan on labelled examples, cells, points."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from finetune.experiments.inoculation.datasets import SourceData
from finetune.experiments.source_json import source_request
from probe.runs.earlier_results import earlier_results
from probe.runs.run import Json, RunRequest, StoredRun

Plan = TypeVar("Plan")
Cell = TypeVar("Cell", bound=Hashable)
Point = TypeVar("Point")


def keeps_none(plan: object, cell: object) -> bool:
    """Return that no cell's model is kept."""
    return False


@dataclass(frozen=True)
class RepairKind(Generic[Plan, Cell, Point]):
    """How a kind's plan, cells and points are read and written.

    `settings` returns a plan without what says which cells there are; the model of a cell that
    `keeps_model` stays.
    """

    name: str
    plan_from: Callable[[Json], Plan]
    plan_json: Callable[[Plan], Json]
    cells: Callable[[Plan], Sequence[Cell]]
    cell: Callable[..., Cell]
    point_from: Callable[[Json, Json], Point]
    settings: Callable[[Plan], Plan]
    keeps_model: Callable[[Plan, Cell], bool] = keeps_none

    def run_request(
        self,
        plan: Plan,
        source: SourceData,
        environment: Json | None = None,
        artefacts: Json | None = None,
    ) -> RunRequest:
        """Return what the store needs to begin a run; the sets' hashes are added to `artefacts`."""
        return source_request(self.name, self.plan_json(plan), source, environment, artefacts)

    def known_results(
        self, runs: Iterable[StoredRun], plan: Plan, artefacts: Json
    ) -> dict[int, Json]:
        """Return by the numbers of a plan's cells what earlier runs came to with the same settings.

        Cells whose model is to be kept are computed anew.
        """
        same = self.settings(plan)
        return earlier_results(
            runs,
            self.name,
            artefacts,
            lambda values: self.settings(self.plan_from(values)) == same,
            self.cells(plan),
            lambda key: self.cell(**key),
            partial(self.keeps_model, plan),
        )

    def points_of(self, run: StoredRun) -> tuple[Point, ...]:
        """Return the points that a run has come to, in the order of its cells."""
        return tuple(self.point_from(cell.key, cell.result) for cell in run.cells if cell.result)
