"""How well a baseline does on labelled pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probe.baselines.registry import baseline
from probe.metrics import Estimate, share
from probe.tasks.nli import LABELS, NON_ENTAILMENT, Pair, matches
from probe.tasks.task import Label

GOLDS: tuple[Label, ...] = (*LABELS, NON_ENTAILMENT)


@dataclass(frozen=True)
class Tally:
    """How many pairs, and how many of them are right."""

    n: int
    correct: int


@dataclass(frozen=True)
class Evaluation:
    """What a baseline got right over the pairs with a gold label.

    `low` and `high` are Wilson's 95 % interval; all three are NaN where n is 0. `counts` has for
    each label the rule gave the gold labels of those pairs.
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


def judge(name: str, pairs: Sequence[Pair]) -> Evaluation:
    """Measure a baseline; pairs without a gold label are left out. Raises UnknownRule."""
    labelled = [pair for pair in pairs if pair.gold]
    predicted = baseline(name)(labelled)
    # the condition holds for all of them: it tells the type checker so
    said = [(a, p.gold) for a, p in zip(predicted, labelled, strict=True) if p.gold]
    found = Counter(said)
    estimate = share([matches(*both) for both in said])
    return Evaluation(
        name,
        len(said),
        sum(n for both, n in found.items() if matches(*both)),
        estimate.value,
        estimate.low,
        estimate.high,
        {gold: _tally(gold, found) for gold in GOLDS if any(g == gold for _, g in found)},
        {
            label: {gold: found[label, gold] for gold in GOLDS if found[label, gold]}
            for label in GOLDS
            if label in predicted
        },
    )


def _tally(gold: Label, found: Mapping[tuple[Label, Label], int]) -> Tally:
    of = {both: n for both, n in found.items() if both[1] == gold}
    return Tally(sum(of.values()), sum(n for both, n in of.items() if matches(*both)))


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return a judgement as JSON values; an accuracy over no pair is null."""
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
