"""Inoculations among the stored runs, with plan, cells and points of their own types."""

from collections.abc import Iterable
from dataclasses import asdict, replace

from finetune.experiments.inoculation.datasets import Sets, sets_facts
from finetune.experiments.inoculation.plan import THRESHOLDS, Cell, Plan, cells
from finetune.experiments.inoculation.point import Epoch, Point
from finetune.experiments.inoculation.serialise import (
    cell_from,
    epoch_from,
    plan_from,
    point_from,
    sets_json,
)
from probe.runs.earlier_results import earlier_results
from probe.runs.run import Json, Run, RunCell, RunRequest, StoredRun, typed_run

KIND = "inoculation"

InoculationRun = Run[Plan, Cell, Epoch, Point]
InoculationCell = RunCell[Cell, Epoch, Point]


def inoculation_run(run: StoredRun) -> InoculationRun:
    """Return a stored run with its own types."""
    return typed_run(run, plan_from, cell_from, epoch_from, point_from)


def inoculation_runs(runs: Iterable[StoredRun]) -> tuple[InoculationRun, ...]:
    """Return the inoculations among stored runs, in their order."""
    return tuple(inoculation_run(run) for run in runs if run.kind == KIND)


def run_request(
    plan: Plan, sets: Sets, environment: Json | None = None, artefacts: Json | None = None
) -> RunRequest:
    """Return what the store needs to begin a run; the sets' hashes are added to `artefacts`.

    What scores are called is among them where it is not what the task calls them.
    """
    merged = {"measure": sets.measure} if sets.measure != sets.task.measure else {}
    return RunRequest(
        KIND,
        asdict(plan),
        sets_json(sets),
        environment or {},
        {**(artefacts or {}), "sets": sets_facts(sets), **merged},
    )


def known_results(runs: Iterable[StoredRun], plan: Plan, artefacts: Json) -> dict[int, Json]:
    """Return by the numbers of a plan's cells what earlier runs came to with the same settings.

    A cell depends on its key, the model, the sets and the plan's settings; `artefacts` hold the
    hashes of `model` and `sets`.
    """
    return earlier_results(
        runs,
        KIND,
        artefacts,
        lambda values: _settings(plan_from(values)) == _settings(plan),
        cells(plan),
        cell_from,
    )


def _settings(plan: Plan) -> Plan:
    """Return the plan without what says which cells there are and how they are judged."""
    return replace(plan, sizes=(), lrs=(), seeds=(), thresholds=THRESHOLDS)
