"""Generalisations among the stored runs, with plan, cells and points of their own types."""

from collections.abc import Iterable
from dataclasses import replace

from finetune.experiments.generalisation.datasets import SourceData, draw_tests, draw_training
from finetune.experiments.generalisation.plan import THRESHOLDS, Cell, Plan, cells
from finetune.experiments.generalisation.point import Epoch, Point
from finetune.experiments.generalisation.serialise import (
    cell_from,
    data_json,
    epoch_from,
    plan_from,
    plan_json,
    point_from,
)
from finetune.experiments.inoculation.datasets import Examples
from probe.models.weights.hashes import pairs_hash
from probe.runs.run import Json, Run, RunRequest, StoredRun, typed_run

KIND = "generalisation"

DRAWN = ("test", "dev")
"""The sets of a seed that must be the same for a cell to be taken over."""

GeneralisationRun = Run[Plan, Cell, Epoch, Point]


def generalisation_run(run: StoredRun) -> GeneralisationRun:
    """Return a stored run with its own types."""
    return typed_run(run, plan_from, cell_from, epoch_from, point_from)


def generalisation_runs(runs: Iterable[StoredRun]) -> tuple[GeneralisationRun, ...]:
    """Return the generalisations among stored runs, in their order."""
    return tuple(generalisation_run(run) for run in runs if run.kind == KIND)


def run_request(
    plan: Plan, data: SourceData, environment: Json | None = None, artefacts: Json | None = None
) -> RunRequest:
    """Return what the store needs to begin a run; the sets' hashes are added to `artefacts`.

    Raises ExperimentError where a seed finds too few pairs of a condition.
    """
    return RunRequest(
        KIND,
        plan_json(plan),
        data_json(data),
        environment or {},
        {**(artefacts or {}), "sets": sets_facts(plan, data)},
    )


def sets_facts(plan: Plan, data: SourceData) -> Json:
    """Return n and sha256 of the original set, of a person's rows, and of all that a seed draws."""
    return {
        "original": _facts(data.original),
        "rows": {name: _facts(examples) for name, examples in data.rows.items()},
        "seeds": {str(seed): _seed_facts(plan, data, seed) for seed in dict.fromkeys(plan.seeds)},
    }


def _seed_facts(plan: Plan, data: SourceData, seed: int) -> Json:
    tests = draw_tests(plan, data, seed)
    trained = {row: draw_training(plan, data, seed, row, tests) for row in plan.rows}
    return {
        "test": {name: _facts(examples) for name, examples in tests.items()},
        "dev": {row: _facts(sets.dev) for row, sets in trained.items()},
        "train": {row: _facts(sets.train) for row, sets in trained.items()},
    }


def _facts(examples: Examples) -> Json:
    return {"n": len(examples), "sha256": pairs_hash(examples)}


def known_results(runs: Iterable[StoredRun], plan: Plan, artefacts: Json) -> dict[int, Json]:
    """Return by the numbers of a plan's cells what earlier runs came to with the same settings.

    A cell depends on its key, the model, the plan's settings and the sets of its seed. A larger
    training set begins with a smaller one, so that its hash may be another.
    """
    known: dict[Cell, Json] = {}
    for run in runs:
        if run.kind != KIND or _settings(plan_from(run.plan)) != _settings(plan):
            continue
        if run.artefacts.get("model") == artefacts["model"]:
            known |= {
                cell: stored.result
                for stored in run.cells
                for cell in [cell_from(stored.key)]
                if stored.result and _drawn(run.artefacts, cell) == _drawn(artefacts, cell)
            }
    numbered = enumerate(cells(plan))
    return {number: known[cell] for number, cell in numbered if cell in known}


def _drawn(artefacts: Json, cell: Cell) -> Json:
    """Return the hashes that a cell's figures depend on, besides its training set's."""
    sets = artefacts["sets"]
    seed = sets["seeds"].get(str(cell.seed), {})
    return {"original": sets["original"], "rows": sets["rows"], **{n: seed.get(n) for n in DRAWN}}


def _settings(plan: Plan) -> Plan:
    """Return the plan without what says which cells there are and how they are judged."""
    return replace(plan, sizes=(), lrs=(), seeds=(), thresholds=THRESHOLDS)
