"""Clean examples as the inputs of a stored run: dev, test and a pool to train on."""

import random
from collections.abc import Sequence

from finetune.experiments.inoculation.datasets import Examples, SourceData
from probe.errors import ExperimentError
from probe.models.hashes import pairs_hash
from probe.runs.run import Json
from probe.tasks.task import example_json, read_example, task_named

SETS = ("dev", "test", "pool")


def source_json(source: SourceData) -> Json:
    """Return the examples and the name of their task as JSON."""
    examples = {name: [example_json(each) for each in getattr(source, name)] for name in SETS}
    return {"task": source.task.name, **examples}


def source_from(values: Json) -> SourceData:
    """Read examples from their JSON."""
    task = task_named(values["task"])
    examples = {name: tuple(read_example(task, row) for row in values[name]) for name in SETS}
    return SourceData(**examples, task=task)


def source_facts(source: SourceData) -> Json:
    """Return for each set n, how many examples it has, and sha256, their hash."""
    return {
        name: {"n": len(getattr(source, name)), "sha256": pairs_hash(getattr(source, name))}
        for name in SETS
    }


def drawn(examples: Sequence[object], seed: int, size: int) -> Examples:
    """Return the first `size` of one shuffled list, so that a smaller set lies in a larger one."""
    shuffled = list(examples)
    random.Random(f"{seed}|drawn").shuffle(shuffled)
    return tuple(shuffled[:size])


def labelled(source: SourceData) -> SourceData:
    """Return the source without examples whose gold is not known. Raises ExperimentError."""
    task = source.task
    kept = {
        name: tuple(each for each in getattr(source, name) if each.gold is not None)
        for name in SETS
    }
    empty = [name for name, examples in kept.items() if not examples]
    if empty:
        raise ExperimentError(f"no {task.unit} with a gold label in: {', '.join(empty)}")
    return SourceData(**kept, task=task)
