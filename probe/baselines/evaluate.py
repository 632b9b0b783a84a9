"""The accuracy of a baseline on labelled pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probe.baselines.registry import baseline
from probe.metrics import Estimate, share
from probe.tasks.nli import ENTAILMENT, LABELS, NON_ENTAILMENT, Pair, matches
from probe.tasks.task import Label

GOLDS: tuple[Label, ...] = (*LABELS, NON_ENTAILMENT)


@dataclass(frozen=True)
class Tally:
    """A number of pairs, and the number of them that are labelled correctly."""

    n: int
    correct: int


@dataclass(frozen=True)
class Evaluation:
    """A baseline's accuracy on the pairs with a gold label.

    Where some gold labels are non-entailment, all pairs are judged in two classes. `low` and `high`
    are Wilson's 95 % interval; all three are NaN where n is 0. `counts` has for each predicted
    label the numbers of gold labels of those pairs.
    """

    name: str
    n: int
    correct: int
    accuracy: float
    low: float
    high: float
    by_gold: Mapping[Label, Tally]
    counts: Mapping[Label, Mapping[Label, int]]

    @property
    def estimate(self) -> Estimate:
        """The accuracy with its interval."""
        return Estimate(self.accuracy, self.low, self.high, self.n)


def evaluate_baseline(name: str, pairs: Sequence[Pair]) -> Evaluation:
    """Evaluate a baseline; pairs without a gold label are left out. Raises UnknownBaseline."""
    labelled = [pair for pair in pairs if pair.gold]
    predicted = baseline(name)(labelled)
    # all of these pairs have a gold label; the condition is for the type checker
    outcomes = [
        (label, pair.gold) for label, pair in zip(predicted, labelled, strict=True) if pair.gold
    ]
    if any(gold == NON_ENTAILMENT for _, gold in outcomes):  # then all are judged in two classes
        outcomes = [(a, ENTAILMENT if b == ENTAILMENT else NON_ENTAILMENT) for a, b in outcomes]
    counts = Counter(outcomes)
    estimate = share([matches(*outcome) for outcome in outcomes])
    return Evaluation(
        name,
        len(outcomes),
        sum(n for outcome, n in counts.items() if matches(*outcome)),
        estimate.value,
        estimate.low,
        estimate.high,
        {gold: _tally(gold, counts) for gold in GOLDS if any(g == gold for _, g in counts)},
        {
            label: {gold: counts[label, gold] for gold in GOLDS if counts[label, gold]}
            for label in GOLDS
            if label in predicted
        },
    )


def _tally(gold: Label, counts: Mapping[tuple[Label, Label], int]) -> Tally:
    """Count the pairs of one gold label; `counts` is by predicted and gold label."""
    of_gold = {outcome: n for outcome, n in counts.items() if outcome[1] == gold}
    correct = sum(n for outcome, n in of_gold.items() if matches(*outcome))
    return Tally(sum(of_gold.values()), correct)


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as JSON values; an accuracy over no pair is null."""
    known = evaluation.n > 0
    return {
        "rule": evaluation.name,
        "n": evaluation.n,
        "correct": evaluation.correct,
        "accuracy": evaluation.accuracy if known else None,
        "low": evaluation.low if known else None,
        "high": evaluation.high if known else None,
        "by_gold": {
            gold: {"n": tally.n, "correct": tally.correct}
            for gold, tally in evaluation.by_gold.items()
        },
        "counts": {label: dict(golds) for label, golds in evaluation.counts.items()},
    }
