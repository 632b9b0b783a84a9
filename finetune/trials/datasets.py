"""The sets of an inoculation, and the ordinary labelled pairs that they are made from."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from probe.errors import ExperimentError
from probe.models.weights import pairs_hash
from probe.runs.run import Json
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task, example_json, in_common_classes, read_example, task_named

Examples = tuple[Any, ...]
"""Examples of one task.  # Any: the task's own dataclass"""


@dataclass(frozen=True)
class Sets:
    """The sets. Liu's original test set was their dev set; here they are two.

    `control` has the challenge's kind of change by other words and is never trained on (Naik et al.
    2018, table 5); it may be empty. `counter_tests` are test sets by name that differ from the
    challenge in one thing that could have been learnt in place of the phenomenon (Jia and Liang
    2017, 4.6).
    """

    original_dev: Examples
    original_test: Examples
    challenge_train: Examples
    challenge_test: Examples
    control: Examples = ()
    counter_tests: Mapping[str, Examples] = field(default_factory=dict)
    task: Task = NLI

    @property
    def examples(self) -> dict[str, Examples]:
        """The examples of each set by its name."""
        return {**{name: getattr(self, name) for name in SET_NAMES}, **self.counter_tests}

    @cached_property
    def scored(self) -> "Sets":
        """The sets as they are scored, though not trained on: in the classes that all have."""
        kept = in_common_classes(self.task, *self.examples.values())
        read = dict(zip(self.examples, kept, strict=True))
        dev, test, train, challenge, control = (read.pop(name) for name in SET_NAMES)
        return Sets(dev, test, train, challenge, control, read, self.task)

    @property
    def measure(self) -> str:
        """What the scores are called."""
        golds = (each.gold for examples in self.examples.values() for each in examples)
        return self.task.measure_of(golds)

    @property
    def paired(self) -> bool:
        """Whether the test sets hold the same rows, so that they can be resampled together."""
        original = [pair.id for pair in self.original_test]
        return all(original) and original == [pair.id for pair in self.challenge_test]

    @property
    def majority(self) -> float:
        """The share of the challenge training set that one label for every pair gets right.

        It is the share of the commonest label, save that non-entailment is right for two; 0 where
        answers are no labels.
        """
        if not self.task.labels:
            return 0.0
        golds = [example.gold for example in self.scored.challenge_train if example.gold]
        return max(right_counts(self.task, golds).values()) / len(golds)


SET_NAMES = ("original_dev", "original_test", "challenge_train", "challenge_test", "control")


def right_counts(task: Task, golds: Sequence[Label]) -> dict[Label, int]:
    """Return for each label of a task how many gold labels it is right for."""
    return {label: sum(task.matches(label, gold) for gold in golds) for label in task.labels}


def worst_variants(
    task: Task, examples: Sequence[Any], scores: Sequence[float]
) -> tuple[float, ...]:
    """Return the lowest score of the variants of each example, in the order of the first ones.

    So many adversarial variants of one question count once (Jia and Liang 2017). An example that
    is a variant of none has its own score.
    """
    names = [task.variant_of(example) if task.variant_of else "" for example in examples]
    lowest: dict[str | int, float] = {}
    for at, (name, score) in enumerate(zip(names, scores, strict=True)):
        lowest[name or at] = min(score, lowest.get(name or at, score))
    return tuple(lowest.values())


def facts_of(named: Mapping[str, Sequence[Any]]) -> Json:
    """Return for each set n, how many examples it has, and sha256, their hash."""
    return {
        name: {"n": len(examples), "sha256": pairs_hash(examples)}
        for name, examples in named.items()
    }


def sets_facts(sets: Sets) -> Json:
    """Return the facts of each set as it is scored."""
    return facts_of(sets.scored.examples)


def merged_measure(task: Task, *several: Sequence[Any]) -> Json:
    """Return what scores are called, as `measure`, where it is not what the task calls them."""
    measure = task.measure_of(each.gold for examples in several for each in examples)
    return {"measure": measure} if measure != task.measure else {}


def named_json(task: Task, named: Mapping[str, Any]) -> Json:  # Any: examples, or more by name
    """Return examples by their names, and the name of their task, as JSON."""

    def rows(value: Any) -> Any:  # Any: as above
        if isinstance(value, Mapping):
            return {name: rows(examples) for name, examples in value.items()}
        return [example_json(each) for each in value]

    return {"task": task.name, **rows(named)}


def named_from(values: Json) -> tuple[Task, dict[str, Any]]:
    """Read what `named_json` wrote; the first files were NLI's and did not say so."""
    task = task_named(values.get("task", NLI.name))

    def examples(value: Any) -> Any:  # Any: as above
        if isinstance(value, Mapping):
            return {name: examples(rows) for name, rows in value.items()}
        return tuple(read_example(task, row) for row in value)

    return task, {name: examples(rows) for name, rows in values.items() if name != "task"}


@dataclass(frozen=True)
class SourceData:
    """Original dev and test examples, and a pool that challenge training sets are made from."""

    dev: Examples
    test: Examples
    pool: Examples
    task: Task = NLI


def bundled(task: Task = NLI) -> SourceData:
    """Return a task's examples that come with the app. Raises ExampleError where it has none."""
    dev, test, pool = (bundled_examples(task, split) for split in ("dev", "test", "pool"))
    return SourceData(dev, test, pool, task)


def split_by_premise(
    examples: Sequence[Any], n: int, seed: int = 0, task: Task = NLI
) -> tuple[Examples, Examples]:
    """Draw whole premises until there are n pairs or a few more; return these and the rest.

    No premise is on both sides. In other tasks it is what `Task.topic_of` says, as a passage.
    """
    groups: dict[str, list[Any]] = {}
    for example in examples:
        groups.setdefault(task.topic_of(example), []).append(example)
    premises = sorted(groups)
    random.Random(f"{seed}|premises").shuffle(premises)
    sides: tuple[list[Any], list[Any]] = ([], [])
    for premise in premises:
        sides[len(sides[0]) >= n].extend(groups[premise])
    return tuple(sides[0]), tuple(sides[1])


def unseen(examples: Sequence[Any], *others: Sequence[Any], task: Task = NLI) -> Examples:
    """Return the pairs whose premise is in none of the other sets; see `split_by_premise`."""
    taken = {task.topic_of(example) for other in others for example in other}
    return tuple(example for example in examples if task.topic_of(example) not in taken)


SETS = ("dev", "test", "pool")


def source_json(source: SourceData) -> Json:
    """Return the examples and the name of their task as JSON."""
    return named_json(source.task, {name: getattr(source, name) for name in SETS})


def source_from(values: Json) -> SourceData:
    """Read examples from their JSON."""
    task, examples = named_from(values)
    return SourceData(**examples, task=task)


def source_artefacts(plan: object, source: SourceData) -> Json:
    """Return the facts of the examples that a run keeps, and what scores are called."""
    facts = facts_of({name: getattr(source, name) for name in SETS})
    return {"sets": facts, **merged_measure(source.task, source.dev, source.test)}


def drawn(examples: Sequence[object], seed: int, size: int) -> Examples:
    """Return the first `size` of one shuffled list, so that a smaller set lies in a larger one."""
    shuffled = list(examples)
    random.Random(f"{seed}|drawn").shuffle(shuffled)
    return tuple(shuffled[:size])


def labelled(source: SourceData) -> SourceData:
    """Return what has gold labels, dev and test in common classes. Raises ExperimentError."""
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
