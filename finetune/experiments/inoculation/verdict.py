"""What an inoculation says about the challenge: its outcome at each size, and what to beware of.

Shares run from 0 to 1 here and in the JSON; sentences speak of percentage points.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from finetune.experiments.inoculation.counter_tests import counter_sentence
from finetune.experiments.inoculation.datasets import Sets, right_counts
from finetune.experiments.inoculation.evidence import (
    Conclusion,
    Evidence,
    concluded,
    learnt_shares,
    shown,
)
from finetune.experiments.inoculation.fast_mode import known_differences
from finetune.experiments.inoculation.outcomes import (
    MEASURES,
    OUTCOMES,
    SizeOutcome,
    classify,
    outcome_of,
)
from finetune.experiments.inoculation.plan import BASE, Plan
from finetune.experiments.inoculation.point import Point
from finetune.experiments.inoculation.selection import Selection, choose, merge
from finetune.experiments.inoculation.serialise import plan_from
from finetune.experiments.training_limits import diverged_words
from probe.baselines import BASELINES, baselines_for
from probe.metrics import NOTHING, Estimate
from probe.runs.run import Json
from probe.tasks.nli import NLI
from probe.tasks.task import WHY_IN_COMMON, Label, Task

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
