"""Transfer as a kind of run."""

from collections.abc import Iterator
from dataclasses import asdict

from finetune.experiments.repair_kind import RepairKind, point_json
from finetune.experiments.source_json import source_from
from finetune.experiments.transfer.outcomes import conclude
from finetune.experiments.transfer.plan import Cell, cells, plan_from
from finetune.experiments.transfer.point import Point, point_from
from probe.first_import import first_import
from probe.runs.experiment import CellContext, Progress, Result
from probe.runs.models import load_unchanged
from probe.runs.run import Json

KIND = "transfer"


def run_stored_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Run a cell of a stored run. Raises ModelError where its model is another one by now."""
    with first_import:
        from finetune.experiments.transfer.cell import run_cell

    typed, cell = plan_from(plan), Cell(**key)
    before = load_unchanged(typed.model, context.model, typed.labels)
    for row in run_cell(typed, source_from(inputs), cell, before, context.stop):
        if isinstance(row, Point):
            yield Result(point_json(row))
        else:
            yield Progress(asdict(row))


def _told(result: Json) -> Json:
    return {name: result.get(name) for name in ("clean", "found", "seconds")}


REPAIR = RepairKind(
    KIND, "Transfer of", plan_from, cells, Cell, point_from, conclude,
    ("sizes", "seeds", "salad_only"), _told,
)  # fmt: skip
run_request, known_results, points_of = REPAIR.run_request, REPAIR.known_results, REPAIR.points_of

TRANSFER = REPAIR.experiment(run_stored_cell)
