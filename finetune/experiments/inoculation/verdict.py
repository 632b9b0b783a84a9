"""What an inoculation says about the challenge: its outcome at each size, and what to beware of.

Shares run from 0 to 1 here and in the JSON; sentences speak of percentage points.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from finetune.experiments.inoculation.caveats import Facts, caveats
from finetune.experiments.inoculation.counter_tests import counter_sentence
from finetune.experiments.inoculation.datasets import Sets, right_counts
from finetune.experiments.inoculation.fast_mode import known_differences
from finetune.experiments.inoculation.outcomes import SizeOutcome, outcome_of
from finetune.experiments.inoculation.plan import BASE, THRESHOLDS, Plan, Thresholds
from finetune.experiments.inoculation.point import Point
from finetune.experiments.inoculation.selection import Selection, choose, merge
from probe.baselines import BASELINES, baselines_for
from probe.runs.run import Json
from probe.tasks.nli import NLI
from probe.tasks.task import Label, Task


@dataclass(frozen=True)
class Verdict:
    """The findings by size and what to beware of.

    `by_size` chooses each learning rate by the challenge test set, as the paper reports it,
    `by_size_dev` by original dev. `rules` is what each rule baseline gets right of the challenge
    test set, `control` the score on the control set before inoculation, `measure` what scores are
    called.
    """

    by_size: tuple[SizeOutcome, ...]
    by_size_dev: tuple[SizeOutcome, ...]
    warnings: tuple[str, ...]
    rules: Mapping[str, float] = field(default_factory=dict)
    control: float | None = None
    thresholds: Thresholds = THRESHOLDS
    measure: str = NLI.measure

    @property
    def largest(self) -> SizeOutcome:
        """The largest size: the run's outcome."""
        return self.by_size[-1]

    @property
    def by_dev(self) -> SizeOutcome:
        """The largest size with the rate chosen on original dev."""
        return self.by_size_dev[-1]


def conclude(plan: Plan, sets: Sets, points: Sequence[Point]) -> Verdict:
    """Name the outcome of a run from all its points, size 0 among them.

    Measures the rule baselines, which takes seconds on thousands of pairs. Raises ValueError
    without a point of size 0 or of another size.
    """
    base = next((point for point in points if point.cell == BASE), None)
    if base is None:
        raise ValueError("the model as it was has not been measured yet, so there is no outcome")
    trained = [point for point in points if point.cell != BASE]
    return judge(
        base,
        trained,
        sets.majority,
        sets.paired,
        plan.thresholds,
        baseline_scores(sets),
        sets.task,
        tuple(known_differences([plan])),
    )


def judge(
    base: Point,
    points: Sequence[Point],
    majority: float = 0.0,
    paired: bool = False,
    thresholds: Thresholds = THRESHOLDS,
    rules: Mapping[str, float] | None = None,
    task: Task = NLI,
    known: tuple[str, ...] = (),
) -> Verdict:
    """Name the outcome of a run from its points, size 0 apart. Raises ValueError without points.

    `majority` is the share of the challenge training set that one label gets right, `paired` as in
    `outcome_of`, `rules` what the baselines get right of the challenge test set, `known` what is
    known of the plan before any point.
    """
    if not points:
        raise ValueError("no size has been computed yet, so there is no outcome")
    start = merge([base])

    def chosen(by: Selection) -> tuple[SizeOutcome, ...]:
        return tuple(
            outcome_of(start, point, paired, thresholds=thresholds) for point in choose(points, by)
        )

    by_size, by_size_dev = chosen("oracle_lr"), chosen("dev_lr")
    facts = Facts(base, points, by_size, by_size_dev[-1], majority, rules or {}, thresholds, task)
    warnings = (*known, *caveats(facts))
    return Verdict(
        by_size, by_size_dev, warnings, rules or {}, base.control, thresholds, task.measure
    )


def verdict_json(verdict: Verdict) -> Json:
    """Return a verdict for a file: gap, closed, drop and outcome of the largest size on top.

    The closed share is null where there is no gap to close, `control` where there is no control
    set.
    """
    largest = verdict.largest
    return {
        "gap": largest.gap.value,
        "closed": None if np.isnan(largest.closed.value) else largest.closed.value,
        "drop": largest.drop.value,
        "measure": verdict.measure,
        "outcome": largest.outcome,
        "name": largest.name,
        "explanation": largest.explanation,
        "oracle_lr": _outcome_json(largest),
        "dev_lr": _outcome_json(verdict.by_dev),
        "by_size": _by_size(verdict.by_size),
        "by_size_dev": _by_size(verdict.by_size_dev),
        "baselines": dict(verdict.rules),
        "control": _control(verdict),
        **_counter_tests(verdict),
        "thresholds": asdict(verdict.thresholds),
        "warnings": list(verdict.warnings),
    }


def _control(verdict: Verdict) -> Json | None:
    """Return the score on the control set before and after, None where there is no such set."""
    before, after = verdict.control, verdict.largest.control
    return None if before is None or after is None else {"before": before, "after": after}


def _counter_tests(verdict: Verdict) -> Json:
    """Return what the counter-tests show at the largest size, nothing where there are none."""
    tests = [
        {**asdict(test), "sentence": counter_sentence(test, verdict.measure)}
        for test in verdict.largest.counter_tests
    ]
    return {"counter_tests": tests} if tests else {}


def _by_size(outcomes: Sequence[SizeOutcome]) -> Json:
    return {str(outcome.size): _outcome_json(outcome) for outcome in outcomes}


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
