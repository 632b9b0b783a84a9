"""What to run: a plan, the cells it falls into, and what it must not ask for."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from finetune.experiments.inoculation.datasets import Sets
from finetune.experiments.model_names import new_model_name
from finetune.experiments.refusal import refuse
from finetune.experiments.training_limits import sweep_problems
from finetune.training.recipes import Mode
from probe.data.names import HALF
from probe.errors import ExperimentError
from probe.models.classifier import Precision
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task

Number = TypeVar("Number", int, float)
ALL = -1
"""Stands for the size of the whole challenge training set until the sets are known."""
MAX_QUOTED = 60
"""Characters that a message quotes of a text."""
LIU_SIZES = (5, 10, 50, 100, 400, 500, 750, 1000, ALL)
LIU_LRS = (1e-6, 1e-5, 1e-4, 4e-4, 1e-3, 1e-2)
"""The published grid; ALL was left out for the numerical challenge, whose 1,000 are all."""


@dataclass(frozen=True)
class Thresholds:
    """Where the outcomes end, as shares: SEMANTICS names these ours, not the paper's."""

    gap: float = 0.02
    drop: float = 0.03
    cured: float = 0.80
    uncured: float = 0.25
    majority: float = 0.70
    damage: float = 0.05
    tests: int = 300


THRESHOLDS = Thresholds()
THRESHOLD_OPTIONS = {
    "gap": "--min-gap",
    "drop": "--max-drop",
    "cured": "--cured",
    "uncured": "--uncured",
    "majority": "--max-majority",
    "damage": "--max-damage",
    "tests": "--min-tests",
}
"""What each is called on the command line."""


@dataclass(frozen=True)
class Plan:
    """What to run. `challenge` is a transform's name, or only a label where sets are given.

    `batch` None takes the size that the model's own training took. Ten epochs where Liu's models
    had up to 140, so that four sizes take one thread no more than five minutes. Epoch 0, the model
    as it was, is a candidate for the best epoch with `include_epoch0` only; Liu's code never
    restores it. `thresholds` only name the outcome, no cell depends on them. `task` is the
    model's, `labels` the order of its outputs where its config does not say it.
    """

    model: str
    challenge: str
    sizes: tuple[int, ...]
    lrs: tuple[float, ...]
    seeds: tuple[int, ...]
    mode: Mode = "full"
    batch: int | None = None
    max_epochs: int = 10
    patience: int = 5
    max_tokens: int = 128
    precision: Precision = "auto"
    include_epoch0: bool = False
    thresholds: Thresholds = THRESHOLDS
    task: str = NLI.name
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One fine-tuning; size 0 is the model as it was."""

    size: int
    lr: float
    seed: int


BASE = Cell(0, 0.0, 0)


def cells(plan: Plan) -> tuple[Cell, ...]:
    """Return the cells of a plan, the model as it was first, then by size."""
    trained = [
        Cell(size, lr, seed)
        for size in sorted(set(plan.sizes))
        for lr in dict.fromkeys(plan.lrs)
        for seed in dict.fromkeys(plan.seeds)
    ]
    return (BASE, *trained)


def cell_count(plan: Plan) -> int:
    """Return how many cells a plan has, without listing them."""
    return 1 + len(set(plan.sizes)) * len(set(plan.lrs)) * len(set(plan.seeds))


def numbers(name: str, text: str, kind: Callable[[str], Number]) -> tuple[Number, ...]:
    """Read numbers with commas between them, each once. Raises ExperimentError with a sentence."""
    try:
        return tuple(dict.fromkeys(kind(part) for part in text.split(",") if part.strip()))
    except ValueError:
        quoted = repr(text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]} …")
        raise ExperimentError(
            f"{name} {quoted} is not a list of numbers such as 10,50,100"
        ) from None


def read_sizes(name: str, text: str) -> tuple[int, ...]:
    """Read sizes with commas between them; `all` is ALL. Raises ExperimentError."""
    return numbers(name, text, _size)


def _size(part: str) -> int:
    if part.strip().lower() == "all":
        return ALL
    if (size := int(part)) < 1:  # one of them would be read as ALL
        raise ExperimentError("each size must be 1 or more")
    return size


def resolved(plan: Plan, sets: Sets) -> Plan:
    """Return the plan with ALL as the number of pairs there are to train on."""
    available = len(sets.challenge_train)
    sizes = [available if size == ALL else size for size in plan.sizes]
    return replace(plan, sizes=tuple(dict.fromkeys(sizes)))


def nested(pairs: Sequence[Any], seed: int, size: int, task: Task = NLI) -> tuple[Any, ...]:
    """Return the first `size` of one shuffled list, so that a smaller set lies in a larger one.

    Of questions about passages the first ones are about passages of their own, as far as there are
    passages, then come the second ones about each. Raises ExperimentError where there are fewer.
    """
    if size > len(pairs):
        raise ExperimentError(f"there are {len(pairs)} examples to train on, not {size}")
    shuffled = list(pairs)
    random.Random(f"{seed}|nested").shuffle(shuffled)
    if task.has_spans:
        shuffled = _by_turns(shuffled, task)
    return tuple(shuffled[:size])


def _by_turns(examples: Sequence[Any], task: Task) -> list[Any]:
    """Return the first example of each topic, then the second ones, and so on."""
    seen = Counter[str]()
    turns = []
    for example in examples:
        topic = task.topic_of(example)
        turns.append(seen[topic])
        seen[topic] += 1
    return [examples[at] for at in sorted(range(len(examples)), key=turns.__getitem__)]


def check(plan: Plan, sets: Sets) -> None:
    """Refuse a plan that cannot run on these sets. Raises ExperimentError with a sentence."""
    available, unit = len(sets.challenge_train), sets.task.unit
    golds = {pair.gold for pair in sets.challenge_train}
    problems = {
        "the challenge's name holds half of a character, a lone surrogate": (
            HALF.search(plan.challenge) is not None
        ),
        "each size must be 1 or more": any(size < 1 for size in plan.sizes),
        **sweep_problems(plan),
        "a model that answers with spans has no fast mode; choose full": (
            plan.mode == "fast" and sets.task.has_spans
        ),
        "one of the sets is empty": not all(
            (sets.original_dev, sets.original_test, available, sets.challenge_test)
        ),
        "each threshold must be a share from 0 to 1": not all(
            0 <= share <= 1 for name, share in vars(plan.thresholds).items() if name != "tests"
        ),
        "the share closed for Outcome 1 must be at least that for Outcome 2": (
            plan.thresholds.cured < plan.thresholds.uncured
        ),
        f"the model answers the task {plan.task}, the challenge is one of {sets.task.name}": (
            plan.task != sets.task.name
        ),
        f"each {unit} of the challenge training set needs a gold label": (
            not sets.challenge_train or not _golden(sets.task, golds)
        ),
        (
            f"the challenge training set has {available} {unit}s; no size can be larger: "
            f"take {available} at most, or all"
        ): any(size > available for size in plan.sizes),
    }
    refuse(problems)


def _golden(task: Task, golds: set[Label | None]) -> bool:
    """Whether all are gold labels of a task; where its answer is a span, whether all are there."""
    return None not in golds and (not task.labels or golds <= {*task.labels, *task.golds})


def kept_name(plan: Plan) -> str:
    """Return a new name for the model of the largest size; it leads to no run."""
    return new_model_name(plan.model, plan.challenge, str(max(plan.sizes)))
