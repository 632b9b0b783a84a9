"""Pairs whose baseline labels are known, and a baseline's label of one pair."""

from probe.baselines import BASELINES
from probe.tasks.nli import Pair
from probe.tasks.task import Label

E, N, C, X = "entailment", "neutral", "contradiction", "non-entailment"


def label_of(name: str, premise: str, hypothesis: str) -> Label:
    """Return a baseline's label of one pair."""
    (label,) = BASELINES[name]([Pair(premise, hypothesis)])
    return label


def separable_pairs() -> list[Pair]:
    """Return pairs whose label depends on one word of the hypothesis."""
    marks: dict[str, Label] = {"some": E, "tall": N, "nobody": C}
    return [
        Pair(f"p{n}", f"{word} {filler} sat.", label)  # each filler with each label
        for n in range(8)
        for filler in ("men", "cats")
        for word, label in marks.items()
    ]


def numerical_pairs() -> list[Pair]:
    """Return three pairs that the numerical rules label right, one wrong, one without a label."""
    return [
        Pair("Tim has 3.", "Tim has 4.", C),
        Pair("Tim has more than 3.", "Tim has 4.", N),
        Pair("Tim has 3.", "Tim has less than 4.", E),
        Pair("Tim has 3.", "Tim has more than 3.", C),
        Pair("Tim has 3.", "Tim has 3."),
    ]
