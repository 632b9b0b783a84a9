"""What to run: a plan, the cells it falls into, and what it must not ask for."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product
from typing import Any, NamedTuple

from finetune.training.recipes import Mode
from finetune.trials.base import Epoch as Epoch
from finetune.trials.base import TrialKind, refuse, sweep_problems
from finetune.trials.datasets import Examples, examples_from, examples_json, facts_of
from probe.errors import ExperimentError, TemplateError
from probe.first_import import first_import
from probe.models.classifier import Classifier, Precision
from probe.runs.run import Json, Run
from probe.stopping import Stop
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task, task_named
from probe.templates import Request, count, generate, kinds, read_range, split_by_template
from probe.templates.generate import COMPLEXITIES, select

MAX_SIZE, MAX_TESTS = 100_000, 10_000
"""The largest training set that Rozen et al. report, and pairs of a condition to test on."""
RATE_SHARES = (0.3, 1.0)
"""Of the rate that a model is usually tuned with, the shares that are tried."""


@dataclass(frozen=True)
class Thresholds:
    """From which loss of accuracy, as a share, a model counts as having learnt the data set."""

    loss: float = 0.10


THRESHOLDS = Thresholds()


@dataclass(frozen=True)
class Plan:
    """What to run: which conditions are trained on (rows) and tested on (columns).

    `phenomenon` is a kind of templates, or only a name where a file's column gives the conditions
    (`vary` is then "file"). `tests` pairs of each condition are tested on, `dev` of the condition
    that is trained on choose epoch and learning rate: they come from templates, or texts, that are
    trained on. Each seed splits and draws anew. `thresholds` only name the outcome, no cell
    depends on them. Rozen et al. train all weights (`mode` full) and give neither batch nor epochs.
    """

    model: str
    phenomenon: str
    vary: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    lrs: tuple[float, ...]
    seeds: tuple[int, ...]
    mode: Mode = "fast"
    tests: int = 400
    dev: int = 200
    batch: int | None = None
    max_epochs: int = 10
    patience: int = 3
    max_tokens: int = 128
    precision: Precision = "auto"
    thresholds: Thresholds = THRESHOLDS
    task: str = NLI.name
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One fine-tuning on a condition; of size 0 is the model as it was, tested on a seed's sets."""

    train: str
    size: int
    lr: float
    seed: int


def usual_rates(rate: float) -> tuple[float, ...]:
    """Return the rates to choose among, for the one that a model is usually tuned with."""
    return tuple(float(f"{share * rate:.3g}") for share in RATE_SHARES)


def cells(plan: Plan) -> tuple[Cell, ...]:
    """Return the cells of a plan, the model as it was first, then by size."""
    seeds = dict.fromkeys(plan.seeds)
    trained = product(sorted(set(plan.sizes)), seeds, plan.rows, dict.fromkeys(plan.lrs))
    return (*map(base_cell, seeds), *(Cell(row, size, lr, n) for size, n, row, lr in trained))


def base_cell(seed: int) -> Cell:
    """Return the cell of the model as it was, on a seed's test sets."""
    return Cell("", 0, 0.0, seed)


def check(plan: Plan) -> None:
    """Refuse a plan that cannot run. Raises ExperimentError with a sentence."""
    problems = {
        f"each size must be a whole number from 1 to {MAX_SIZE:,}": not all(
            1 <= size <= MAX_SIZE for size in plan.sizes
        ),
        **sweep_problems(plan),
        f"test pairs of a condition must be from 1 to {MAX_TESTS:,}": not (
            1 <= plan.tests <= MAX_TESTS
        ),
        "the loss from which it learnt the set must be above 0 and at most 1, or 100 points": not (
            0 < plan.thresholds.loss <= 1
        ),
        "give at least two conditions to train on": len(plan.rows) < 2,
    }
    refuse(problems)


class Hits(NamedTuple):
    """How many of n predictions are right."""

    right: int
    n: int


Scores = Mapping[Label, Hits]
"""What is right of a set, by gold label."""


@dataclass(frozen=True)
class Point:
    """What a cell came to on the original set and on each condition's test set.

    `best_epoch` is the epoch whose weights were tested, `dev` its accuracy on held-out pairs of
    the condition that was trained on, 0 for the model as it was. Where the training `diverged` it
    ended there, with the weights of the best epoch before.
    """

    cell: Cell
    original: Scores
    tests: Mapping[str, Scores]
    dev: float
    epochs: int
    best_epoch: int
    seconds: float
    precision: str
    diverged: bool = False


def total(scores: Scores) -> Hits:
    """Return what is right of a whole set."""
    return Hits(*map(sum, zip(*scores.values(), strict=True)))


def share_right(scores: Scores) -> float:
    """Return the accuracy on a whole set, from 0 to 1."""
    hits = total(scores)
    return hits.right / hits.n


FILE = "file"
"""What varies where a column of a person's own file names the conditions."""
Fields = Mapping[str, Any]  # Any: values of a Request's fields


@dataclass(frozen=True)
class Condition:
    """A condition, and the fields of the requests for its examples; `train` None: only tested."""

    name: str
    title: str
    phrase: str
    test: Fields
    train: Fields | None = None


@dataclass(frozen=True)
class Grid:
    """Something that varies. With `by_template` no template is both trained and tested on."""

    title: str
    summary: str
    conditions: tuple[Condition, ...] = field(repr=False)
    by_template: bool = False


def _complexity(name: str) -> Condition:
    fields = {"complexity": name}
    return Condition(name, name.capitalize(), f"{name} sentences", fields, fields)


def _range(text: str) -> Condition:
    low, high = read_range(text)
    fields = {"low": low, "high": high}
    words = f"{low:,} to {high:,}"
    return Condition(
        text,
        words,
        f"numbers from {words}",
        {**fields, "lexical": "B"},
        {**fields, "lexical": "A"},
    )


PUBLISHED_RANGES = ("30-49", "60-79", "200-299", "1000-9999")
GRIDS: Mapping[str, Grid] = {
    "complexity": Grid(
        "Sentence",
        "Simple, medium and complex sentences; no template is both trained and tested on.",
        tuple(map(_complexity, COMPLEXITIES)),
        by_template=True,
    ),
    "lexical": Grid(
        "Words",
        "Two sets of words in the same templates, and another verb with the second set.",
        (
            Condition("Lex1", "First words", "the first words", {"lexical": "A"}, {"lexical": "A"}),
            Condition("Lex2", "Other words", "the other words", {"lexical": "B"}, {"lexical": "B"}),
            Condition("Lex2b", "Another verb", "another verb", {"lexical": "B2"}),
        ),
    ),
    "range": Grid(
        "Range",
        "Numbers of other ranges in the same templates; the words that are tested are new.",
        tuple(map(_range, PUBLISHED_RANGES)),
    ),
}
"""What may vary, by name."""


def conditions(phenomenon: str, vary: str) -> tuple[Condition, ...]:
    """Return the conditions that a kind of templates has, none where it has no two to train on."""
    fitting = []
    for each in GRIDS[vary].conditions:
        with suppress(TemplateError):
            select(Request(phenomenon, **each.test))
            fitting.append(each)
    return tuple(fitting) if sum(each.train is not None for each in fitting) > 1 else ()


def grids(phenomenon: str) -> tuple[str, ...]:
    """Return what may vary in a kind of templates."""
    return tuple(name for name in GRIDS if conditions(phenomenon, name))


def phenomena() -> tuple[str, ...]:
    """Return the kinds of templates in which anything may vary."""
    return tuple(kind for kind in kinds() if grids(kind))


def offered(phenomenon: str, vary: str) -> tuple[Condition, ...]:
    """Return the conditions of a grid by its names. Raises ExperimentError for unknown ones."""
    if phenomenon not in phenomena():
        raise ExperimentError(
            f"there are no conditions for {phenomenon!r}; there are: {', '.join(phenomena())}"
        )
    if vary not in grids(phenomenon):
        raise ExperimentError(
            f"{phenomenon} templates cannot vary {vary!r}; they can: {', '.join(grids(phenomenon))}"
        )
    return conditions(phenomenon, vary)


def described(names: Sequence[str], vary: str) -> dict[str, Condition]:
    """Return conditions by name; those of a person's own file are called by what stands there."""
    known = {each.name: each for each in GRIDS[vary].conditions} if vary in GRIDS else {}
    return {name: known.get(name) or Condition(name, name, f"“{name}”", {}) for name in names}


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


def _examples(
    plan: Plan, data: SourceData, name: str, seed: int, tested: bool
) -> Iterator[Any]:  # Any: the task's own dataclass
    """Yield a condition's examples in a seed's order, those tested on or those trained on.

    They have templates or, of a file, premises of their own: in a task without a source the texts
    themselves. Of each condition about as large a share is held out.
    """
    task = data.task
    if plan.vary == FILE:
        held_out = set[str]()
        for each, rows in data.rows.items():
            sources = sorted({_source(task, row) for row in rows})
            random.Random(f"{seed}|{each}|sources").shuffle(sources)
            held_out |= set(sources[: max(1, round((1 - TRAIN_SHARE) * len(sources)))])
        own = list(data.rows[name])
        random.Random(f"{seed}|{name}|rows").shuffle(own)
        return (row for row in own if (_source(task, row) in held_out) is tested)
    condition = described((name,), plan.vary)[name]
    fields = condition.test if tested else condition.train
    assert fields is not None, f"{name} is only tested on"
    templates: tuple[str, ...] = ()  # none stands for all
    if GRIDS[plan.vary].by_template:
        templates = split_by_template(plan.phenomenon, TRAIN_SHARE, seed)[tested]
    request = Request(plan.phenomenon, templates=templates, **fields)
    available = count(request)
    return generate(request, ENDLESS if available is None else available, seed)


def draw_tests(plan: Plan, data: SourceData, seed: int) -> dict[str, Examples]:
    """Return by condition the pairs that a seed tests on, `plan.tests` or all there are."""
    return {
        name: tuple(islice(_examples(plan, data, name, seed, True), plan.tests))
        for name in plan.columns
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
    pool = _examples(plan, data, row, seed, False)
    unseen = (each for each in pool if _source(task, each) not in tested)
    dev = tuple(islice(unseen, plan.dev))
    chosen_by = {_source(task, example) for example in dev}
    train = tuple(islice((e for e in unseen if _source(task, e) not in chosen_by), size))
    if len(train) < size:
        raise ExperimentError(
            f"{row}: there are {len(train):,} {task.unit}s to train on besides those that are "
            f"tested on, not {size:,}; choose fewer examples"
        )
    return TrainingSets(train, dev)


def _source(task: Task, example: Any) -> str:
    return str(getattr(example, task.source or task.target))


def data_json(data: SourceData) -> Json:
    """Return the original set, a person's own rows and the name of their task as JSON."""
    rows = {name: examples_json(examples) for name, examples in data.rows.items()}
    return {"task": data.task.name, "original": examples_json(data.original), "rows": rows}


def data_from(values: Json) -> SourceData:
    """Read what `data_json` wrote."""
    read = partial(examples_from, task_named(values["task"]))
    rows = {name: read(examples) for name, examples in values["rows"].items()}
    return SourceData(read(values["original"]), rows, task_named(values["task"]))


def _artefacts(plan: Plan, data: SourceData) -> Json:
    """Return the facts of all sets. Raises ExperimentError where a seed finds too few pairs."""
    seeds = {}
    for seed in dict.fromkeys(plan.seeds):
        tests = draw_tests(plan, data, seed)
        trained = {row: draw_training(plan, data, seed, row, tests) for row in plan.rows}
        seeds[str(seed)] = {
            "test": facts_of(tests),
            "dev": facts_of({row: sets.dev for row, sets in trained.items()}),
            "train": facts_of({row: sets.train for row, sets in trained.items()}),
        }
    original = facts_of({"original": data.original})
    return {"sets": {**original, "rows": facts_of(data.rows), "seeds": seeds}}


def _depends(artefacts: Json, cell: Cell) -> Json:
    """Return the facts that a cell's figures depend on, besides those of its training set.

    A larger training set begins with a smaller one, so that its hash may be another.
    """
    sets = artefacts["sets"]
    seed = sets["seeds"].get(str(cell.seed), {})
    return {**sets, "seeds": {name: seed.get(name) for name in ("test", "dev")}}


def trial(
    plan: Plan, data: SourceData, cell: Cell, before: Classifier, stop: Stop
) -> tuple[Classifier, Iterator[Epoch | Point]]:
    """Return a copy of a model, and what its training comes to."""
    with first_import:
        from finetune.trials.inoculation_trial import fresh, generalise

    model = fresh(before)
    return model, generalise(plan, data, cell, model, stop)


KIND = "generalisation"
TRIALS = TrialKind(
    KIND, Plan, Cell, Point, cells, ("sizes", "lrs", "seeds", "thresholds"), trial, data_json,
    data_from, _artefacts, depends=_depends,
)  # fmt: skip
GeneralisationRun = Run[Plan, Cell, Epoch, Point]
plan_from, point_from, epoch_from = TRIALS.plan_from, TRIALS.point_from, TRIALS.epoch_from
generalisation_run, generalisation_runs = TRIALS.run, TRIALS.runs
run_request, known_results = TRIALS.request, TRIALS.known_results
