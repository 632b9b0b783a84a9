"""Clean examples as the inputs of a stored run: dev, test and a pool to train on."""

import random
from collections.abc import Sequence
from typing import Protocol

from finetune.experiments.inoculation.datasets import Examples, SourceData
from finetune.experiments.training_limits import seed_problems
from probe.errors import ExperimentError
from probe.models.weights.hashes import pairs_hash
from probe.runs.run import Json, RunRequest
from probe.tasks.task import example_json, in_common_classes, read_example, task_named

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


def source_request(
    kind: str, plan: Json, source: SourceData, environment: Json | None, artefacts: Json | None
) -> RunRequest:
    """Return what the store needs to begin a run on the examples; their hashes are added.

    So is what scores are called, where it is not what the task calls them.
    """
    measure = source.task.measure_of(each.gold for each in (*source.dev, *source.test))
    merged = {"measure": measure} if measure != source.task.measure else {}
    facts = {**(artefacts or {}), "sets": source_facts(source), **merged}
    return RunRequest(kind, plan, source_json(source), environment or {}, facts)


class DrawnPlan(Protocol):
    """A plan whose trainings draw examples: of these sizes, by these seeds."""

    @property
    def task(self) -> str:
        """The name of the task that the model answers."""

    @property
    def sizes(self) -> Sequence[int]:
        """How many examples each training has."""

    @property
    def seeds(self) -> Sequence[int]:
        """By which it draws them."""

    @property
    def tests(self) -> int:
        """How many test examples are destroyed."""


def draw_problems(plan: DrawnPlan, source: SourceData) -> dict[str, bool]:
    """Return what may be wrong with sizes and seeds of trainings and the number of tests."""
    available, unit = len(source.pool), source.task.unit
    return {
        "give at least one size and one seed": not (plan.sizes and plan.seeds),
        f"each size must be from 1 to {available}: so many {unit}s there are to train on": any(
            not 1 <= size <= available for size in plan.sizes
        ),
        **seed_problems(plan.seeds),
        f"at least one test {unit} must be destroyed": plan.tests < 1,
        f"the model answers the task {plan.task}, the examples are of {source.task.name}": (
            plan.task != source.task.name
        ),
    }


def drawn(examples: Sequence[object], seed: int, size: int) -> Examples:
    """Return the first `size` of one shuffled list, so that a smaller set lies in a larger one."""
    shuffled = list(examples)
    random.Random(f"{seed}|drawn").shuffle(shuffled)
    return tuple(shuffled[:size])


def labelled(source: SourceData) -> SourceData:
    """Return the source without examples whose gold is not known. Raises ExperimentError.

    What is tested has its gold labels in the classes that all have; the pool is as it is.
    """
    task = source.task
    kept = {
        name: tuple(each for each in getattr(source, name) if each.gold is not None)
        for name in SETS
    }
    empty = [name for name, examples in kept.items() if not examples]
    if empty:
        raise ExperimentError(f"no {task.unit} with a gold label in: {', '.join(empty)}")
    kept["dev"], kept["test"] = in_common_classes(task, kept["dev"], kept["test"])
    return SourceData(**kept, task=task)
