"""The examples that come with the app, written for it: assets/bundled, a file for each task."""

import csv
import json
import random
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

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
    path = bundled_file(task)
    read = _questions if path.suffix == ".json" else partial(_labelled, task)
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(example for part, example in read(file) if split in ("", part))


def bundled_file(task: Task) -> Path:
    """Return the file of a task's bundled examples."""
    return FOLDER / task.bundled


def _questions(file: IO[str]) -> Iterator[tuple[str, Any]]:
    """Yield the questions of SQuAD's form, each with its split."""
    from probe.tasks.reading import squad_question, squad_questions  # tasks register in order

    for row in squad_questions(json.load(file)):
        yield row["split"], squad_question(row)


def _labelled(task: Task, file: IO[str]) -> Iterator[tuple[str, Any]]:
    """Yield the examples of a table, each with its split."""
    for row in csv.DictReader(file):
        texts = {field: row[field] for field in task.fields}
        gold = task.read_gold(row["label"])
        yield row["split"], task.example(**texts, gold=gold, id=row["id"])


def random_example(task: Task, seed: int) -> Any:  # Any: of the task's class
    """Return one bundled test example; the same seed gives the same example."""
    return random.Random(f"{seed}|pair").choice(bundled_examples(task, "test"))
