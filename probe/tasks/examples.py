"""The examples that come with the app, written for it: assets/bundled, a file for each task."""

import csv
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from probe.errors import ExampleError
from probe.settings import ASSETS
from probe.tasks.task import Task

FOLDER = ASSETS / "bundled"


@cache
def bundled_examples(task: Task, split: str = "") -> tuple[Any, ...]:  # Any: of the task's class
    """Return bundled examples, all or of dev, test or pool. Raises ExampleError for none."""
    if not task.bundled:
        raise ExampleError(f"no examples of the task {task.name} come with the app")
    path = bundled_file(task)
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".json":  # in SQuAD's form
            from probe.tasks.reading import (  # tasks register in order
                squad_question,
                squad_questions,
            )

            rows = [(row["split"], squad_question(row)) for row in squad_questions(json.load(file))]
        else:
            rows = [
                (
                    row["split"],
                    task.example(
                        **{field: row[field] for field in task.fields},
                        gold=task.read_gold(row["label"]),
                        id=row["id"],
                    ),
                )
                for row in csv.DictReader(file)
            ]
    return tuple(example for part, example in rows if split in ("", part))


def bundled_file(task: Task) -> Path:
    """Return the file of a task's bundled examples."""
    return FOLDER / task.bundled


def random_example(task: Task, seed: int) -> Any:  # Any: of the task's class
    """Return one bundled test example; the same seed gives the same example."""
    return random.Random(f"{seed}|pair").choice(bundled_examples(task, "test"))
