"""A generalisation as JSON, and a cell computed from JSON on a worker.

Imported by workers, so it stays clear of the run store and of what draws verdicts.
"""

from collections.abc import Iterator
from dataclasses import asdict

from finetune.experiments.generalisation.datasets import SourceData
from finetune.experiments.generalisation.plan import Cell, Plan, Thresholds
from finetune.experiments.generalisation.point import Epoch, Hits, Point, Scores
from probe.first_import import first_import
from probe.runs.experiment import CellContext, Progress, Result
from probe.runs.models import load_unchanged
from probe.runs.run import Json
from probe.tasks.task import example_json, read_example, task_named

LISTS = ("rows", "columns", "sizes", "lrs", "seeds", "labels")
"""The fields of a plan that are tuples."""


def plan_from(values: Json) -> Plan:
    """Read a plan from its JSON."""
    lists = {name: tuple(values[name]) for name in LISTS}
    return Plan(**{**values, **lists, "thresholds": Thresholds(**values["thresholds"])})


def data_json(data: SourceData) -> Json:
    """Return the original set, a person's own rows and the name of their task as JSON."""
    return {
        "task": data.task.name,
        "original": [example_json(example) for example in data.original],
        "rows": {
            name: [example_json(example) for example in examples]
            for name, examples in data.rows.items()
        },
    }


def data_from(values: Json) -> SourceData:
    """Read what `data_json` wrote."""
    task = task_named(values["task"])
    return SourceData(
        tuple(read_example(task, row) for row in values["original"]),
        {
            name: tuple(read_example(task, row) for row in rows)
            for name, rows in values["rows"].items()
        },
        task,
    )


def cell_from(key: Json) -> Cell:
    """Read a cell from its JSON."""
    return Cell(**key)


def epoch_from(key: Json, values: Json) -> Epoch:
    """Read an epoch from its cell's key and its JSON."""
    return Epoch(cell_from(key), **values)


def point_from(key: Json, values: Json) -> Point:
    """Read a point from its cell's key and its JSON."""
    tests = {name: _scores(scores) for name, scores in values["tests"].items()}
    typed = {"original": _scores(values["original"]), "tests": tests}
    return Point(cell_from(key), **{**values, **typed})


def _scores(values: Json) -> Scores:
    return {label: Hits(*hits) for label, hits in values.items()}


def row_json(row: Epoch | Point) -> Json:
    """Return an epoch or a point without its cell; counts are lists of right and n."""
    fields = {name: value for name, value in vars(row).items() if name != "cell"}
    if isinstance(row, Point):
        fields["original"] = _lists(row.original)
        fields["tests"] = {name: _lists(scores) for name, scores in row.tests.items()}
    return fields


def _lists(scores: Scores) -> Json:
    return {label: list(hits) for label, hits in scores.items()}


def plan_json(plan: Plan) -> Json:
    """Return a plan as JSON."""
    return asdict(plan)


def run_stored_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Run a cell of a stored run.

    Raises ModelError where the model is not the one that the run began with.
    """
    with first_import:
        from finetune.experiments.generalisation.cell import run_cell
        from finetune.experiments.inoculation.cell import fresh

    typed = plan_from(plan)
    classifier = fresh(load_unchanged(typed.model, context.model, typed.labels))
    for row in run_cell(typed, data_from(inputs), cell_from(key), classifier, context.stop):
        yield (Result if isinstance(row, Point) else Progress)(row_json(row))
