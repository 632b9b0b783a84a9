"""Generalisation as a kind of run."""

from pathlib import Path

from finetune.experiments.generalisation.plan import base_cell, cells
from finetune.experiments.generalisation.point import share_right
from finetune.experiments.generalisation.run import KIND, generalisation_run
from finetune.experiments.generalisation.serialise import plan_from, point_from, run_stored_cell
from finetune.experiments.generalisation.verdict import verdict_json
from probe.runs.experiment import Experiment
from probe.runs.run import Json, StoredRun

NO_KEY = vars(base_cell(0))
"""Stands for a cell's key where only its result is told."""


def _keys(plan: Json) -> list[Json]:
    return [vars(cell) for cell in cells(plan_from(plan))]


def _title(plan: Json) -> str:
    return f"{plan['phenomenon']} by {plan['vary']} on {Path(plan['model']).name}"


def _brief(result: Json | None) -> Json:
    if result is None:
        return dict.fromkeys(("original", "tests", "dev", "seconds"))
    point = point_from(NO_KEY, result)
    tests = {name: share_right(scores) for name, scores in point.tests.items()}
    facts = {"dev": point.dev, "seconds": point.seconds}
    return {"original": share_right(point.original), "tests": tests, **facts}


def _model(plan: Json) -> str:
    return str(plan["model"])


def _fast(plan: Json) -> bool:
    """Return whether a worker keeps the states of frozen layers, which all cells read."""
    return plan_from(plan).mode == "fast"


def verdict_of(stored: StoredRun, inputs: Json) -> Json | None:
    """Judge what there is, once every condition was trained on at the largest size."""
    run = generalisation_run(stored)
    largest = max(run.plan.sizes)
    trained = {point.cell.train for point in run.results if point.cell.size == largest}
    if trained != set(run.plan.rows):
        return None
    return verdict_json(run.plan, run.results)


GENERALISATION = Experiment(
    kind=KIND,
    cells=_keys,
    run_cell=run_stored_cell,
    title=_title,
    brief=_brief,
    model=_model,
    conclude=verdict_of,
    one_worker=_fast,
)
