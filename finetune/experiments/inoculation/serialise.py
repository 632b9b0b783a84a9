"""An inoculation as JSON, and a cell computed from JSON on a worker.

`asdict` writes plans and cells; a cell's epochs and points are stored under its key and do
not repeat it. Imported by workers, so it stays clear of the run store and of what draws verdicts.
"""

from collections.abc import Iterator
from dataclasses import asdict

from finetune.experiments.inoculation.datasets import SET_NAMES, Sets
from finetune.experiments.inoculation.plan import Cell, Plan, Thresholds
from finetune.experiments.inoculation.point import Epoch, Point
from probe.first_import import first_import
from probe.runs.experiment import CellContext, Progress, Result
from probe.runs.models import load_any_unchanged
from probe.runs.run import Json
from probe.tasks.nli import NLI
from probe.tasks.task import example_json, read_example, task_named


def plan_from(values: Json) -> Plan:
    """Read a plan from its JSON; the first plans had no mode, no thresholds and no task but NLI."""
    lists = {name: tuple(values[name]) for name in ("sizes", "lrs", "seeds")}
    limits = Thresholds(**values.get("thresholds", {}))
    order = tuple(values.get("labels", ()))
    return Plan(**{**values, **lists, "thresholds": limits, "labels": order})


def sets_from(values: Json) -> Sets:
    """Read the sets from their JSON; the first inputs were NLI's and did not say so."""
    task = task_named(values.get("task", NLI.name))
    examples = {
        name: tuple(read_example(task, row) for row in rows)
        for name, rows in values.items()
        if name != "task"
    }
    known = {name: examples.pop(name) for name in SET_NAMES if name in examples}
    return Sets(**known, counter_tests=examples, task=task)


def sets_json(sets: Sets) -> Json:
    """Return the sets, counter-tests by their own names, and the name of their task as JSON."""
    examples = {
        name: [example_json(example) for example in examples]
        for name, examples in sets.examples.items()
    }
    return {"task": sets.task.name, **examples}


def cell_from(key: Json) -> Cell:
    """Read a cell from its JSON."""
    return Cell(**key)


def epoch_from(key: Json, values: Json) -> Epoch:
    """Read an epoch from its cell's key and its JSON."""
    return Epoch(cell_from(key), **values)


def point_from(key: Json, values: Json) -> Point:
    """Read a point from its cell's key and its JSON."""
    right = {name: tuple(values[name]) for name in ("original_right", "challenge_right")}
    counter_tests = {name: tuple(v) for name, v in values.get("counter_tests", {}).items()}
    return Point(cell_from(key), **{**values, **right, "counter_tests": counter_tests})


def row_json(row: Epoch | Point) -> Json:
    """Return an epoch or a point without its cell."""
    fields = {name: value for name, value in asdict(row).items() if name != "cell"}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in fields.items()}


def run_stored_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Run a cell of a stored run; the model of the largest size comes with its point.

    Raises ModelError where the model is not the one that the run began with.
    """
    with first_import:
        from finetune.experiments.inoculation.cell import fresh, run_cell
        from finetune.training.checkpoints import model_files

    typed, cell = plan_from(plan), cell_from(key)
    model = fresh(load_any_unchanged(typed.model, context.model, typed.labels))
    for row in run_cell(typed, sets_from(inputs), cell, model, context.stop):
        if isinstance(row, Point):
            largest = cell.size == max(typed.sizes)
            yield Result(row_json(row), model_files(model) if largest else {})
        else:
            yield Progress(row_json(row))
