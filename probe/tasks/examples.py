"""The examples that come with the app, written for it: assets/bundled, a file for each task."""

import csv
import random
from functools import cache
from typing import Any

from probe.errors import ExampleError
from probe.settings import ASSETS
from probe.tasks.task import Task

FOLDER = ASSETS / "bundled"


@cache
def bundled_examples(task: Task, split: str = "") -> tuple[Any, ...]:  # Any: of the task's class
    """Return a task's bundled examples, all of them or one split: dev, test or pool.

    Raises ExampleError where the task has none.
    """
    if not task.bundled:
        raise ExampleError(f"no examples of the task {task.name} come with the app")
    with (FOLDER / f"{task.bundled}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        task.example(
            **{field: row[field] for field in task.fields},
            gold=task.read_gold(row["label"]),
            id=row["id"],
        )
        for row in rows
        if split in ("", row["split"])
    )


def random_example(task: Task, seed: int) -> Any:  # Any: of the task's class
    """Return one bundled test example; the same seed gives the same example."""
    return random.Random(f"{seed}|pair").choice(bundled_examples(task, "test"))
