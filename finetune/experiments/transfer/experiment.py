"""Transfer as a kind of run."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

from finetune.experiments.inoculation.datasets import SourceData
from finetune.experiments.source_json import source_from, source_request
from finetune.experiments.transfer.outcomes import conclude
from finetune.experiments.transfer.plan import Cell, Plan, cells, plan_from, plan_json
from finetune.experiments.transfer.point import Point, point_from, point_json
from probe.first_import import first_import
from probe.runs.earlier_results import earlier_results
from probe.runs.experiment import CellContext, Experiment, Progress, Result
from probe.runs.models import load_unchanged
from probe.runs.run import Json, RunRequest, StoredRun

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


def run_request(
    plan: Plan, source: SourceData, environment: Json | None = None, artefacts: Json | None = None
) -> RunRequest:
    """Return what the store needs to begin a run; the sets' hashes are added to `artefacts`."""
    return source_request(KIND, plan_json(plan), source, environment, artefacts)


def known_results(runs: Iterable[StoredRun], plan: Plan, artefacts: Json) -> dict[int, Json]:
    """Return by the numbers of a plan's cells what earlier runs came to with the same settings.

    A row's columns are the plan's transforms, so that these must be the same too.
    """
    return earlier_results(
        runs,
        KIND,
        artefacts,
        lambda values: _settings(plan_from(values)) == _settings(plan),
        cells(plan),
        lambda key: Cell(**key),
    )


def _settings(plan: Plan) -> Plan:
    """Return the plan without what says which cells there are."""
    return replace(plan, sizes=(), seeds=(), salad_only=True)


def points_of(run: StoredRun) -> tuple[Point, ...]:
    """Return the points that a run has come to, in the order of its cells."""
    return tuple(point_from(cell.key, cell.result) for cell in run.cells if cell.result)


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
