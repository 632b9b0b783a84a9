"""Mitigation as a kind of run."""

from collections.abc import Iterator
from dataclasses import asdict

from finetune.experiments.mitigation.outcomes import conclude
from finetune.experiments.mitigation.plan import Cell, cells, is_largest, plan_from
from finetune.experiments.mitigation.point import Point, point_from
from finetune.experiments.model_names import new_model_name
from finetune.experiments.repair_kind import RepairKind, point_json
from finetune.experiments.source_json import source_from
from probe.first_import import first_import
from probe.runs.experiment import CellContext, Progress, Result
from probe.runs.models import load_unchanged
from probe.runs.run import Json, StoredRun

KIND = "mitigation"


def run_stored_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Run a cell of a stored run; the model of the first method's largest size comes with it.

    Raises ModelError where the model is not the one that the run began with.
    """
    with first_import:
        from finetune.experiments.mitigation.cell import changed_copy, repair
        from finetune.training.checkpoints import model_files

    typed, cell = plan_from(plan), Cell(**key)
    before = load_unchanged(typed.model, context.model, typed.labels)
    changed = changed_copy(cell, before)
    for row in repair(typed, source_from(inputs), cell, before, changed, context.stop):
        if isinstance(row, Point):
            files = model_files(changed) if is_largest(typed, cell) else {}
            yield Result(point_json(row), files)
        else:
            yield Progress(asdict(row))


def _told(result: Json) -> Json:
    return {name: result.get(name) for name in ("clean", "rejected", "found", "seconds")}


REPAIR = RepairKind(
    KIND, "Repair of", plan_from, cells, Cell, point_from, conclude,
    ("methods", "sizes", "seeds"), _told, is_largest,
)  # fmt: skip
run_request, known_results, points_of = REPAIR.run_request, REPAIR.known_results, REPAIR.points_of


def name_to_keep(run: StoredRun, result: Json) -> str | None:
    """Return a name for the model; of several seeds the one that finds most and loses least."""
    plan = plan_from(run.plan)
    rivals = [_worth(point) for point in points_of(run) if is_largest(plan, point.cell)]
    key = {"method": plan.methods[0], "size": 0, "seed": 0}
    if run.kept and _worth(point_from(key, result)) < max(rivals, default=0.0):
        return None
    return run.kept or new_model_name(plan.model, plan.methods[0])


def _worth(point: Point) -> float:
    return point.invalid_found + point.clean.share


MITIGATION = REPAIR.experiment(run_stored_cell, name_to_keep)
