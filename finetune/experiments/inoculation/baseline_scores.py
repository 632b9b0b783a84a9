"""What rules that understand nothing get right of a challenge, to set beside a curve."""

from collections.abc import Sequence

from finetune.experiments.inoculation.sets import Sets
from probe.baselines import BASELINES
from probe.tasks.nli import LABELS, NON_ENTAILMENT, Pair, matches
from probe.tasks.task import Label


def baselines(sets: Sets) -> dict[str, float]:
    """Return the share of the challenge test set that each rule gets right, as the curve counts.

    The majority label is that of the challenge training set, the one a model could pick up there.
    A rule that says only "non-entailment" means the label that then gets most of that set right:
    comparing two classes would put it above any model that tells three apart.
    """
    other = _right_most(sets.challenge_train, LABELS[1:])
    constant = _right_most(sets.challenge_train, LABELS)
    said: dict[str, Sequence[Label]] = {
        name: rule(sets.challenge_test) for name, rule in BASELINES.items()
    }
    said["majority"] = [constant] * len(sets.challenge_test)
    return {name: _share(labels, sets.challenge_test, other) for name, labels in said.items()}


def _right_most(pairs: Sequence[Pair], labels: Sequence[Label]) -> Label:
    """Return the label that gets most pairs right; of equals the first."""
    return max(labels, key=lambda label: sum(matches(label, p.gold) for p in pairs if p.gold))


def _share(said: Sequence[Label], pairs: Sequence[Pair], other: Label) -> float:
    meant = [other if label == NON_ENTAILMENT else label for label in said]
    hits = [matches(a, p.gold) for a, p in zip(meant, pairs, strict=True) if p.gold]
    return sum(hits) / len(hits)
