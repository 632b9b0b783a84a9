"""Transfer as a kind of run."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from finetune.experiments.repair_kind import RepairKind
from finetune.experiments.source_json import source_from
from finetune.experiments.transfer.outcomes import conclude
from finetune.experiments.transfer.plan import Cell, Plan, cells, plan_from, plan_json
from finetune.experiments.transfer.point import Point, point_from, point_json
from probe.first_import import first_import
from probe.runs.experiment import CellContext, Experiment, Progress, Result
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


def _settings(plan: Plan) -> Plan:
    """Return the plan without what says which cells there are."""
    return replace(plan, sizes=(), seeds=(), salad_only=True)


REPAIR = RepairKind(
    KIND,
    plan_from,
    plan_json,
    cells,
    Cell,
    point_from,
    _settings,
)
run_request, known_results, points_of = REPAIR.run_request, REPAIR.known_results, REPAIR.points_of


def _brief(result: Json | None) -> Json:
    return {name: (result or {}).get(name) for name in ("clean", "found", "seconds")}


TRANSFER = Experiment(
    kind=KIND,
    cells=lambda plan: [asdict(cell) for cell in cells(plan_from(plan))],
    run_cell=run_stored_cell,
    title=lambda plan: f"Transfer of {Path(plan['model']).name}",
    brief=_brief,
    model=lambda plan: str(plan["model"]),
    conclude=lambda run, inputs: conclude(plan_from(run.plan), points_of(run)),
    one_worker=lambda plan: plan_from(plan).training.mode == "fast",
)
