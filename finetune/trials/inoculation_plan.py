"""What to run: a plan, the cells it falls into, and what it must not ask for."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from operator import attrgetter
from statistics import fmean
from typing import Any, Literal

import numpy as np

from finetune.training.recipes import Mode
from finetune.trials.base import Epoch as Epoch
from finetune.trials.base import (
    TrialKind,
    best_rates,
    new_model_name,
    numbers,
    refuse,
    sweep_problems,
)
from finetune.trials.datasets import (
    SET_NAMES,
    Sets,
    examples_from,
    examples_json,
    merged_measure,
    sets_facts,
)
from probe.data.names import HALF
from probe.errors import ExperimentError
from probe.first_import import first_import
from probe.models.classifier import Precision
from probe.models.library import AnyModel
from probe.runs.models import load_any_unchanged
from probe.runs.run import Json, Run, RunCell
from probe.stopping import Stop
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task, task_named

ALL = -1
"""Stands for the size of the whole challenge training set until the sets are known."""
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
    sizes, lrs, seeds = sorted(set(plan.sizes)), dict.fromkeys(plan.lrs), dict.fromkeys(plan.seeds)
    return (BASE, *(Cell(*each) for each in product(sizes, lrs, seeds)))


def cell_count(plan: Plan) -> int:
    """Return how many cells a plan has, without listing them."""
    return 1 + len(set(plan.sizes)) * len(set(plan.lrs)) * len(set(plan.seeds))


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
        seen = Counter[str]()
        turns = []
        for topic in map(task.topic_of, shuffled):
            turns.append(seen[topic])
            seen[topic] += 1
        shuffled = [shuffled[at] for at in sorted(range(len(turns)), key=turns.__getitem__)]
    return tuple(shuffled[:size])


def check(plan: Plan, sets: Sets) -> None:
    """Refuse a plan that cannot run on these sets. Raises ExperimentError with a sentence."""
    available, unit, task = len(sets.challenge_train), sets.task.unit, sets.task
    golds = {pair.gold for pair in sets.challenge_train}
    known = None not in golds and (not task.labels or golds <= {*task.labels, *task.golds})
    problems = {
        "the challenge's name holds half of a character, a lone surrogate": (
            HALF.search(plan.challenge) is not None
        ),
        "each size must be 1 or more": any(size < 1 for size in plan.sizes),
        **sweep_problems(plan),
        "a model that answers with spans has no fast mode; choose full": (
            plan.mode == "fast" and task.has_spans
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
        f"the model answers the task {plan.task}, the challenge is one of {task.name}": (
            plan.task != task.name
        ),
        f"each {unit} of the challenge training set needs a gold label": (not known),
        (
            f"the challenge training set has {available} {unit}s; no size can be larger: "
            f"take {available} at most, or all"
        ): any(size > available for size in plan.sizes),
    }
    refuse(problems)


def kept_name(plan: Plan) -> str:
    """Return a new name for the model of the largest size; it leads to no run."""
    return new_model_name(plan.model, plan.challenge, str(max(plan.sizes)))


@dataclass(frozen=True)
class Point:
    """What a cell came to: mean scores 0 to 1, and for each test row how right the model was.

    A score is the F1 of a span, 0 or 1 for a label. `best_epoch` is the epoch whose weights were
    tested, `dev` its mean score on original dev, `control` that on the control set, None where
    there is none, `counter_tests` the scores of each counter-test's rows by its name. `dose` is the
    sum of the scores of the examples that were trained on, by the weights of the last epoch
    trained, which need not be the one tested: of labels how many are right. It is None of the model
    as it was, and of points from before it was recorded.
    """

    cell: Cell
    original: float
    challenge: float
    dev: float
    epochs: int
    best_epoch: int
    seconds: float
    precision: str
    original_right: tuple[float, ...]
    challenge_right: tuple[float, ...]
    control: float | None = None
    counter_tests: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    dose: float | None = None
    diverged: bool = False


Selection = Literal["oracle_lr", "dev_lr"]


@dataclass(frozen=True)
class SelectedPoint:
    """The scores at one size with the learning rate chosen there, means over the seeds.

    The two of rows hold for each test row its mean score, of labels the share of seeds that got it
    right; `control` is None where there is no control set, `counter_tests` hold the scores of rows
    by the name of the test.
    """

    size: int
    lr: float
    seeds: int
    original: float
    challenge: float
    dev: float
    original_right: tuple[float, ...]
    challenge_right: tuple[float, ...]
    control: float | None = None
    counter_tests: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    diverged: bool = False


def choose(points: Iterable[Point], selection: Selection) -> tuple[SelectedPoint, ...]:
    """Choose a learning rate for each size, smallest size first."""
    score = attrgetter("challenge" if selection == "oracle_lr" else "dev")
    return tuple(map(merge, best_rates(points, lambda p: p.cell.size, score).values()))


def merge(points: Sequence[Point]) -> SelectedPoint:
    """Average the seeds of one size and learning rate."""

    def rows(scores: Iterable[Sequence[float]]) -> tuple[float, ...]:
        return tuple(np.mean(list(scores), axis=0).tolist())

    controls = [point.control for point in points if point.control is not None]
    return SelectedPoint(
        points[0].cell.size,
        points[0].cell.lr,
        len(points),
        fmean(point.original for point in points),
        fmean(point.challenge for point in points),
        fmean(point.dev for point in points),
        rows(point.original_right for point in points),
        rows(point.challenge_right for point in points),
        fmean(controls) if controls else None,
        {
            name: rows(point.counter_tests[name] for point in points)
            for name in points[0].counter_tests
        },
        any(point.diverged for point in points),
    )


def sets_from(values: Json) -> Sets:
    """Read the sets from their JSON; the first inputs were NLI's and did not say so."""
    task = task_named(values.get("task", NLI.name))
    sets = {name: examples_from(task, rows) for name, rows in values.items() if name != "task"}
    known = {name: sets.pop(name) for name in SET_NAMES if name in sets}
    return Sets(**known, counter_tests=sets, task=task)


def sets_json(sets: Sets) -> Json:
    """Return the sets, counter-tests by their own names, and the name of their task as JSON."""
    examples = {name: examples_json(each) for name, each in sets.examples.items()}
    return {"task": sets.task.name, **examples}


def _artefacts(plan: Plan, sets: Sets) -> Json:
    return {"sets": sets_facts(sets), **merged_measure(sets.task, *sets.examples.values())}


def is_largest(plan: Plan, cell: Cell) -> bool:
    """Whether a cell is of the largest size, whose model may be kept."""
    return cell.size == max(plan.sizes)


def trial(
    plan: Plan, sets: Sets, cell: Cell, before: AnyModel, stop: Stop
) -> tuple[AnyModel, Iterator[Epoch | Point]]:
    """Return a copy of a model, and what its training comes to."""
    with first_import:
        from finetune.trials.inoculation_trial import fresh, run_cell

    model = fresh(before)
    return model, run_cell(plan, sets, cell, model, stop)


KIND = "inoculation"
TRIALS = TrialKind(
    KIND, Plan, Cell, Point, cells, ("sizes", "lrs", "seeds", "thresholds"), trial, sets_json,
    sets_from, _artefacts, is_largest, takes_all=True, load=load_any_unchanged,
)  # fmt: skip
InoculationRun = Run[Plan, Cell, Epoch, Point]
InoculationCell = RunCell[Cell, Epoch, Point]
plan_from, point_from, epoch_from = TRIALS.plan_from, TRIALS.point_from, TRIALS.epoch_from
inoculation_run, inoculation_runs, known_results = TRIALS.run, TRIALS.runs, TRIALS.known_results
run_request = TRIALS.request
