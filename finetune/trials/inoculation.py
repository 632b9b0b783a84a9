"""Inoculation (Liu et al. 2019): what to run, what it comes to and what that shows."""

import base64
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from finetune.training.recipes import CONTEXT, LORA, Mode, default_rate
from finetune.trials.base import Epoch as Epoch
from finetune.trials.base import (
    TrialKind,
    best_rates,
    diverged_words,
    new_model_name,
    numbers,
    refuse,
    sweep_problems,
)
from finetune.trials.challenges import title_of
from finetune.trials.datasets import (
    SET_NAMES,
    Sets,
    merged_measure,
    named_from,
    named_json,
    right_counts,
    sets_facts,
)
from probe.baselines import BASELINES, baselines_for
from probe.data.names import HALF
from probe.errors import ExperimentError
from probe.models import bundled
from probe.models.classifier import Precision
from probe.models.prompts import MOST_SHOTS
from probe.runs.models import load_any_unchanged
from probe.runs.run import Json, Run, RunCell, StoredRun
from probe.statistics import NOTHING, Estimate, interval, resampled_means
from probe.tasks.nli import NLI
from probe.tasks.task import WHY_IN_COMMON, Label, Task, task_named
from probe.terms import Term
from probe.transforms import REGISTRY

ALL = -1
"""Stands for the size of the whole challenge training set until the sets are known."""
LIU_SIZES = (5, 10, 50, 100, 400, 500, 750, 1000, ALL)
IN_PROMPT = (1, 2, 4, 8, 16, 32)
"""Examples in a language model's prompt, where nobody says how many."""
LIU_LRS = (1e-6, 1e-5, 1e-4, 4e-4, 1e-3, 1e-2)
"""The published grid; ALL was left out for the numerical challenge, whose 1,000 are all."""
READER_LRS = (1e-5, 1e-4, 1e-3, 1e-2)
"""The published rates of Adversarial SQuAD."""


def liu_rates(task: Task) -> tuple[float, ...]:
    """Return the learning rates that Liu et al. 2019 chose among."""
    return READER_LRS if task.has_spans else LIU_LRS


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
        **sweep_problems(plan, get_args(Mode)),
        f"at most {MOST_SHOTS} examples stand in a prompt": (
            plan.mode == CONTEXT and max(plan.sizes, default=0) > MOST_SHOTS
        ),
        "questions about passages do not stand as examples in a prompt yet": (
            plan.mode == CONTEXT and task.has_spans
        ),
        "an answer in words of its own is not learnt by adapters yet": (
            plan.mode == LORA and task.has_spans
        ),
        "nothing is trained by examples in a prompt, so there is no learning rate": (
            plan.mode == CONTEXT and any(plan.lrs)
        ),
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
    as it was, and of points from before it was recorded. `unanswered` are the rows of all sets that
    a model which is asked in words gave no label, counted as wrong.
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
    unanswered: int = 0


Selection = Literal["oracle_lr", "dev_lr"]


def choose(points: Iterable[Point], selection: Selection) -> tuple[list[Point], ...]:
    """Return for each size, smallest first, the seeds of the learning rate chosen there."""
    score = attrgetter("challenge" if selection == "oracle_lr" else "dev")
    return tuple(best_rates(points, lambda p: p.cell.size, score).values())


def merge(points: Sequence[Point]) -> Point:
    """Return the means over the seeds of one size and rate.

    Those of rows hold for each test row its mean score, of labels the share of seeds that got it
    right. What is no score is the first's.
    """

    def rows(scores: Iterable[Sequence[float]]) -> tuple[float, ...]:
        return tuple(np.mean(list(scores), axis=0).tolist())

    first, controls = points[0], [each.control for each in points if each.control is not None]
    return replace(
        first,
        original=fmean(point.original for point in points),
        challenge=fmean(point.challenge for point in points),
        original_right=rows(point.original_right for point in points),
        challenge_right=rows(point.challenge_right for point in points),
        control=fmean(controls) if controls else None,
        counter_tests={
            name: rows(point.counter_tests[name] for point in points)
            for name in first.counter_tests
        },
    )


def sets_from(values: Json) -> Sets:
    """Read the sets from their JSON."""
    task, sets = named_from(values)
    known = {name: sets.pop(name) for name in SET_NAMES if name in sets}
    return Sets(**known, counter_tests=sets, task=task)


def sets_json(sets: Sets) -> Json:
    """Return the sets, counter-tests by their own names, and the name of their task as JSON."""
    return named_json(sets.task, sets.examples)


def _artefacts(plan: Plan, sets: Sets) -> Json:
    return {"sets": sets_facts(sets), **merged_measure(sets.task, *sets.examples.values())}


def is_largest(plan: Plan, cell: Cell) -> bool:
    """Whether a cell is of the largest size, whose model may be kept if anything of it learnt."""
    return cell.size == max(plan.sizes) and plan.mode != CONTEXT


KIND = "inoculation"
TRIALS = TrialKind(
    KIND, Plan, Cell, Point, cells, ("sizes", "lrs", "seeds", "thresholds"), sets_json,
    sets_from, _artefacts, is_largest, takes_all=True, load=load_any_unchanged,
)  # fmt: skip
InoculationRun = Run[Plan, Cell, Epoch, Point]
InoculationCell = RunCell[Cell, Epoch, Point]
plan_from, point_from = TRIALS.plan_from, TRIALS.point_from
inoculation_run, inoculation_runs, known_results = TRIALS.run, TRIALS.runs, TRIALS.known_results
run_request = TRIALS.request


Outcome = Literal["0", "1", "2", "3", "between", "too_little", "not_taken_up"]


@dataclass(frozen=True)
class OutcomeWords:
    """An outcome in a word or two, by the name that Liu et al. give it, and in one sentence."""

    title: str
    name: str
    summary: str


OUTCOMES: Mapping[Outcome, OutcomeWords] = {
    "1": OutcomeWords(
        "Gap closes",
        "Outcome 1: dataset weakness",
        "A few examples close the gap and the original set does not suffer: the training data did "
        "not show it, the model can do it.",
    ),
    "2": OutcomeWords(
        "Gap stays",
        "Outcome 2: model weakness",
        "Even with examples the model stays as bad on the challenge, and as good on the original "
        "set: it lacks what the challenge asks for.",
    ),
    "3": OutcomeWords(
        "Original lost",
        "Outcome 3: artefacts or other differences between the sets",
        "Learning the challenge costs points on the original set: the two differ in more than "
        "the phenomenon, as in how labels are spread or where a false answer stands.",
    ),
    "between": OutcomeWords(
        "Between",
        "Between outcomes 1 and 2",
        "Some of the gap closes and much stays: data and model both lack something, or the sets "
        "are too small to tell.",
    ),
    "0": OutcomeWords(
        "No gap",
        "Outcome 0: no gap",
        "The model does about as well on the challenge as on the original set, so there is "
        "nothing to inoculate against.",
    ),
    "not_taken_up": OutcomeWords(
        "Not taken up",
        "It does not take it up from the examples in its prompt",
        "With the examples before its eyes the model stays as bad on the challenge. That says "
        "nothing of what a training would teach it.",
    ),
    "too_little": OutcomeWords(
        "Too little to tell",
        "Too little to tell",
        "The run lacks what would show the outcome of its figures: enough examples, learnt ones, "
        "all weights, or enough test examples.",
    ),
}
"""In the order in which they are explained."""
MEASURES: Mapping[str, Term] = {
    "gap": Term(
        "Gap",
        "How many points of accuracy, or of F1 where answers are spans, the model loses from the "
        "original set to the challenge, before it is inoculated.",
    ),
    "closed": Term(
        "Share closed",
        "The part of the gap that is gone after inoculation; 100 % is as good as on the original "
        "set before.",
    ),
    "drop": Term("Original lost", "How many points on the original set it costs."),
    "gain": Term("Gain", "How many points on the challenge are won."),
}
"""What is measured at each size, by its name in `SizeOutcome`."""


def badge(outcome: Outcome) -> str:
    """Return an outcome as a badge names it: "1 · gap closes"."""
    title = OUTCOMES[outcome].title.lower()
    return f"{outcome} · {title}" if outcome.isdigit() else title


Array = NDArray[np.float64]


def estimate(value: float, draws: Array, n: int) -> Estimate:
    """Return a value of n rows with the 95 % interval of its resamples."""
    if np.isnan(value) or np.isnan(draws).all():
        return Estimate(float("nan"), float("nan"), float("nan"), n)
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return Estimate(value, float(low), float(high), n)


LEARNT_INSTEAD = {"addsent_first": "the position", "addsent_other": "the false answers"}
"""What could be learnt in place of the phenomenon, if a counter-test gains less."""


@dataclass(frozen=True)
class CounterTest:
    """Scores before and after; its gain, and by how much the challenge gained more, as shares."""

    name: str
    before: float
    after: float
    gain: Estimate
    lead: Estimate

    @property
    def shows(self) -> bool:
        """Whether the challenge gained more than this test, beyond chance."""
        return self.lead.low > 0


def counter_tests(
    base: Point, after: Point, seed: int = 0, times: int = 1000
) -> tuple[CounterTest, ...]:
    """Compare each counter-test's gain with the challenge's, each set resampled by itself."""

    def gains(before: Sequence[float], now: Sequence[float], seed: int) -> Array:
        """The mean gain, then those of resamples of the rows.  # (1 + times,)"""
        rows = np.array([before, now]).T
        draws = resampled_means(rows, times, np.random.default_rng(seed))
        means: Array = np.vstack([rows.mean(0), draws])
        return np.asarray(means[:, 1] - means[:, 0])

    challenge, found = gains(base.challenge_right, after.challenge_right, seed), []
    for at, (name, before) in enumerate(base.counter_tests.items(), 1):
        if name in after.counter_tests:
            now = after.counter_tests[name]
            own = gains(before, now, seed + at)
            gain, lead = (
                estimate(float(values[0]), values[1:], len(before))
                for values in (own, challenge - own)
            )
            found.append(CounterTest(name, float(np.mean(before)), float(np.mean(now)), gain, lead))
    return tuple(found)


def counter_sentence(test: CounterTest, measure: str) -> str:
    """Say what a counter-test shows; `measure` is what scores are called."""
    title, what = REGISTRY[test.name].title, LEARNT_INSTEAD[test.name]
    gains = (
        f"Did it learn {what}? On “{title}” {measure} went from {100 * test.before:.1f} to "
        f"{100 * test.after:.1f} %; the challenge gained {_points(test.lead.value)} points more "
        f"({_points(test.lead.low)} to {_points(test.lead.high)})"
    )
    if test.shows:
        return f"{gains}: a part of what was learnt is {what}, not to see through the sentence."
    doubt = "which may be chance" if test.lead.high >= 0 else "so this test gained more"
    return f"{gains}, {doubt}: no sign of that."


def _points(share: float) -> str:
    return f"{100 * share:.1f}".replace("-", "−")


@dataclass(frozen=True)
class SizeOutcome:
    """What one size says: gap G, closed share s, drop d and the challenge's gain, as shares.

    `control` is the mean score on the control set, None where there is none, `counter_tests` what
    the challenge gained beyond its counter-tests.
    """

    size: int
    lr: float
    seeds: int
    original: float
    challenge: float
    gap: Estimate
    closed: Estimate
    drop: Estimate
    gain: Estimate
    outcome: Outcome
    control: float | None = None
    counter_tests: tuple[CounterTest, ...] = ()

    @property
    def name(self) -> str:
        """The outcome in a few words."""
        return OUTCOMES[self.outcome].name


def outcome_of(
    base: Point,
    seeds: Sequence[Point],
    paired: bool = False,
    thresholds: Thresholds = THRESHOLDS,
    seed: int = 0,
    times: int = 1000,
    stays: Outcome = "2",
) -> SizeOutcome:
    """Compare a model before with the mean of what the seeds of one size and rate came to.

    `paired` resamples rows of both test sets together. `stays` is the outcome of a gap that stays.
    """
    after = merge(seeds)
    original = np.array([base.original_right, after.original_right]).T
    challenge = np.array([base.challenge_right, after.challenge_right]).T
    rng = np.random.default_rng(seed)
    drawn = [np.hstack([original, challenge])] if paired else [original, challenge]
    draws = np.hstack([resampled_means(rows, times, rng) for rows in drawn])
    means = (base.original, after.original, base.challenge, after.challenge)
    # each begins with what was measured, its resamples follow
    original_before, original_after, before, now = np.vstack([means, draws]).T
    gaps, gains = original_before - before, now - before
    closed_shares = np.divide(gains, gaps, out=np.full_like(gaps, np.nan), where=gaps > 1e-12)
    n = min(map(len, drawn))
    gap, closed, drop, gain = (
        estimate(float(values[0]), values[1:], n)
        for values in (gaps, closed_shares, original_before - original_after, gains)
    )
    outcome = classify(gap, closed, drop, gain, thresholds)
    return SizeOutcome(
        after.cell.size, after.cell.lr, len(seeds), after.original, after.challenge, gap, closed,
        drop, gain, stays if outcome == "2" else outcome, after.control,
        counter_tests(base, after, seed, times),
    )  # fmt: skip


def classify(
    gap: Estimate, closed: Estimate, drop: Estimate, gain: Estimate, limits: Thresholds = THRESHOLDS
) -> Outcome:
    """Return the outcome: damage, whatever the gap (Liu et al.), then no gap, then its closing."""
    # rounding: 0.85 - 0.82 must count as three points
    value, lost, share = (round(estimate.value, 9) for estimate in (gap, drop, closed))
    if lost >= limits.drop and drop.low > 0:
        return "3"
    if value < limits.gap or gap.low <= 0:
        return "0"
    if lost >= limits.drop:
        return "between"
    if share >= limits.cured:
        return "1"
    if share < limits.uncured or gain.low <= 0 <= gain.high:
        return "2"
    return "between"


MIN_DOSE, LEARNT, CLEARLY_CLOSED = 100, 0.90, 0.50
"""Examples of a dose, fewer where there are no more, and the share of them that a model must have
learnt before it is said to lack the ability; what the interval of the share closed lies above
before a gap is said to have closed."""
LONGER, HIGHER = 3, 3
"""How many times the epochs and the rate of a training that did not learn its dose are tried."""

Missing = Literal["weights", "examples", "record", "learnt", "original", "interval"]
Shares = Mapping[int, Mapping[float, float | None]]


class Lack(NamedTuple):
    """What a run lacks to show the outcome of its figures, and in a clause."""

    missing: Missing
    clause: str


class Mark(NamedTuple):
    """What changes the meaning of an outcome: in the words of a badge, and in a clause."""

    badge: str
    clause: str


@dataclass(frozen=True)
class Conclusion:
    """The outcome that a run shows, and at which size.

    `figures` is the outcome that the figures alone would have, `lacks` what the run lacks to show
    it: where there is any, the outcome is "too_little".
    """

    outcome: Outcome
    figures: Outcome
    size: int
    lacks: tuple[Lack, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def headline(self) -> str:
        """The outcome in a sentence, with what changes its meaning."""
        name = OUTCOMES[self.outcome].name
        if self.outcome == "not_taken_up":
            name = name.replace("the examples", f"{self.size} example{'s' * (self.size > 1)}")
        clauses = "; ".join([clause for _, clause in (*self.lacks, *self.marks)])
        if self.lacks:
            return f"{name}: {clauses}"
        return f"{name}, but {clauses}" if clauses else name


def learnt_shares(points: Sequence[Point]) -> Shares:
    """Return the share of the dose that was learnt by size and rate, over seeds on average."""
    shares: dict[int, dict[float, float | None]] = {}
    for size, lr in dict.fromkeys((point.cell.size, point.cell.lr) for point in points):
        own = [p.dose for p in points if (p.cell.size, p.cell.lr) == (size, lr)]
        known = [dose / size for dose in own if dose is not None]
        shares.setdefault(size, {})[lr] = fmean(known) if len(known) == len(own) else None
    return shares


def lacking(found: SizeOutcome, evidence: "Verdict") -> Iterator[Lack]:
    """Yield what a run lacks to show the outcome that the figures of a size have."""
    plan, least = evidence.plan, evidence.plan.thresholds.tests
    if found.outcome == "1" and found.closed.low <= CLEARLY_CLOSED:
        yield Lack(
            "interval",
            f"{100 * found.closed.value:.0f} % of the gap closed, but by so few test examples that "
            f"it may be anything from {interval(found.closed)} %",
        )
    if found.outcome == "3" and evidence.original < least:
        yield Lack(
            "original",
            f"{100 * found.drop.value:.1f} points lost on an original test set of only "
            f"{evidence.original}, where {least} tell",
        )
    if found.outcome != "2":
        return
    if plan.mode == "fast":
        yield Lack("weights", "only the upper layers were trained")
    if found.size < MIN_DOSE and found.size != evidence.available:
        yield Lack("examples", f"{found.size} examples are few, {MIN_DOSE} or all there are tell")
    shares = evidence.doses.get(found.size, {})
    known = [share for share in shares.values() if share is not None]
    if not known:
        yield Lack("record", "whether the examples themselves were learnt is not recorded")
    elif round(max(known) - LEARNT, 9) < 0:
        rates = f" at the best of {len(shares)} rates" if len(shares) > 1 else ""
        yield Lack(
            "learnt",
            f"of the {found.size} examples themselves only {100 * max(known):.0f} % were "
            f"learnt{rates}",
        )


def _marks(
    outcome: Outcome, told: SizeOutcome, largest: SizeOutcome, evidence: "Verdict"
) -> Iterator[Mark]:
    """Yield what may have been learnt in place of the phenomenon, and what else was lost."""
    limits, before, after = evidence.plan.thresholds, evidence.control, told.control
    if evidence.plan.mode == "fast" and outcome in ("1", "3", "between"):
        yield Mark("upper layers only", "only the upper layers were trained")
    if evidence.plan.mode == LORA and outcome in ("1", "2", "3", "between"):
        yield Mark("adapters only", "only adapters beside the weights were trained")
    closes = outcome in ("1", "between")
    if closes and told.outcome == "1" and before is not None and after is not None:
        gap = told.original + told.drop.value - before
        closed = (after - before) / gap if gap >= limits.gap else 1.0
        if closed < limits.cured:
            yield Mark(
                "this wording only",
                f"on a control set by other words, never trained on, only {100 * closed:.0f} % of "
                "its gap closed: it learnt this wording, not to ignore one",
            )
    if closes and evidence.majority >= limits.majority:
        yield Mark(
            "one label prevails",
            f"{100 * evidence.majority:.0f} % of the challenge training examples have the same "
            "label: it may have learnt only to prefer that",
        )
    reached = [
        f"{name.replace('_', ' ')} {100 * share:.1f} %"
        for name, share in evidence.rules.items()
        if round(share - told.challenge, 9) >= 0
    ]
    if closes and reached:
        yield Mark(
            "a rule does as well",
            f"rules that understand nothing do as well on the challenge: {', '.join(reached)}",
        )
    if outcome != "3" and round(largest.drop.value - limits.drop, 9) >= 0:
        yield Mark(
            "original may be lost",
            f"the original set lost {100 * largest.drop.value:.1f} points with {largest.size} "
            f"examples ({interval(largest.drop)})",
        )


MORE_TEXTS: Mapping[Missing, str] = {
    "original": "a larger original test set (--original-test)",
    "interval": "a larger challenge test set (--challenge-test)",
}
"""What no training can make up for, and the option of the command line that takes it."""


def telling_plan(plan: Plan, missing: Sequence[Missing], size: int, available: int) -> Plan | None:
    """Return the smallest plan that would tell, None where a run can lack more texts alone.

    `size` is the one that lacks something. Raises ModelError where the model is not there.
    """
    if not missing or set(missing) & set(MORE_TEXTS):
        return None
    rates, epochs, patience = plan.lrs, plan.max_epochs, plan.patience
    if "weights" in missing:
        rates = (default_rate(plan.model, "full"),)
    elif "learnt" in missing:
        rates = tuple(dict.fromkeys((*rates, HIGHER * max(rates))))
        epochs = patience = LONGER * epochs
    enough = max(size, min(MIN_DOSE, available))
    return replace(
        plan,
        mode=LORA if plan.mode == LORA else "full",
        sizes=(enough,),
        lrs=rates,
        max_epochs=epochs,
        patience=patience,
    )


LARGE_LOSS = 5.0  # points of the original set that fast mode loses beyond full mode


@dataclass(frozen=True)
class MeasuredModes:
    """The outcome of a challenge in both modes, and the points that the original set lost."""

    full_loss: float
    full: Outcome
    fast_loss: float
    fast: Outcome


MEASURED = {
    ("minilm", "word_overlap"): MeasuredModes(0.5, "1", 1.5, "1"),
    ("minilm", "negation"): MeasuredModes(1.4, "1", 2.4, "between"),
    ("minilm", "spelling"): MeasuredModes(0.3, "between", 1.2, "between"),
    ("minilm", "length_mismatch"): MeasuredModes(0.0, "between", 1.8, "too_little"),
    ("minilm", "numerical"): MeasuredModes(5.0, "3", 25.3, "3"),
    ("minilm", "templates_numerical"): MeasuredModes(2.0, "between", 16.4, "3"),
    ("da", "word_overlap"): MeasuredModes(-0.9, "1", -0.3, "1"),
    ("da", "negation"): MeasuredModes(1.7, "between", 1.9, "between"),
    ("da", "spelling"): MeasuredModes(0.6, "between", -0.2, "too_little"),
    ("da", "length_mismatch"): MeasuredModes(0.7, "between", 0.4, "too_little"),
    ("da", "numerical"): MeasuredModes(7.0, "3", 6.1, "3"),
    ("esim", "word_overlap"): MeasuredModes(1.0, "1", -0.6, "1"),
    ("esim", "negation"): MeasuredModes(0.9, "1", 0.3, "1"),
    ("esim", "spelling"): MeasuredModes(0.2, "too_little", -0.8, "too_little"),
    ("esim", "length_mismatch"): MeasuredModes(0.7, "0", -1.3, "0"),
    ("esim", "numerical"): MeasuredModes(2.4, "between", 1.7, "between"),
    ("esim_char", "word_overlap"): MeasuredModes(1.2, "1", 1.3, "between"),
    ("esim_char", "negation"): MeasuredModes(0.6, "1", -0.3, "1"),
    ("esim_char", "spelling"): MeasuredModes(0.4, "too_little", -1.2, "too_little"),
    ("esim_char", "length_mismatch"): MeasuredModes(0.1, "too_little", -1.2, "too_little"),
    ("esim_char", "numerical"): MeasuredModes(3.7, "3", 2.6, "between"),
}
"""By the names of model and challenge."""


def known_differences(plans: Sequence[Plan]) -> Iterator[str]:
    """Yield what plans in fast mode are known to find otherwise, as sentences."""
    rows = {title: row for title, row in _measured(plans).items() if row}
    short = {name: words.title.lower() for name, words in OUTCOMES.items()}
    others = [
        f"{title} ({short[row.fast]} instead of {short[row.full]})"
        for title, row in rows.items()
        if row.fast != row.full
    ]
    if others:
        yield (
            "Where both were measured, training the upper layers alone found another outcome than "
            f"training all weights: {', '.join(others)}. For the published one train all."
        )
    losses = [
        f"{title} {row.fast_loss:g} points instead of {row.full_loss:g}"
        for title, row in rows.items()
        if row.fast_loss - row.full_loss >= LARGE_LOSS
    ]
    if losses:
        yield (
            "Where both were measured, training the upper layers alone ruined the original set, "
            f"which training all weights did not: {', '.join(losses)}."
        )


def fast_notes(plans: Sequence[Plan]) -> Iterator[str]:
    """Yield what to know of fast mode before plans are run, as sentences."""
    yield from known_differences(plans)
    if unknown := [title for title, row in _measured(plans).items() if row is None]:
        yield (
            "Whether training the upper layers alone finds what training all weights finds was not "
            f"measured for {', '.join(unknown)}: it can close less of a gap and cost the original "
            "set more."
        )


def _measured(plans: Sequence[Plan]) -> dict[str, MeasuredModes | None]:
    """Return by what a person calls a plan in fast mode what was measured of it."""
    found = {}
    for plan in plans:
        if plan.mode == "fast":
            name = Path(plan.model).name
            challenge = title_of(plan.challenge, task_named(plan.task))
            found[f"{bundled.title_of(name)} on “{challenge}”"] = MEASURED.get(
                (name, plan.challenge)
            )
    return found


BY_SIZE: Mapping[Selection, str] = {"oracle_lr": "by_size", "dev_lr": "by_size_dev"}
"""Where a verdict's JSON holds its findings by size."""
DEV_DIFFERS = "The learning rate chosen on original dev, "
SAID_NOW = (
    DEV_DIFFERS,
    "On a control set, the same kind of change",
    "Rules that understand nothing do as well",
    "The original set lost ",
)
"""How warnings of stored verdicts begin that are concluded anew, or stand in the headline now."""


@dataclass(frozen=True)
class Verdict:
    """The figures by size, smallest first, what the run has beside them, and what to beware of.

    `by_size` chooses each learning rate by the challenge test set, as the paper reports it,
    `by_size_dev` by original dev; their outcomes are those of the figures alone. `original` are the
    rows of the original test set, `available` the examples that there were to train on. `doses` is
    the share of each size's examples that was learnt at each rate, None where that was not
    recorded. `control` is the score on the control set before, None where there is none, `rules`
    what rules reach on the challenge test set, `majority` the share of the challenge training set
    that one label gets right, 0 where that is not known. `measure` is what scores are called.
    """

    plan: Plan
    by_size: tuple[SizeOutcome, ...]
    by_size_dev: tuple[SizeOutcome, ...]
    original: int
    available: int = 0
    doses: Shares = field(default_factory=dict)
    control: float | None = None
    rules: Mapping[str, float] = field(default_factory=dict)
    majority: float = 0.0
    cautions: tuple[str, ...] = ()
    measure: str = NLI.measure

    def concluded(self, by_size: Sequence[SizeOutcome]) -> Conclusion:
        """Conclude from the figures of all sizes.

        Outcome 3 of the largest size comes first; outcome 1 is shown by any size, of several by the
        largest; else the largest size speaks.
        """
        told = largest = by_size[-1]
        closing = [each for each in by_size if each.outcome == "1" and not any(lacking(each, self))]
        if closing and largest.outcome != "3":
            told = closing[-1]
        lacks = tuple(lacking(told, self))
        outcome: Outcome = "too_little" if lacks else told.outcome
        marks = tuple(_marks(outcome, told, largest, self))
        return Conclusion(outcome, told.outcome, told.size, lacks, marks)

    @property
    def conclusion(self) -> Conclusion:
        """What the run shows, with the rates that the paper would report."""
        return self.concluded(self.by_size)

    @property
    def by_dev(self) -> Conclusion:
        """What it shows with the rates chosen on original dev."""
        return self.concluded(self.by_size_dev)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to beware of, in sentences; what changes the meaning is in the headline."""
        if self.by_dev.outcome == self.conclusion.outcome:
            return self.cautions
        rate, other = self.by_size_dev[-1].lr, OUTCOMES[self.by_dev.outcome].name
        return (*self.cautions, f"{DEV_DIFFERS}{rate:g}, gives another outcome: {other}.")


def conclude(plan: Plan, sets: Sets, points: Sequence[Point]) -> Verdict:
    """Name the outcome of a run from all its points, size 0 among them.

    Measures the rule baselines, which takes seconds on thousands of pairs. Raises ValueError
    without a point of size 0 or of another size.
    """
    base = next((point for point in points if point.cell == BASE), None)
    if base is None:
        raise ValueError("the model as it was has not been measured yet, so there is no outcome")
    trained = [point for point in points if point.cell != BASE]
    facts = (len(sets.challenge_train), sets.majority, baseline_scores(sets.scored), sets.task)
    return judge(plan, base, trained, sets.paired, *facts, measure=sets.measure)


def judge(
    plan: Plan,
    base: Point,
    points: Sequence[Point],
    paired: bool = False,
    available: int = 0,
    majority: float = 0.0,
    rules: Mapping[str, float] | None = None,
    task: Task = NLI,
    measure: str = "",
) -> Verdict:
    """Name the outcome of a run from its points, size 0 apart. Raises ValueError without points.

    `paired` is as in `outcome_of`, the others are as in `Verdict`; `measure` is what scores are
    called where it is not what the task calls them.
    """
    if not points:
        raise ValueError("no size has been computed yet, so there is no outcome")
    limits, unit = plan.thresholds, task.unit
    stays: Outcome = "not_taken_up" if plan.mode == CONTEXT else "2"
    by_size, by_size_dev = (
        tuple(outcome_of(base, each, paired, limits, stays=stays) for each in choose(points, by))
        for by in get_args(Selection)
    )
    tested, measure = len(base.original_right), measure or task.measure
    doses = learnt_shares(points)
    fewest = min(tested, len(base.challenge_right))
    lost: dict[float, float] = {}  # by rate, smallest first
    trained = points if plan.mode != CONTEXT else ()  # a prompt has no rates
    for point in sorted(trained, key=lambda point: point.cell.lr):
        lost[point.cell.lr] = max(lost.get(point.cell.lr, 0.0), base.dev - point.dev)
    unanswered = "; ".join(
        f"with {each.cell.size or 'no'} examples in the prompt {each.unanswered:,}"
        for each in (base, *points)
        if each.unanswered
    )
    diverged = diverged_words((each.cell.lr, each.diverged) for each in points)
    cautions = {
        WHY_IN_COMMON: measure != task.measure,
        **dict.fromkeys(known_differences([plan]), True),
        diverged: bool(diverged),
        f"Some {unit}s get no answer, or one that names no label, and count as wrong: "
        f"{unanswered}.": bool(unanswered),
        f"{majority:.0%} of the challenge training {unit}s have the same label, so a closed gap "
        "says little: the model may have learnt only to prefer that label.": (
            majority >= limits.majority
        ),
        f"A test set has only {fewest} {unit}s; below {limits.tests} the intervals are very "
        "wide.": fewest < limits.tests,
        **{
            f"With learning rate {rate:g} even the best epoch scores {100 * loss:.1f} points less "
            "on original dev than the model before: a lower rate damages less.": (
                loss >= limits.damage
            )
            for rate, loss in lost.items()
        },
    }
    told = tuple(caution for caution, holds in cautions.items() if holds)
    return Verdict(
        plan, by_size, by_size_dev, tested, available, doses, base.control, rules or {}, majority,
        told, measure,
    )  # fmt: skip


def verdict_json(verdict: Verdict) -> Json:
    """Return a verdict for a file: gap, closed and drop of the largest size on top, the outcome.

    The closed share is null where there is no gap to close, `control` where there is no control
    set. A `headline` says the outcome and what changes its meaning, `marks` that in a badge's
    words, `lacks` what is missing to show the outcome that the `figures` have, `shown_at` at which
    size it is shown. In `evidence` a dose is null where it was not recorded.
    """
    largest = verdict.by_size[-1]
    before, after = verdict.control, largest.control

    def outcome_json(found: SizeOutcome) -> Json:
        row = asdict(replace(found, counter_tests=()))
        del row["counter_tests"]
        for name in MEASURES:
            row[name] = {
                key: None if np.isnan(number) else number for key, number in row[name].items()
            }
        return {**row, "name": found.name}

    def shown(found: SizeOutcome, conclusion: Conclusion) -> Json:
        """The figures of the largest size with what is concluded from all sizes."""
        return {
            **outcome_json(replace(found, outcome=conclusion.outcome)),
            "headline": conclusion.headline,
            "marks": [mark.badge for mark in conclusion.marks],
            "lacks": [lack._asdict() for lack in conclusion.lacks],
            "figures": conclusion.figures,
            "shown_at": conclusion.size,
        }

    def by_size(outcomes: Sequence[SizeOutcome]) -> Json:
        """The figures of each size with the outcome that it shows by itself."""
        return {
            str(each.size): outcome_json(
                replace(each, outcome="too_little") if any(lacking(each, verdict)) else each
            )
            for each in outcomes
        }

    tests = [
        {**asdict(test), "sentence": counter_sentence(test, verdict.measure)}
        for test in largest.counter_tests
    ]
    published = shown(largest, verdict.conclusion)
    return {
        **{name: published[name]["value"] for name in ("gap", "closed", "drop")},
        "measure": verdict.measure,
        **{name: published[name] for name in ("outcome", "name", "headline")},
        "explanation": OUTCOMES[verdict.conclusion.outcome].summary,
        "oracle_lr": published,
        "dev_lr": shown(verdict.by_size_dev[-1], verdict.by_dev),
        "by_size": by_size(verdict.by_size),
        "by_size_dev": by_size(verdict.by_size_dev),
        "baselines": dict(verdict.rules),
        "control": (
            None if before is None or after is None else {"before": before, "after": after}
        ),
        **({"counter_tests": tests} if tests else {}),
        "thresholds": asdict(verdict.plan.thresholds),
        "warnings": list(verdict.warnings),
        "evidence": {
            "original": verdict.original,
            "available": verdict.available,
            "doses": {
                str(size): {f"{lr:g}": share for lr, share in shares.items()}
                for size, shares in verdict.doses.items()
            },
        },
    }


def current_verdict(plan: Json, artefacts: Json, stored: Json, results: object = ()) -> Json:
    """Return a stored verdict by today's rule; one that asked for evidence already stays."""
    if "by_size" not in stored or "evidence" in stored:
        return stored
    sets = artefacts.get("sets", {})
    original, available = (
        sets.get(name, {}).get("n", 0) for name in ("original_test", "challenge_train")
    )
    control = (stored.get("control") or {}).get("before")
    rules = stored.get("baselines", {})
    typed = plan_from(plan)

    def read(row: Json) -> SizeOutcome:
        found = {
            name: NOTHING if row[name]["value"] is None else Estimate(**row[name])
            for name in MEASURES
        }
        outcome = classify(**found, limits=typed.thresholds)
        facts = {name: value for name, value in row.items() if name != "name"}
        return SizeOutcome(**{**facts, **found, "outcome": outcome})

    by_size, by_size_dev = (
        tuple(map(read, (stored.get(name) or stored["by_size"]).values()))
        for name in BY_SIZE.values()
    )
    cautions = tuple(each for each in stored["warnings"] if not each.startswith(SAID_NOW))
    measure = stored.get("measure", NLI.measure)
    verdict = Verdict(
        typed, by_size, by_size_dev, original, available, {}, control, rules, 0.0, cautions, measure
    )
    return {**stored, **verdict_json(verdict)}


def baseline_scores(sets: Sets) -> dict[str, float]:
    """Return the share of the challenge test set that each rule gets right, as the curve counts.

    The majority label is that of the challenge training set, the one a model could pick up there.
    A rule that says only "non-entailment" means the label that then gets most of that set right:
    comparing two classes would put it above any model that tells three apart.
    """
    task = sets.task
    counts = right_counts(task, [each.gold for each in sets.challenge_train if each.gold])
    answers: dict[str, Sequence[Label]] = {
        name: BASELINES[name](sets.challenge_test) for name in baselines_for(task)
    }
    if task.labels:
        constant = max(task.labels, key=counts.__getitem__)  # of equals the first
        answers["majority"] = [constant] * len(sets.challenge_test)
    scores = {}
    for name, labels in answers.items():
        meant = {
            label: max(
                (own for own in task.labels if task.matches(own, label)), key=counts.__getitem__
            )
            for label in set(labels)
        }
        scores[name] = fmean(
            task.matches(meant[label], example.gold)
            for label, example in zip(labels, sets.challenge_test, strict=True)
            if example.gold
        )
    return scores


ROWS = {"original_right": "original_test", "challenge_right": "challenge_test"}
"""A point's scores of rows, and the set whose examples they belong to."""
FLOATS = "float32"
"""Names scores that are no truth values, in little-endian single precision."""


def verdict_of(stored: StoredRun, inputs: Json) -> Json | None:
    """Judge what there is, if the model as it was and the largest size are among it."""
    run = inoculation_run(stored)
    there = {point.cell.size for point in run.results}
    if not {0, max(run.plan.sizes)} <= there:
        return None
    return verdict_json(conclude(run.plan, sets_from(inputs), run.results))


def pack_scores(scores: Sequence[float]) -> str | Json:
    """Write scores as base64 text: truth values eight to a byte, others under `FLOATS`."""
    if all(isinstance(score, bool) for score in scores):
        return base64.b64encode(np.packbits(np.array(scores, dtype=bool)).tobytes()).decode()
    return {FLOATS: base64.b64encode(np.array(scores, dtype="<f4").tobytes()).decode()}


def unpack_scores(packed: str | Json, n: int) -> tuple[float, ...]:
    """Read n truth values back, or as many scores as there are."""
    if isinstance(packed, str):
        bits = np.frombuffer(base64.b64decode(packed), dtype=np.uint8)
        return tuple(bool(bit) for bit in np.unpackbits(bits, count=n))
    return tuple(np.frombuffer(base64.b64decode(packed[FLOATS]), dtype="<f4").tolist())


def _each_set(values: Json, change: Callable[[str, Any], object]) -> Json:
    """Return a point whose scores of rows are changed; `change` takes a set's name and scores."""
    tests = values.get("counter_tests", {})
    return {
        **values,
        **{name: change(which, values[name]) for name, which in ROWS.items()},
        "counter_tests": {name: change(name, scores) for name, scores in tests.items()},
    }


def _unpack(values: Json, artefacts: Json) -> Json:
    sets = artefacts["sets"]
    return _each_set(values, lambda name, packed: unpack_scores(packed, sets[name]["n"]))


INOCULATION = TRIALS.experiment(
    lambda plan: f"{plan['challenge']} on",
    lambda result: {
        name: result.get(name) for name in ("original", "challenge", "dev", "dose", "seconds")
    },
    verdict_of,
    lambda result: -math.inf if result.get("diverged") else result["dev"],
    kept_name,
    current_verdict=current_verdict,
    form=2,
    pack=lambda result: _each_set(result, lambda _, scores: pack_scores(scores)),
    unpack=_unpack,
)


WORDS: Mapping[str, Term] = {
    "inoculation": Term(
        "Inoculation",
        "Training a model a little further on a few examples that fool it, to see why they do "
        "(Liu et al. 2019).",
    ),
    "challenge": Term(
        "Challenge", "Examples that fool models in one way, such as texts with a negation added."
    ),
    "original-set": Term(
        "Original set", "Ordinary examples of the task, like those that the model was trained on."
    ),
    "phenomenon": Term(
        "Phenomenon", "What a challenge is meant to test, such as negation, numbers or word order."
    ),
    "artefact": Term(
        "Artefact",
        "A trait of a set that gives its labels away to a model that understands nothing.",
    ),
    "learning-rate": Term(
        "Learning rate", "How far one step of training moves a model; several are tried."
    ),
    **{term.title.lower().replace(" ", "-"): term for term in MEASURES.values()},
    **{
        f"outcome-{key.replace('_', '-')}": Term(words.name, words.summary)
        for key, words in OUTCOMES.items()
    },
}
