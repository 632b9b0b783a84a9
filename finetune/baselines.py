"""What rules that understand nothing get right of a challenge, to set beside a curve."""

from finetune.sets import Sets
from probe.labels import matches
from probe.rules import RULES, judge


def baselines(sets: Sets) -> dict[str, float]:
    """Return the share of the challenge test set that each rule gets right.

    The majority label is that of the challenge training set, the one a model could pick up there.
    """
    others = {name: judge(name, sets.challenge_test).accuracy for name in RULES}
    return others | {"majority": _majority(sets)}


def _majority(sets: Sets) -> float:
    golds = [pair.gold for pair in sets.challenge_test if pair.gold]
    return sum(matches(sets.majority_label, gold) for gold in golds) / len(golds)
