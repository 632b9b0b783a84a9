"""Generalisation (Rozen et al. 2019): what to run, what it trains and tests on, what that shows."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, product
from pathlib import Path
from typing import Any, Literal, NamedTuple
from zlib import crc32

from finetune.training.data import Asked
from finetune.training.recipes import Mode
from finetune.trials.base import Epoch as Epoch
from finetune.trials.base import (
    TrialKind,
    best_rates,
    diverged_words,
    names_problem,
    refuse,
    sweep_problems,
)
from finetune.trials.challenges import (
    UserFiles,
    read_source_data,
    rows_by_column,
    template_challenges,
)
from finetune.trials.datasets import Examples, facts_of, named_from, named_json
from finetune.trials.inoculation import InoculationRun, inoculation_runs
from probe.data.names import listed, shown
from probe.errors import ExperimentError, FileQuestion, TemplateError
from probe.models import bundled
from probe.models.classifier import Precision
from probe.runs.experiment import Results as CellResults
from probe.runs.run import Json, Run, StoredRun
from probe.statistics import FEWEST, Drawn, Estimate, clustered, clustered_difference, interval
from probe.tasks.nli import NLI
from probe.tasks.task import WHY_IN_COMMON, Label, Task, in_common_classes, task_named
from probe.templates import Request, count, generate, kinds, read_range, split_by_template
from probe.templates.generate import COMPLEXITIES, select
from probe.terms import Term, Titled

MAX_SIZE, MAX_TESTS = 100_000, 10_000
"""The largest training set that Rozen et al. report, and pairs of a condition to test on."""
PUBLISHED_SIZES = {"dative": "50,200,1000,4000", "numerical": "50,200,1000,4000,20000"}
"""By phenomenon, as far as one core trains them in days; the paper's numbers go on to 100,000."""
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
    (`vary` is then "file"). Without `rows` every condition is trained on. `tests` pairs of each are
    tested on, `dev` of the condition that is trained on choose epoch and learning rate: they come
    from templates, or texts, that are trained on. Each seed splits and draws anew. `thresholds`
    only name the outcome, no cell depends on them. Rozen et al. train all weights (`mode` full) and
    give neither batch nor epochs.
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
        "give at least one condition to train on": not plan.rows,
    }
    refuse(problems)


class Hits(NamedTuple):
    """How many of n predictions are right."""

    right: int
    n: int


Scores = Mapping[Label, Hits]
"""What is right of a set, by gold label."""
Clusters = Mapping[str, Scores]
"""The same by what its texts are drawn from, such as a template; those of one are not independent.
"""
ORIGINAL = ""
"""The original set among those whose clusters a point has."""


@dataclass(frozen=True)
class Point:
    """What a cell came to on the original set and on each condition's test set.

    `best_epoch` is the epoch whose weights were tested, `dev` its accuracy on held-out pairs of
    the condition that was trained on, 0 for the model as it was. Where the training `diverged` it
    ended there, with the weights of the best epoch before. `clusters` are of each set by its name;
    those of older runs are not known.
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
    clusters: Mapping[str, Clusters] = field(default_factory=dict)


def total(scores: Scores) -> Hits:
    """Return what is right of a whole set."""
    return Hits(*map(sum, zip(*scores.values(), strict=True)))


def summed(clusters: Clusters) -> Scores:
    """Return what is right of a whole set by gold label."""
    labels = sorted({label for own in clusters.values() for label in own})
    return {
        label: total({name: own[label] for name, own in clusters.items() if label in own})
        for label in labels
    }


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
    """Something that varies. With `by_template` no template is both trained and tested on.

    `whole` is all its conditions together, which is trained and tested on beside each of them.
    """

    title: str
    summary: str
    conditions: tuple[Condition, ...] = field(repr=False)
    by_template: bool = False
    whole: Condition | None = None


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
        "Simple, medium and complex sentences, each alone and all together; no template is both "
        "trained and tested on.",
        tuple(map(_complexity, COMPLEXITIES)),
        by_template=True,
        whole=Condition("all", "All complexities", "sentences of all complexities", {}, {}),
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


def every(vary: str, some: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return conditions of a grid and, where it has that, all of them together."""
    whole = GRIDS[vary].whole
    return (*some, *([whole] if whole else []))


def is_whole(name: str, vary: str) -> bool:
    """Whether a condition is all others together, so that none of them is away from it."""
    whole = GRIDS[vary].whole if vary in GRIDS else None
    return whole is not None and whole.name == name


def described(names: Sequence[str], vary: str) -> dict[str, Condition]:
    """Return conditions by name; those of a person's own file are called by what stands there."""
    known = (
        {each.name: each for each in every(vary, GRIDS[vary].conditions)} if vary in GRIDS else {}
    )
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
    """Return the plan with all conditions there are to test on, and to train on if none is named.

    A small file lends fewer rows to `dev`. Raises ExperimentError where there are no such
    conditions, or the templates are of another task.
    """
    dev = plan.dev
    if plan.vary == FILE:
        rows = columns = tuple(data.rows)
        dev = min(dev, max(1, int(DEV_SHARE * min(map(len, data.rows.values())))))
    elif plan.task != NLI.name:
        raise ExperimentError(f"the templates are {NLI.name}'s, the model answers {plan.task}")
    else:
        known = every(plan.vary, offered(plan.phenomenon, plan.vary))
        columns = tuple(each.name for each in known)
        rows = tuple(each.name for each in known if each.train is not None)
    refuse(names_problem("conditions to train on", plan.rows, rows, some=False))
    rows = tuple(name for name in rows if name in (plan.rows or rows))
    return replace(plan, rows=rows, columns=columns, dev=dev)


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


CLUSTERS = 40
"""Into how many groups the sources of a file's texts fall, at random: each has its texts whole."""


def cluster_of(task: Task, example: Any) -> str:
    """Return what a text is drawn from: its template, or else a group that has all of its source.

    Groups of sources are as independent as sources are, and few enough to be kept.
    """
    template: str = getattr(example, "template", "")
    return template or str(crc32(_source(task, example).encode()) % CLUSTERS)


def by_cluster(task: Task, examples: Sequence[Any], hits: Iterable[float]) -> Clusters:
    """Count what is right of examples by what they are drawn from and gold label."""
    found = defaultdict[str, defaultdict[Label, list[int]]](lambda: defaultdict(lambda: [0, 0]))
    for example, hit in zip(examples, hits, strict=True):
        counts = found[cluster_of(task, example)][example.gold]
        counts[0] += int(hit)
        counts[1] += 1
    return {
        name: {label: Hits(*own[label]) for label in sorted(own)}
        for name, own in sorted(found.items())
    }


def data_json(data: SourceData) -> Json:
    """Return the original set, a person's own rows and the name of their task as JSON."""
    return named_json(data.task, {"original": data.original, "rows": data.rows})


def data_from(values: Json) -> SourceData:
    """Read what `data_json` wrote."""
    task, data = named_from(values)
    return SourceData(**data, task=task)


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


KIND = "generalisation"
TRIALS = TrialKind(
    KIND, Plan, Cell, Point, cells, ("sizes", "lrs", "seeds", "thresholds"), data_json,
    data_from, _artefacts, depends=_depends,
)  # fmt: skip
GeneralisationRun = Run[Plan, Cell, Epoch, Point]
plan_from, point_from = TRIALS.plan_from, TRIALS.point_from
generalisation_run, generalisation_runs = TRIALS.run, TRIALS.runs
run_request, known_results = TRIALS.request, TRIALS.known_results


Results = Mapping[tuple[str, int], Sequence[Point]]
"""The repeats with the chosen rate, by condition trained on and size."""


@dataclass(frozen=True)
class Loss:
    """What is lost, as a share, where a model trained on one condition is tested on another."""

    row: str
    column: str
    own: Estimate
    away: Estimate
    loss: Estimate


def chosen(points: Iterable[Point]) -> Results:
    """Choose a learning rate for each condition and size by held-out pairs."""
    trained = [point for point in points if point.cell.size]
    return best_rates(trained, lambda p: (p.cell.train, p.cell.size), lambda p: p.dev)


def untrained(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the model as it was, on the test sets of each repeat."""
    return tuple(point for point in points if not point.cell.size)


def drawn_of(repeat: int, clusters: Clusters, label: Label | None = None) -> Iterator[Drawn]:
    """Yield what one repeat gets right of a set by cluster, of one gold label or of all."""
    for cluster, own in clusters.items():
        if label is None or label in own:
            yield Drawn(repeat, cluster, *(total(own) if label is None else own[label]))


def _drawn(points: Iterable[Point], names: Sequence[str], label: Label | None) -> list[Drawn]:
    """Return what is right of some sets by repeat and cluster, of one label or of all.

    The clusters of older runs are not known; theirs are the repeats alone.
    """
    drawn = list[Drawn]()
    for point in points:
        for name in names:
            scores = point.tests[name] if name else point.original
            drawn += drawn_of(point.cell.seed, point.clusters.get(name) or {"": scores}, label)
    return drawn


def on_condition(points: Iterable[Point], *names: str, label: Label | None = None) -> Estimate:
    """Return the accuracy on conditions over all repeats, of one gold label or of all.

    The interval is over repeats and templates.
    """
    return clustered(_drawn(points, names, label))


def on_original(points: Sequence[Point], label: Label | None = None) -> Estimate:
    """Return the accuracy on the original set, which is the same in all repeats: their mean."""
    scores = points[0].original
    return clustered(
        _drawn(points, [ORIGINAL], label), (scores[label] if label else total(scores)).n
    )


def by_label(points: Sequence[Point], *names: str) -> dict[Label, Estimate]:
    """Return the accuracy on conditions by gold label over all repeats."""
    labels = dict.fromkeys(label for p in points for name in names for label in p.tests[name])
    return {label: on_condition(points, *names, label=label) for label in labels}


def templates(points: Iterable[Point], *names: str) -> int:
    """Return how many templates some sets are of in all repeats, 0 where that is not known."""
    return len({each for p in points for name in names for each in p.clusters.get(name, ())})


def sources_of(plan: Plan) -> str:
    """Return what the texts of a plan that go together are of, in the plural."""
    return "groups of texts" if plan.vary == FILE else "templates"


def constant(points: Iterable[Point], column: str) -> float:
    """Return the share of a condition's pairs that the best single answer gets right."""
    counts = Counter[Label]()
    for point in points:
        counts.update({label: hits.n for label, hits in point.tests[column].items()})
    return max(counts.values()) / counts.total()


def loss(points: Sequence[Point], row: str, column: str) -> Loss:
    """Return what a model trained on a row loses on a column.

    The interval is over repeats and templates: it pairs what a repeat's model does on both.
    """
    sets = [_drawn(points, [name], None) for name in (column, row)]
    own, away = on_condition(points, row), on_condition(points, column)
    return Loss(row, column, own, away, clustered_difference(*sets))


def loss_between(first: Sequence[Point], second: Sequence[Point], name: str) -> Estimate:
    """Return how far on a condition a second training is behind a first, with such an interval."""
    return clustered_difference(*(_drawn(some, [name], None) for some in (second, first)))


def lost_original(start: Sequence[Point], points: Sequence[Point]) -> Estimate:
    """Return what the original set lost by training, with an interval as that of a `loss`."""
    sets = [_drawn(some, [ORIGINAL], None) for some in (points, start)]
    return replace(clustered_difference(*sets), n=total(points[0].original).n)


Outcome = Literal["data_set", "phenomenon", "not_learnt", "undecided"]


OUTCOMES: Mapping[Outcome, Term] = {
    "data_set": Term(
        "Learnt the data set",
        "Away from what it saw the model loses much of what it had learnt: it fitted the examples, "
        "not what they have in common.",
    ),
    "phenomenon": Term(
        "Learnt the phenomenon",
        "What the model learnt on one kind of example it can do on the others, as far as these "
        "conditions tell.",
    ),
    "not_learnt": Term(
        "Not learnt",
        "Even on the kind of example that it was trained on the model does no better than one "
        "answer for all, so nothing can be lost elsewhere.",
    ),
    "undecided": Term(
        "Undecided",
        "The losses are too uncertain, or not every kind of example was learnt; more examples or "
        "repeats may tell.",
    ),
}
"""In the order in which they are explained."""
MIN_TESTS = 300
"""Pairs of a condition, all repeats together, below which a warning says that they are few."""
FEWEST_REPEATS, FEW = 2, 5
"""Repeats without which nothing is decided; repeats, and templates of a condition, as published or
so that an interval is not wide for want of them."""


def at_largest(plan: Plan, results: Results) -> dict[str, Sequence[Point]]:
    """Return the points of the largest size by condition. Raises ValueError where one has none."""
    size = max(plan.sizes)
    if lacking := [row for row in plan.rows if (row, size) not in results]:
        raise ValueError(f"no point of {size} examples of {', '.join(lacking)} yet")
    return {row: results[row, size] for row in plan.rows}


def _is_large(plan: Plan, lost: Estimate) -> bool:
    """Whether a loss tells the set from the skill: 0.95 - 0.85 counts as ten points."""
    return round(lost.value, 9) >= plan.thresholds.loss and lost.low > 0


def classify(
    plan: Plan, at: Mapping[str, Sequence[Point]], losses: Sequence[Loss], learnt: Sequence[str]
) -> Outcome:
    """Name what was learnt, by the intervals; only a model that learnt its condition can lose it.

    One repeat decides nothing. A skill is learnt where no loss can be as large as the threshold,
    nothing is where no condition gives that much more than the best single answer.
    """
    limit = plan.thresholds.loss
    own = [each.loss for each in losses if each.row in learnt]
    above = [on_condition(at[row], row).value - constant(at[row], row) for row in at]
    if min(map(len, at.values())) < FEWEST_REPEATS:
        return "undecided"
    if any(_is_large(plan, each) for each in own):
        return "data_set"
    if not learnt and max(above) < limit:
        return "not_learnt"
    settled = own and len(learnt) == len(plan.rows)
    return "phenomenon" if settled and max(each.high for each in own) < limit else "undecided"


def in_figures(plan: Plan, worst: Loss | None) -> str:
    """Say the largest loss in figures, "" where there is none."""
    if worst is None:
        return ""
    phrases = described(plan.columns, plan.vary)
    own, away = phrases[worst.row].phrase, phrases[worst.column].phrase
    model = bundled.title_of(Path(plan.model).name)
    return (
        f"Trained on {max(plan.sizes):,} examples with {own}, {model} is right on "
        f"{100 * worst.own.value:.0f} % of them and on {100 * worst.away.value:.0f} % of those "
        f"with {away}: {100 * worst.loss.value:.0f} points less ({interval(worst.loss)})."
    )


def worst_in(verdict: Json) -> Loss | None:
    """Read the largest loss of a stored verdict, None where it has none."""
    if (stored := verdict["worst"]) is None:
        return None
    estimates = {name: Estimate(**stored[name]) for name in ("own", "away", "loss")}
    return Loss(**{**stored, **estimates})


def serving_all(verdict: Json) -> list[str]:
    """Return the conditions on which training suffices for all, by a stored verdict.

    From them no loss can be as large as the threshold; of all conditions together there is none.
    """
    highest = dict[str, float]()
    for each in verdict["losses"]:
        highest[each["row"]] = max(each["loss"]["high"], highest.get(each["row"], -1.0))
    limit = verdict["thresholds"]["loss"]
    return [row for row in verdict["learnt"] if highest.get(row, limit) < limit]


def _points(lost: Estimate) -> str:
    return f"{100 * lost.value:.1f} points ({interval(lost)})"


def _warnings(plan: Plan, points: Sequence[Point], at: Mapping[str, Sequence[Point]]) -> list[str]:
    """Return what to beware of as sentences, the gravest first."""
    fewest = min(on_condition(own, column).n for own in at.values() for column in plan.columns)
    start = untrained(points)
    lost = {row: lost_original(start, own) for row, own in at.items() if start}
    worst = max(lost, key=lambda row: lost[row].value, default="")
    few = min(templates(own, column) for own in at.values() for column in plan.columns)
    repeats, of = min(map(len, at.values())), sources_of(plan)
    sets = [scores for point in points for scores in (point.original, *point.tests.values())]
    golds = {gold for scores in sets for gold in scores}
    sentences = {
        (told := diverged_words((p.cell.lr, p.diverged) for p in points)): bool(told),
        WHY_IN_COMMON: task_named(plan.task).merges(golds) is not None,
        f"Only one repeat: the intervals are over {of}, not over other trainings and splits, so "
        "that nothing is decided (published: five).": repeats < FEWEST_REPEATS,
        f"{repeats} repeats: an interval over so few is wide (published: five).": (
            FEWEST_REPEATS <= repeats < FEW
        ),
        f"Which {of} a text is of was not kept with this run; the intervals are over repeats "
        "alone.": not few,
        f"A condition is tested on {few} {of} only; an interval over so few is wide.": (
            0 < few < FEW
        ),
        f"A condition has only {fewest} test examples; the intervals are wide.": fewest < MIN_TESTS,
        f"The original set lost {_points(lost[worst])} after training on {worst}."
        if lost
        else "": bool(lost) and lost[worst].value >= plan.thresholds.loss,
        "Fast mode trains the upper layers only, on states of the lower ones computed once; Rozen "
        "et al. train all weights.": plan.mode == "fast",
    }
    return [sentence for sentence, holds in sentences.items() if holds]


def verdict_json(plan: Plan, points: Sequence[Point]) -> Json:
    """Return what the largest size shows, with the table before training, as it is stored.

    `losses` are all away from what was seen, `worst` the largest of them of a model that `learnt`
    its own condition: where training beats the best single answer; of fewer than `FEWEST` tests
    none is named. The `grid` has rows by what was trained on, columns by what is tested: `low` and
    `high` are 95 % intervals over repeats and `templates`, as many as there are, 0 where that is
    not known; `repeats` each repeat's accuracy, `original` that on the original set afterwards,
    `lost` what is lost of it, `lr` the chosen rates. What is `away` from all conditions together,
    or they from it, is no loss. `before` is the accuracy by condition and gold label (Table
    3). Raises ValueError where a condition has no point of the largest size.
    """
    at, columns = at_largest(plan, chosen(points)), plan.columns
    parts = [name for name in columns if not is_whole(name, plan.vary)]
    losses = [
        loss(at[row], row, away)
        for row in plan.rows
        if row in parts
        for away in parts
        if away != row
    ]
    learnt = [row for row in plan.rows if on_condition(at[row], row).low > constant(at[row], row)]
    telling = [each for each in losses if each.row in learnt and each.loss.n >= FEWEST]
    # one that is beyond doubt stands before a larger one that is not
    worst = max(telling, key=lambda e: (_is_large(plan, e.loss), e.loss.value), default=None)
    outcome = classify(plan, at, losses, learnt)
    cells = [[on_condition(at[row], column) for column in columns] for row in plan.rows]
    before, start = {}, untrained(points)
    if start:
        golds = {label: on_original(start, label) for label in start[0].original}
        of_original = {**golds, "all": on_original(start)}
        tested = {
            name: {**by_label(start, name), "all": on_condition(start, name)} for name in columns
        }
        before = {
            name: {label: asdict(each) for label, each in own.items()}
            for name, own in {"original": of_original, **tested}.items()
        }
    return {
        "outcome": outcome,
        "name": OUTCOMES[outcome].title,
        "explanation": f"{in_figures(plan, worst)} {OUTCOMES[outcome].summary}".strip(),
        "learnt": learnt,
        "worst": asdict(worst) if worst else None,
        "losses": [asdict(each) for each in losses],
        "thresholds": asdict(plan.thresholds),
        "warnings": _warnings(plan, points, at),
        "grid": {
            "rows": list(plan.rows),
            "columns": list(columns),
            "size": max(plan.sizes),
            "accuracy": [[each.value for each in line] for line in cells],
            "low": [[each.low for each in line] for line in cells],
            "high": [[each.high for each in line] for line in cells],
            "n": [[each.n for each in line] for line in cells],
            "repeats": [
                [[share_right(point.tests[column]) for point in at[row]] for column in columns]
                for row in plan.rows
            ],
            "templates": [[templates(at[row], name) for name in columns] for row in plan.rows],
            "original": [on_original(at[row]).value for row in plan.rows],
            "lost": [asdict(lost_original(start, at[row])) for row in plan.rows if start],
            "lr": [at[row][0].cell.lr for row in plan.rows],
        },
        "before": before,
    }


def _brief(result: Json) -> Json:
    if not result:
        return dict.fromkeys(("original", "tests", "dev", "seconds"))
    point = point_from(vars(base_cell(0)), result)
    tests = {name: share_right(scores) for name, scores in point.tests.items()}
    facts = {"dev": point.dev, "seconds": point.seconds}
    return {"original": share_right(point.original), "tests": tests, **facts}


def verdict_of(stored: StoredRun, inputs: Json) -> Json | None:
    """Judge what there is, once every condition was trained on at the largest size."""
    run = generalisation_run(stored)
    largest = max(run.plan.sizes)
    trained = {point.cell.train for point in run.results if point.cell.size == largest}
    if trained != set(run.plan.rows):
        return None
    return verdict_json(run.plan, run.results)


def current_verdict(plan: Json, artefacts: Json, stored: Json, results: CellResults = ()) -> Json:
    """Return a stored verdict by today's rule, judged anew where its intervals are of texts alone.

    Without results it stays as it was.
    """
    if not stored or "templates" in stored["grid"] or not results:
        return stored
    points = [point_from(key, values) for key, values in results if values]
    return verdict_json(plan_from(plan), points)


def _packed(result: Json) -> Json:
    return {**result, "clusters": json.dumps(result.get("clusters", {}), separators=(",", ":"))}


def _unpacked(result: Json, artefacts: Json) -> Json:
    return {**result, "clusters": json.loads(result.get("clusters", "{}"))}


GENERALISATION = TRIALS.experiment(
    lambda plan: f"{plan['phenomenon']} by {plan['vary']} on", _brief, verdict_of,
    current_verdict=current_verdict, pack=_packed, unpack=_unpacked,
)  # fmt: skip


WORDS: Mapping[str, Term] = {
    "generalisation": Term(
        "Generalisation",
        "Doing well on examples of another kind than those that were trained on (Rozen et al. "
        "2019).",
    ),
    "condition": Term(
        "Condition",
        "One kind of example of a phenomenon, such as simple sentences or numbers from 30 to 49.",
    ),
    "loss-away": Term(
        "Loss away from what was seen",
        "How many points of accuracy a model has less on another condition than on that which it "
        "was trained on.",
    ),
}


def generalisation_terms(task: Task) -> dict[str, Titled]:
    """Return the terms by id; what varies in templates is inference's."""
    outcomes = {f"generalisation-{name.replace('_', '-')}": term for name, term in OUTCOMES.items()}
    varied = {f"vary-{name}": Term(f"Vary: {g.title}", g.summary) for name, g in GRIDS.items()}
    return {**WORDS, **outcomes, **(varied if task is NLI else {})}


def judged_anew(run: GeneralisationRun, loss: float) -> GeneralisationRun:
    """Return a run judged by another loss. Raises ExperimentError for one that is no share."""
    plan = replace(run.plan, thresholds=Thresholds(loss))
    check(plan)
    return replace(run, plan=plan, verdict=verdict_json(plan, run.results))


def loss_in(points: str) -> float:
    """Read a loss in points as a share. Raises ExperimentError."""
    try:
        return round(float(points.replace(",", ".")) / 100, 6)
    except ValueError:
        raise ExperimentError(
            f"the loss must be a number of points above 0 and at most 100, not {points!r}"
        ) from None


MAX_CONDITIONS = 12
"""Values of a column that may be conditions: each is trained on and tested."""


def read_data(
    files: UserFiles, conditions: Path | None = None, column: str = "", task: Task = NLI
) -> SourceData:
    """Return the original set, dev and test together, and a file's rows by condition.

    Nothing is chosen by the original set here, so all of it is tested. Gold labels are in the
    classes that all have. Raises ExperimentError, FileError or LabelError.
    """
    data = read_source_data(files, task)
    rows = read_conditions(conditions, column, task, files.asked) if conditions else {}
    original, *several = in_common_classes(task, (*data.dev, *data.test), *rows.values())
    return SourceData(original, dict(zip(rows, several, strict=True)), task)


def read_conditions(
    path: Path, column: str, task: Task = NLI, asked: Asked = Asked()
) -> dict[str, Examples]:
    """Return the labelled rows of a file by what a column says of them, in the file's order.

    Rows of which it says nothing are left out. Raises FileError or LabelError.
    """
    found, there, rows = rows_by_column(path, column, task, asked)
    if found is None:
        raise FileQuestion(
            f"no column {shown(column)} in {path.name} names each row's condition; it has: "
            f"{listed(there)}",
            "--condition NAME",
        )
    if without := rows.pop("", []):
        asked.tell(
            f"note: {path.name}: {len(without):,} rows are left out, of which {shown(column)} "
            "names no condition"
        )
    if not 2 <= len(rows) <= MAX_CONDITIONS:
        raise FileQuestion(
            f"the column {shown(column)} of {path.name} must name 2 to {MAX_CONDITIONS} conditions "
            f"of labelled rows; it names {len(rows)}",
            "--condition NAME",
        )
    return {name: tuple(examples) for name, examples in rows.items()}


def same_phenomenon(plan: Plan, runs: Iterable[StoredRun]) -> InoculationRun | None:
    """Return the first judged inoculation of the same model on the same phenomenon.

    The templates' own challenge counts, and a challenge of the phenomenon's name, such as the
    released numerical stress test.
    """
    made = {name for name, kind in template_challenges().items() if kind == plan.phenomenon}
    wanted = {plan.phenomenon} if plan.vary == FILE else {plan.phenomenon, *made}
    return next(
        (
            run
            for run in inoculation_runs(runs)
            if run.verdict and run.plan.model == plan.model and run.plan.challenge in wanted
        ),
        None,
    )
