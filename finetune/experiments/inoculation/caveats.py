"""What to beware of before a run's outcome is believed (SEMANTICS 6.1)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from finetune.experiments.inoculation.outcomes import SizeOutcome
from finetune.experiments.inoculation.plan import Thresholds
from finetune.experiments.inoculation.point import Point
from probe.tasks.task import Task


@dataclass(frozen=True)
class Facts:
    """What the warnings are drawn from: the findings by size, the largest size chosen on dev.

    `majority` is the share of the challenge training set that one label gets right, `rules` what
    each rule gets right of the challenge test set.
    """

    base: Point
    points: Sequence[Point]
    by_size: Sequence[SizeOutcome]
    by_dev: SizeOutcome
    majority: float
    rules: Mapping[str, float]
    limits: Thresholds
    task: Task

    @property
    def largest(self) -> SizeOutcome:
        """The largest size."""
        return self.by_size[-1]


def caveats(facts: Facts) -> Iterator[str]:
    """Yield the warnings as sentences, the gravest first."""
    for warn in (_majority, _rules, _control, _few, _damage, _dev, _doubt):
        yield from warn(facts)


def _majority(facts: Facts) -> Iterator[str]:
    if facts.majority >= facts.limits.majority:
        yield (
            f"{facts.majority:.0%} of the challenge training {facts.task.unit}s have the same "
            "label, so a closed gap says little: the model may have learnt only to prefer that "
            "label."
        )


def _rules(facts: Facts) -> Iterator[str]:
    best = max(outcome.challenge for outcome in facts.by_size)
    reached = [
        f"{name} {share:.1%}" for name, share in facts.rules.items() if round(share - best, 9) >= 0
    ]
    if reached:
        yield (
            f"Rules that understand nothing do as well on the challenge test set as the model's "
            f"best point, {best:.1%}: {', '.join(reached)}. A closed gap need not mean more."
        )


def _control(facts: Facts) -> Iterator[str]:
    """Compare the gap that the control closed with that of the challenge."""
    before, after, outcome = facts.base.control, facts.largest.control, facts.largest
    if before is None or after is None or outcome.outcome == "0":
        return
    gap = facts.base.original - before
    closed = (after - before) / gap if gap >= facts.limits.gap else 1.0
    if outcome.closed.value >= facts.limits.cured > closed:
        yield (
            "On a control set, the same kind of change by other words, which is never trained on, "
            f"{facts.task.measure} went from {before:.1%} to {after:.1%}, {closed:.0%} of its own "
            "gap: the model learnt this tautology, not to ignore one."
        )


def _few(facts: Facts) -> Iterator[str]:
    n = min(len(facts.base.original_right), len(facts.base.challenge_right))
    if n < facts.limits.tests:
        yield (
            f"A test set has only {n} {facts.task.unit}s; below {facts.limits.tests} the "
            "intervals are very wide."
        )


def _damage(facts: Facts) -> Iterator[str]:
    lost: dict[float, float] = {}
    for point in facts.points:
        lost[point.cell.lr] = max(lost.get(point.cell.lr, 0.0), facts.base.dev - point.dev)
    for rate in sorted(lost):
        if lost[rate] >= facts.limits.damage:
            yield (
                f"With learning rate {rate:g} even the best epoch scores {100 * lost[rate]:.1f} "
                "points less on original dev than the model before: a lower rate damages less."
            )


def _dev(facts: Facts) -> Iterator[str]:
    if facts.by_dev.outcome != facts.largest.outcome:
        yield (
            f"The learning rate chosen on original dev, {facts.by_dev.lr:g}, gives another "
            f"outcome: {facts.by_dev.name}."
        )


def _doubt(facts: Facts) -> Iterator[str]:
    outcome = facts.largest
    if outcome.outcome == "between" and outcome.drop.value >= facts.limits.drop:
        yield (
            f"The original set lost {100 * outcome.drop.value:.1f} points, but the interval "
            "includes none, so outcome 3 is possible."
        )
