"""The sets of a generalisation: what a seed tests on, trains on and chooses by.

Nothing is stored but a person's own rows: templates give the same pairs again for the same seed.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from finetune.experiments.generalisation.conditions import FILE, GRIDS, Fields, described, offered
from finetune.experiments.generalisation.plan import Plan
from finetune.experiments.inoculation.datasets import Examples
from probe.errors import ExperimentError
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.templates import Request, count, generate, split_by_template

TRAIN_SHARE = 0.77
"""The share of the templates, or of a file's texts, that is trained on (Rozen et al. 2019, 4)."""
DEV_SHARE = 0.1
"""The share of a file's smallest condition that at most chooses epoch and rate."""
ENDLESS = 10**9
"""Pairs to ask of templates that never end; they are made one by one."""


@dataclass(frozen=True)
class SourceData:
    """The original set, and by condition the rows of a person's own file."""

    original: Examples
    rows: Mapping[str, Examples] = field(default_factory=dict)
    task: Task = NLI


@dataclass(frozen=True)
class TrainingSets:
    """What a cell trains on and what chooses its epoch and rate."""

    train: Examples
    dev: Examples


def with_conditions(plan: Plan, data: SourceData) -> Plan:
    """Return the plan with all conditions there are; a small file lends fewer rows to `dev`.

    Raises ExperimentError where the templates have no such conditions or are of another task.
    """
    if plan.vary == FILE:
        names = tuple(data.rows)
        fewest = min(map(len, data.rows.values()))
        dev = min(plan.dev, max(1, int(DEV_SHARE * fewest)))
        return replace(plan, rows=names, columns=names, dev=dev)
    if plan.task != NLI.name:
        raise ExperimentError(f"the templates are {NLI.name}'s, the model answers {plan.task}")
    known = offered(plan.phenomenon, plan.vary)
    rows = tuple(each.name for each in known if each.train is not None)
    return replace(plan, rows=rows, columns=tuple(each.name for each in known))


def draw_tests(plan: Plan, data: SourceData, seed: int) -> dict[str, Examples]:
    """Return by condition the pairs that a seed tests on, `plan.tests` or all there are."""
    draw = _held_out_rows if plan.vary == FILE else _from_templates
    drawn = draw(plan, data, seed)
    return {name: tuple(islice(pairs, plan.tests)) for name, pairs in drawn.items()}


def _held_out_rows(plan: Plan, data: SourceData, seed: int) -> dict[str, Iterator[Any]]:
    held_out, task = _held_out(data, seed), data.task
    return {
        name: (row for row in _rows(data, name, seed) if _source(task, row) in held_out)
        for name in plan.columns
    }


def _from_templates(plan: Plan, data: SourceData, seed: int) -> dict[str, Iterator[Any]]:
    _, templates = _templates(plan, seed)
    return {
        name: _generated(plan, condition.test, templates, seed)
        for name, condition in described(plan.columns, plan.vary).items()
    }


def draw_training(
    plan: Plan, data: SourceData, seed: int, row: str, tests: Mapping[str, Examples]
) -> TrainingSets:
    """Return what a seed trains on of a condition, as much as the largest size.

    A smaller training set is the start of a larger one. No premise is in two of train, dev and
    `tests`. Raises ExperimentError where there are too few.
    """
    task, size = data.task, max(plan.sizes)
    tested = {_source(task, example) for examples in tests.values() for example in examples}
    if plan.vary == FILE:
        tested |= _held_out(data, seed)
    unseen = (each for each in _pool(plan, data, seed, row) if _source(task, each) not in tested)
    dev = tuple(islice(unseen, plan.dev))
    chosen_by = {_source(task, example) for example in dev}
    train = tuple(islice((e for e in unseen if _source(task, e) not in chosen_by), size))
    if len(train) < size:
        raise ExperimentError(
            f"{row}: there are {len(train):,} {task.unit}s to train on besides those that are "
            f"tested on, not {size:,}; choose fewer examples"
        )
    return TrainingSets(train, dev)


def _pool(plan: Plan, data: SourceData, seed: int, row: str) -> Iterator[Any]:
    """Yield the pairs of a condition that a seed may train on, in its order."""
    if plan.vary == FILE:
        return iter(_rows(data, row, seed))
    templates, _ = _templates(plan, seed)
    fields = described((row,), plan.vary)[row].train
    assert fields is not None, f"{row} is only tested on"
    return _generated(plan, fields, templates, seed)


def _templates(plan: Plan, seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the templates to train on and those to test on; none stands for all."""
    if not GRIDS[plan.vary].by_template:
        return (), ()
    return split_by_template(plan.phenomenon, TRAIN_SHARE, seed)


def _generated(plan: Plan, fields: Fields, templates: tuple[str, ...], seed: int) -> Iterator[Any]:
    request = Request(plan.phenomenon, templates=templates, **fields)
    available = count(request)
    return generate(request, ENDLESS if available is None else available, seed)


def _rows(data: SourceData, condition: str, seed: int) -> list[Any]:
    """Return the rows of a condition in a seed's order."""
    rows = list(data.rows[condition])
    random.Random(f"{seed}|{condition}|rows").shuffle(rows)
    return rows


def _held_out(data: SourceData, seed: int) -> set[str]:
    """Return the premises that a seed does not train on, of each condition about as large a share.

    In a task without a source it is the texts themselves.
    """
    held_out = set[str]()
    for condition, rows in data.rows.items():
        sources = sorted({_source(data.task, row) for row in rows})
        random.Random(f"{seed}|{condition}|sources").shuffle(sources)
        n = max(1, round((1 - TRAIN_SHARE) * len(sources)))
        held_out |= set(sources[:n])
    return held_out


def _source(task: Task, example: Any) -> str:
    return str(getattr(example, task.source or task.target))
