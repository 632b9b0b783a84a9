"""Inoculation as a kind of run."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finetune.training.recipes import default_rate
from finetune.trials.base import diverged_words
from finetune.trials.challenges import (
    Array,
    CounterTest,
    counter_sentence,
    counter_tests,
    estimate,
    title_of,
)
from finetune.trials.datasets import Sets, right_counts
from finetune.trials.inoculation_plan import (
    BASE,
    THRESHOLDS,
    TRIALS,
    InoculationRun,
    Plan,
    Point,
    SelectedPoint,
    Selection,
    Thresholds,
    choose,
    inoculation_run,
    kept_name,
    merge,
    plan_from,
    run_stored_cell,
    sets_from,
)
from probe.baselines import BASELINES, baselines_for
from probe.models import bundled
from probe.runs.run import Json, StoredRun
from probe.statistics import NOTHING, Estimate, interval, resampled_means
from probe.tasks.nli import NLI
from probe.tasks.task import WHY_IN_COMMON, Label, Task, task_named
from probe.terms import Term, Titled

Outcome = Literal["0", "1", "2", "3", "between", "too_little"]


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

    @property
    def explanation(self) -> str:
        """What the outcome means."""
        return OUTCOMES[self.outcome].summary


def outcome_of(
    base: SelectedPoint,
    after: SelectedPoint,
    paired: bool = False,
    seed: int = 0,
    times: int = 1000,
    thresholds: Thresholds = THRESHOLDS,
) -> SizeOutcome:
    """Compare a model before and after; `paired` resamples rows of both test sets together."""
    original = np.array([base.original_right, after.original_right]).T
    challenge = np.array([base.challenge_right, after.challenge_right]).T
    rng = np.random.default_rng(seed)
    if paired:
        draws = resampled_means(np.hstack([original, challenge]), times, rng)
    else:
        draws = np.hstack(
            [resampled_means(original, times, rng), resampled_means(challenge, times, rng)]
        )
    means = np.array([base.original, after.original, base.challenge, after.challenge])
    n = len(original) if paired else min(len(original), len(challenge))
    gap, closed, drop, gain = (
        estimate(float(value[0]), value[1:], n) for value in _quantities(np.vstack([means, draws]))
    )
    finding = SizeOutcome(
        after.size, after.lr, after.seeds, after.original, after.challenge,
        gap, closed, drop, gain, "between", after.control, counter_tests(base, after, seed, times),
    )  # fmt: skip
    return replace(finding, outcome=classify(gap, closed, drop, gain, thresholds))


def _quantities(means: Array) -> tuple[Array, Array, Array, Array]:
    """Return gap, closed, drop, gain of (rows, 4) means; closed is NaN where there is no gap."""
    before, after, challenge_before, challenge_after = means.T
    gap, gain = before - challenge_before, challenge_after - challenge_before
    closed = np.divide(gain, gap, out=np.full_like(gap, np.nan), where=gap > 1e-12)
    return gap, closed, before - after, gain


def classify(
    gap: Estimate, closed: Estimate, drop: Estimate, gain: Estimate, limits: Thresholds = THRESHOLDS
) -> Outcome:
    """Return the outcome of figures: damage first, then no gap, then how much of it was closed.

    Liu et al. call it outcome 3 regardless of the gap.
    """
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


@dataclass(frozen=True)
class Evidence:
    """What a run has beside its figures.

    `original` are the rows of the original test set, `available` the examples that there were to
    train on. `doses` is the share of each size's examples that was learnt at each rate, None where
    that was not recorded. `control` is the score on the control set before, None where there is
    none, `rules` what rules reach on the challenge test set, `majority` the share of the challenge
    training set that one label gets right, 0 where that is not known.
    """

    plan: Plan
    original: int
    available: int = 0
    doses: Shares = field(default_factory=dict)
    control: float | None = None
    rules: Mapping[str, float] = field(default_factory=dict)
    majority: float = 0.0


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
        clauses = "; ".join([clause for _, clause in (*self.lacks, *self.marks)])
        if self.lacks:
            return f"{name}: {clauses}"
        return f"{name}, but {clauses}" if clauses else name


def learnt_shares(points: Sequence[Point]) -> Shares:
    """Return the share of the dose that was learnt by size and rate, over seeds on average."""
    found: dict[int, dict[float, float | None]] = {}
    for size, lr in dict.fromkeys((point.cell.size, point.cell.lr) for point in points):
        doses = [p.dose for p in points if (p.cell.size, p.cell.lr) == (size, lr)]
        known = [dose / size for dose in doses if dose is not None]
        found.setdefault(size, {})[lr] = fmean(known) if len(known) == len(doses) else None
    return found


def concluded(by_size: Sequence[SizeOutcome], evidence: Evidence) -> Conclusion:
    """Conclude from the figures of all sizes, smallest first.

    Outcome 3 of the largest size comes first; outcome 1 is shown by any size, of several by the
    largest; else the largest size speaks.
    """
    largest = by_size[-1]
    closing = [each for each in by_size if each.outcome == "1" and not lacking(each, evidence)]
    told = closing[-1] if closing and largest.outcome != "3" else largest
    lacks = tuple(lacking(told, evidence))
    outcome: Outcome = "too_little" if lacks else told.outcome
    marks = tuple(_marks(outcome, told, largest, evidence))
    return Conclusion(outcome, told.outcome, told.size, lacks, marks)


def shown(found: SizeOutcome, evidence: Evidence) -> SizeOutcome:
    """Return the figures of one size with the outcome that it shows by itself."""
    return replace(found, outcome="too_little") if any(lacking(found, evidence)) else found


def lacking(found: SizeOutcome, evidence: Evidence) -> list[Lack]:
    """Return what a run lacks to show the outcome that the figures of a size have."""
    needs = {"1": _interval, "2": _ability, "3": _original}
    return list(needs[found.outcome](found, evidence)) if found.outcome in needs else []


def _interval(found: SizeOutcome, evidence: Evidence) -> Iterator[Lack]:
    if found.closed.low <= CLEARLY_CLOSED:
        yield Lack(
            "interval",
            f"{100 * found.closed.value:.0f} % of the gap closed, but by so few test examples that "
            f"it may be anything from {interval(found.closed)} %",
        )


def _original(found: SizeOutcome, evidence: Evidence) -> Iterator[Lack]:
    least = evidence.plan.thresholds.tests
    if evidence.original < least:
        yield Lack(
            "original",
            f"{100 * found.drop.value:.1f} points lost on an original test set of only "
            f"{evidence.original}, where {least} tell",
        )


def _ability(found: SizeOutcome, evidence: Evidence) -> Iterator[Lack]:
    if evidence.plan.mode == "fast":
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
    outcome: Outcome, told: SizeOutcome, largest: SizeOutcome, evidence: Evidence
) -> Iterator[Mark]:
    limits, plan = evidence.plan.thresholds, evidence.plan
    if plan.mode == "fast" and outcome in ("1", "3", "between"):
        yield Mark("upper layers only", "only the upper layers were trained")
    if outcome in ("1", "between"):
        yield from _learnt_instead(told, evidence)
    if outcome != "3" and round(largest.drop.value - limits.drop, 9) >= 0:
        yield Mark(
            "original may be lost",
            f"the original set lost {100 * largest.drop.value:.1f} points with {largest.size} "
            f"examples ({interval(largest.drop)})",
        )


def _learnt_instead(told: SizeOutcome, evidence: Evidence) -> Iterator[Mark]:
    """Yield what may have been learnt in place of the phenomenon, where its gap closed in part."""
    limits, before, after = evidence.plan.thresholds, evidence.control, told.control
    if told.outcome == "1" and before is not None and after is not None:
        gap = told.original + told.drop.value - before
        closed = (after - before) / gap if gap >= limits.gap else 1.0
        if closed < limits.cured:
            yield Mark(
                "this wording only",
                f"on a control set by other words, never trained on, only {100 * closed:.0f} % of "
                "its gap closed: it learnt this wording, not to ignore one",
            )
    if evidence.majority >= limits.majority:
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
    if reached:
        yield Mark(
            "a rule does as well",
            f"rules that understand nothing do as well on the challenge: {', '.join(reached)}",
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
        plan, mode="full", sizes=(enough,), lrs=rates, max_epochs=epochs, patience=patience
    )


LARGE_LOSS = 5.0  # points of the original set that fast mode loses beyond full mode


@dataclass(frozen=True)
class MeasuredModes:
    """The outcome of a challenge in both modes, and the points that the original set lost."""

    model: str
    challenge: str
    full_loss: float
    full: Outcome
    fast_loss: float
    fast: Outcome


MEASURED = (
    MeasuredModes("minilm", "word_overlap", 0.5, "1", 1.5, "1"),
    MeasuredModes("minilm", "negation", 1.4, "1", 2.4, "between"),
    MeasuredModes("minilm", "spelling", 0.3, "between", 1.2, "between"),
    MeasuredModes("minilm", "length_mismatch", 0.0, "between", 1.8, "too_little"),
    MeasuredModes("minilm", "numerical", 5.0, "3", 25.3, "3"),
    MeasuredModes("minilm", "templates_numerical", 2.0, "between", 16.4, "3"),
    MeasuredModes("da", "word_overlap", -0.9, "1", -0.3, "1"),
    MeasuredModes("da", "negation", 1.7, "between", 1.9, "between"),
    MeasuredModes("da", "spelling", 0.6, "between", -0.2, "too_little"),
    MeasuredModes("da", "length_mismatch", 0.7, "between", 0.4, "too_little"),
    MeasuredModes("da", "numerical", 7.0, "3", 6.1, "3"),
    MeasuredModes("esim", "word_overlap", 1.0, "1", -0.6, "1"),
    MeasuredModes("esim", "negation", 0.9, "1", 0.3, "1"),
    MeasuredModes("esim", "spelling", 0.2, "too_little", -0.8, "too_little"),
    MeasuredModes("esim", "length_mismatch", 0.7, "0", -1.3, "0"),
    MeasuredModes("esim", "numerical", 2.4, "between", 1.7, "between"),
    MeasuredModes("esim_char", "word_overlap", 1.2, "1", 1.3, "between"),
    MeasuredModes("esim_char", "negation", 0.6, "1", -0.3, "1"),
    MeasuredModes("esim_char", "spelling", 0.4, "too_little", -1.2, "too_little"),
    MeasuredModes("esim_char", "length_mismatch", 0.1, "too_little", -1.2, "too_little"),
    MeasuredModes("esim_char", "numerical", 3.7, "3", 2.6, "between"),
)


def measured_modes(plan: Plan) -> MeasuredModes | None:
    """Return what was measured of a plan's model and challenge."""
    key = (Path(plan.model).name, plan.challenge)
    return next((row for row in MEASURED if (row.model, row.challenge) == key), None)


def known_differences(plans: Sequence[Plan]) -> Iterator[str]:
    """Yield what plans in fast mode are known to find otherwise, as sentences."""
    rows = {
        _named(plan): row for plan in plans if plan.mode == "fast" and (row := measured_modes(plan))
    }
    others = [
        f"{title} ({_short(row.fast)} instead of {_short(row.full)})"
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
    unknown = [
        _named(plan) for plan in plans if plan.mode == "fast" and measured_modes(plan) is None
    ]
    if unknown:
        yield (
            "Whether training the upper layers alone finds what training all weights finds was not "
            f"measured for {', '.join(unknown)}: it can close less of a gap and cost the original "
            "set more."
        )


def _named(plan: Plan) -> str:
    """Return what a person calls a plan's model and challenge."""
    challenge = title_of(plan.challenge, task_named(plan.task))
    return f"{bundled.title_of(Path(plan.model).name)} on “{challenge}”"


def _short(outcome: Outcome) -> str:
    return OUTCOMES[outcome].title.lower()


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
    """The figures by size, what the run has beside them, and what to beware of.

    `by_size` chooses each learning rate by the challenge test set, as the paper reports it,
    `by_size_dev` by original dev; their outcomes are those of the figures alone. `measure` is what
    scores are called.
    """

    by_size: tuple[SizeOutcome, ...]
    by_size_dev: tuple[SizeOutcome, ...]
    evidence: Evidence
    cautions: tuple[str, ...] = ()
    measure: str = NLI.measure

    @property
    def largest(self) -> SizeOutcome:
        """The largest size."""
        return self.by_size[-1]

    @property
    def conclusion(self) -> Conclusion:
        """What the run shows, with the rates that the paper would report."""
        return concluded(self.by_size, self.evidence)

    @property
    def by_dev(self) -> Conclusion:
        """What it shows with the rates chosen on original dev."""
        return concluded(self.by_size_dev, self.evidence)

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

    `paired` is as in `outcome_of`, the others are as in `Evidence`; `measure` is what scores are
    called where it is not what the task calls them.
    """
    if not points:
        raise ValueError("no size has been computed yet, so there is no outcome")
    start = merge([base])

    def chosen(by: Selection) -> tuple[SizeOutcome, ...]:
        return tuple(
            outcome_of(start, point, paired, thresholds=plan.thresholds)
            for point in choose(points, by)
        )

    evidence = Evidence(
        plan, len(base.original_right), available, learnt_shares(points), base.control,
        rules or {}, majority,
    )  # fmt: skip
    measure = measure or task.measure
    merged = (WHY_IN_COMMON,) if measure != task.measure else ()
    cautions = (*merged, *known_differences([plan]), *_cautions(evidence, base, points, task))
    return Verdict(chosen("oracle_lr"), chosen("dev_lr"), evidence, cautions, measure)


def _cautions(
    evidence: Evidence, base: Point, points: Sequence[Point], task: Task
) -> Iterator[str]:
    """Yield the warnings that hold whatever the outcome, the gravest first."""
    limits = evidence.plan.thresholds
    if told := diverged_words((each.cell.lr, each.diverged) for each in points):
        yield told
    if evidence.majority >= limits.majority:
        yield (
            f"{evidence.majority:.0%} of the challenge training {task.unit}s have the same label, "
            "so a closed gap says little: the model may have learnt only to prefer that label."
        )
    n = min(len(base.original_right), len(base.challenge_right))
    if n < limits.tests:
        yield (
            f"A test set has only {n} {task.unit}s; below {limits.tests} the intervals are very "
            "wide."
        )
    lost: dict[float, float] = {}
    for point in points:
        lost[point.cell.lr] = max(lost.get(point.cell.lr, 0.0), base.dev - point.dev)
    for rate in sorted(lost):
        if lost[rate] >= limits.damage:
            yield (
                f"With learning rate {rate:g} even the best epoch scores {100 * lost[rate]:.1f} "
                "points less on original dev than the model before: a lower rate damages less."
            )


def verdict_json(verdict: Verdict) -> Json:
    """Return a verdict for a file: gap, closed and drop of the largest size on top, the outcome.

    The closed share is null where there is no gap to close, `control` where there is no control
    set. A `headline` says the outcome and what changes its meaning, `marks` that in a badge's
    words, `lacks` what is missing to show the outcome that the `figures` have, `shown_at` at which
    size it is shown. In `evidence` a dose is null where it was not recorded.
    """
    largest, evidence = verdict.largest, verdict.evidence
    published = _concluded_json(largest, verdict.conclusion)
    return {
        "gap": largest.gap.value,
        "closed": None if np.isnan(largest.closed.value) else largest.closed.value,
        "drop": largest.drop.value,
        "measure": verdict.measure,
        **{name: published[name] for name in ("outcome", "name", "headline")},
        "explanation": OUTCOMES[verdict.conclusion.outcome].summary,
        "oracle_lr": published,
        "dev_lr": _concluded_json(verdict.by_size_dev[-1], verdict.by_dev),
        "by_size": _by_size(verdict.by_size, evidence),
        "by_size_dev": _by_size(verdict.by_size_dev, evidence),
        "baselines": dict(evidence.rules),
        "control": _control(verdict),
        **_counter_tests(verdict),
        "thresholds": asdict(evidence.plan.thresholds),
        "warnings": list(verdict.warnings),
        "evidence": {
            "original": evidence.original,
            "available": evidence.available,
            "doses": {
                str(size): {f"{lr:g}": share for lr, share in shares.items()}
                for size, shares in evidence.doses.items()
            },
        },
    }


def current_verdict(plan: Json, artefacts: Json, stored: Json) -> Json:
    """Return a stored verdict by today's rule; one that asked for evidence already is as it was.

    Its run did not record what was learnt of the doses.
    """
    if "by_size" not in stored or "evidence" in stored:
        return stored
    sets = artefacts.get("sets", {})
    original, available = (
        sets.get(name, {}).get("n", 0) for name in ("original_test", "challenge_train")
    )
    control = (stored.get("control") or {}).get("before")
    evidence = Evidence(
        plan_from(plan), original, available, {}, control, stored.get("baselines", {})
    )
    by_size, by_size_dev = (
        tuple(
            _size_outcome(row, evidence) for row in (stored.get(name) or stored["by_size"]).values()
        )
        for name in BY_SIZE.values()
    )
    cautions = tuple(each for each in stored["warnings"] if not each.startswith(SAID_NOW))
    measure = stored.get("measure", NLI.measure)
    return {**stored, **verdict_json(Verdict(by_size, by_size_dev, evidence, cautions, measure))}


def _size_outcome(row: Json, evidence: Evidence) -> SizeOutcome:
    """Read the figures of a size from their JSON and classify them."""
    found = {
        name: NOTHING if row[name]["value"] is None else Estimate(**row[name]) for name in MEASURES
    }
    facts = {name: value for name, value in row.items() if name not in ("name", *MEASURES)}
    outcome = classify(**found, limits=evidence.plan.thresholds)
    return SizeOutcome(**{**facts, **found, "outcome": outcome})


def _concluded_json(largest: SizeOutcome, conclusion: Conclusion) -> Json:
    """Return the figures of the largest size with what is concluded from all sizes."""
    return {
        **_outcome_json(replace(largest, outcome=conclusion.outcome)),
        "headline": conclusion.headline,
        "marks": [mark.badge for mark in conclusion.marks],
        "lacks": [lack._asdict() for lack in conclusion.lacks],
        "figures": conclusion.figures,
        "shown_at": conclusion.size,
    }


def _control(verdict: Verdict) -> Json | None:
    """Return the score on the control set before and after, None where there is no such set."""
    before, after = verdict.evidence.control, verdict.largest.control
    return None if before is None or after is None else {"before": before, "after": after}


def _counter_tests(verdict: Verdict) -> Json:
    """Return what the counter-tests show at the largest size, nothing where there are none."""
    tests = [
        {**asdict(test), "sentence": counter_sentence(test, verdict.measure)}
        for test in verdict.largest.counter_tests
    ]
    return {"counter_tests": tests} if tests else {}


def _by_size(outcomes: Sequence[SizeOutcome], evidence: Evidence) -> Json:
    return {str(each.size): _outcome_json(shown(each, evidence)) for each in outcomes}


def _outcome_json(outcome: SizeOutcome) -> Json:
    row = asdict(replace(outcome, counter_tests=()))
    del row["counter_tests"]
    for name in ("gap", "closed", "drop", "gain"):
        row[name] = {key: None if np.isnan(number) else number for key, number in row[name].items()}
    return {**row, "name": outcome.name}


def baseline_scores(sets: Sets) -> dict[str, float]:
    """Return the share of the challenge test set that each rule gets right, as the curve counts.

    The majority label is that of the challenge training set, the one a model could pick up there.
    A rule that says only "non-entailment" means the label that then gets most of that set right:
    comparing two classes would put it above any model that tells three apart.
    """
    task = sets.task
    answers: dict[str, Sequence[Label]] = {
        name: BASELINES[name](sets.challenge_test) for name in baselines_for(task)
    }
    if task.labels:
        constant = _right_most(task, sets.challenge_train, task.labels)
        answers["majority"] = [constant] * len(sets.challenge_test)
    return {name: _share_right(sets, labels) for name, labels in answers.items()}


def _right_most(task: Task, examples: Sequence[Any], labels: Sequence[Label]) -> Label:
    """Return the label that gets most examples right; of equals the first."""
    counts = right_counts(task, [example.gold for example in examples if example.gold])
    return max(labels, key=lambda label: counts[label])


def _share_right(sets: Sets, answers: Sequence[Label]) -> float:
    """Return the share of the challenge test set that is right; merged labels mean one of them."""
    task = sets.task
    meant = {
        label: _right_most(
            task, sets.challenge_train, [own for own in task.labels if task.matches(own, label)]
        )
        for label in set(answers)
    }
    hits = [
        task.matches(meant[answer], example.gold)
        for answer, example in zip(answers, sets.challenge_test, strict=True)
        if example.gold
    ]
    return sum(hits) / len(hits)


BRIEF = ("original", "challenge", "dev", "dose", "seconds")
"""What is told of a point over HTTP."""
ROWS = {"original_right": "original_test", "challenge_right": "challenge_test"}
"""A point's scores of rows, and the set whose examples they belong to."""
FLOATS = "float32"
"""Names scores that are no truth values, in little-endian single precision."""


def _brief(result: Json) -> Json:
    return {name: result.get(name) for name in BRIEF}


def name_to_keep(stored: StoredRun, result: Json) -> str | None:
    """Return a name for the model of the largest size; of several the best on original dev.

    That of a training that diverged is not kept.
    """
    run = inoculation_run(stored)
    rivals = [point.dev for point in run.results if _is_largest(run, point) and not point.diverged]
    if result.get("diverged"):
        return None
    if run.kept and result["dev"] < max(rivals, default=0.0):
        return None
    return run.kept or kept_name(run.plan)


def verdict_of(stored: StoredRun, inputs: Json) -> Json | None:
    """Judge what there is, if the model as it was and the largest size are among it."""
    run = inoculation_run(stored)
    measured = any(point.cell == BASE for point in run.results)
    if not (measured and any(_is_largest(run, point) for point in run.results)):
        return None
    return verdict_json(conclude(run.plan, sets_from(inputs), run.results))


def _is_largest(run: InoculationRun, point: Point) -> bool:
    return point.cell.size == max(run.plan.sizes)


def pack_scores(scores: Sequence[float]) -> str | Json:
    """Write scores as base64 text: truth values eight to a byte, others under `FLOATS`."""
    if all(isinstance(score, bool) for score in scores):
        return _base64(np.packbits(np.array(scores, dtype=bool)))
    return {FLOATS: _base64(np.array(scores, dtype="<f4"))}


def unpack_scores(packed: str | Json, n: int) -> tuple[float, ...]:
    """Read n truth values back, or as many scores as there are."""
    if isinstance(packed, str):
        bits = np.frombuffer(base64.b64decode(packed), dtype=np.uint8)
        return tuple(bool(bit) for bit in np.unpackbits(bits, count=n))
    return tuple(np.frombuffer(base64.b64decode(packed[FLOATS]), dtype="<f4").tolist())


def _base64(values: NDArray[Any]) -> str:  # Any: bytes or floats
    return base64.b64encode(values.tobytes()).decode()


def _pack(result: Json) -> Json:
    counter_tests = result.get("counter_tests", {})
    return {
        **result,
        **{name: pack_scores(result[name]) for name in ROWS},
        "counter_tests": {name: pack_scores(scores) for name, scores in counter_tests.items()},
    }


def _unpack(values: Json, artefacts: Json) -> Json:
    counts = {name: each["n"] for name, each in artefacts["sets"].items()}
    counter_tests = values.get("counter_tests", {})
    return {
        **values,
        **{name: unpack_scores(values[name], counts[which]) for name, which in ROWS.items()},
        "counter_tests": {
            name: unpack_scores(packed, counts[name]) for name, packed in counter_tests.items()
        },
    }


INOCULATION = TRIALS.experiment(
    run_stored_cell,
    lambda plan: f"{plan['challenge']} on",
    _brief,
    verdict_of,
    name_to_keep,
    current_verdict=current_verdict,
    form=2,
    pack=_pack,
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
}


def inoculation_terms(task: Task) -> dict[str, Titled]:
    """Return the terms by id; they are the same for every task."""
    measures = {term.title.lower().replace(" ", "-"): term for term in MEASURES.values()}
    outcomes = {
        f"outcome-{key.replace('_', '-')}": Term(words.name, words.summary)
        for key, words in OUTCOMES.items()
    }
    return {**WORDS, **measures, **outcomes}
