"""The three labels, what a transform does to the gold label, and how models spell their labels."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from probe.errors import LabelError

Label = Literal["entailment", "neutral", "contradiction"]
Gold = Literal["entailment", "neutral", "contradiction", "non-entailment"]

ENTAILMENT: Label = "entailment"
NEUTRAL: Label = "neutral"
CONTRADICTION: Label = "contradiction"
NON_ENTAILMENT: Gold = "non-entailment"
LABELS: tuple[Label, ...] = (ENTAILMENT, NEUTRAL, CONTRADICTION)
"""Our label order; every array of probabilities has its last axis in this order."""
TWO_WAY: tuple[Gold, ...] = (ENTAILMENT, NON_ENTAILMENT)
"""The order for a model of two outputs, in which neutral and contradiction are one."""
WAYS: Mapping[int, tuple[Gold, ...]] = {len(ways): ways for ways in (LABELS, TWO_WAY)}
"""The labels of a model by the number of its outputs."""


@dataclass(frozen=True)
class Rule:
    """What happens to the gold label: a table, a name for files and the words a person reads.

    `unknown` is the new label of a pair whose own is not known.
    """

    name: str
    words: str
    table: Mapping[Gold, Gold]
    unknown: Gold | None = None

    def __call__(self, gold: Gold | None) -> Gold | None:
        """Return the new gold label, None where it is undefined or not known."""
        return self.table.get(gold) if gold else self.unknown


KEEP = Rule("keep", "the gold label stays", {label: label for label in (*LABELS, NON_ENTAILMENT)})
FLIP = Rule(
    "flip",
    "entailment becomes non-entailment, contradiction becomes entailment, neutral stays",
    {ENTAILMENT: NON_ENTAILMENT, NEUTRAL: NEUTRAL, CONTRADICTION: ENTAILMENT},
)
NOT_ENTAILED = Rule(
    "non_entailment",
    "the new pair is not entailed",
    {label: NON_ENTAILMENT for label in (*LABELS, NON_ENTAILMENT)},
    unknown=NON_ENTAILMENT,
)
UNDEFINED = Rule("undefined", "the text is destroyed: no gold label is defined", {})
COMPUTED = Rule("computed", "the gold label is computed with the new text", {})
LABEL_RULES = {rule.name: rule for rule in (KEEP, FLIP, NOT_ENTAILED, UNDEFINED, COMPUTED)}


def compose(rules: Sequence[Rule]) -> Rule:
    """Return the rule of a chain; undefined wins over everything (Gupta et al. 2021, section 3)."""
    if len(rules) == 1:
        return rules[0]
    if UNDEFINED in rules:
        return UNDEFINED
    if COMPUTED in rules:
        return COMPUTED
    if all(rule is KEEP for rule in rules):
        return KEEP
    table = {start: gold for start in (*LABELS, NON_ENTAILMENT) if (gold := _in_turn(rules, start))}
    words = "; then ".join(rule.words for rule in rules)
    return Rule("+".join(rule.name for rule in rules), words, table, _in_turn(rules, None))


def _in_turn(rules: Sequence[Rule], gold: Gold | None) -> Gold | None:
    for rule in rules:
        gold = rule(gold)
    return gold


def matches(predicted: Gold, gold: Gold) -> bool:
    """Whether a prediction is right; non-entailment on either side compares two classes."""
    if NON_ENTAILMENT in (predicted, gold):
        return (predicted == ENTAILMENT) == (gold == ENTAILMENT)
    return predicted == gold


_SPELLINGS: dict[str, Gold] = {
    "entailment": ENTAILMENT,
    "entail": ENTAILMENT,
    "entails": ENTAILMENT,
    "entailed": ENTAILMENT,
    "e": ENTAILMENT,
    "yes": ENTAILMENT,
    "neutral": NEUTRAL,
    "n": NEUTRAL,
    "maybe": NEUTRAL,
    "unknown": NEUTRAL,
    "contradiction": CONTRADICTION,
    "contradict": CONTRADICTION,
    "contradicts": CONTRADICTION,
    "contradictory": CONTRADICTION,
    "c": CONTRADICTION,
    "no": CONTRADICTION,
    **{
        f"{no}{hyphen}{word}": NON_ENTAILMENT
        for no in ("non", "not", "no")
        for hyphen in ("-", "")
        for word in ("entailment", "entailed", "entail")
    },
    "0": ENTAILMENT,
    "1": NEUTRAL,
    "2": CONTRADICTION,
}
NO_GOLD = frozenset({"", "hidden", "nan", "none", "null", "?"})
DISPUTED = frozenset({"-", "-1"})
"""How the released data mark a pair on which the annotators did not agree."""


def read_gold(text: object) -> Gold | None:
    """Read a gold label as people and data sets spell it; 0, 1, 2 in the order of the hub's MNLI.

    Returns None for an empty cell. Raises LabelError for a disputed or unknown label.
    """
    word = re.sub(r"\.0$", "", _word(text))
    if word in NO_GOLD:
        return None
    if word in DISPUTED:
        raise LabelError(f"no gold label: the annotators did not agree ({text!r})")
    if word not in _SPELLINGS:
        raise LabelError(f"unknown gold label {text!r}; use entailment, neutral or contradiction")
    return _SPELLINGS[word]


_OF_TWO: dict[str, Gold] = {"no": NON_ENTAILMENT, "false": NON_ENTAILMENT, "true": ENTAILMENT}
"""What these say where there is nothing between yes and no."""


def label_order(id2label: Mapping[int, str]) -> tuple[Gold, ...]:
    """Read a model's own label order from `config.id2label`: three labels, or two.

    Raises LabelError when the names do not say which output is which.
    """
    names = [str(id2label[index]) for index in sorted(id2label)]
    try:
        return read_order(names)
    except LabelError as problem:
        raise LabelError(
            f"the model's outputs are named {', '.join(names)}, not the three labels"
        ) from problem


def read_order(names: Sequence[str]) -> tuple[Gold, ...]:
    """Read the labels of a model's outputs, in their order, as people and hubs spell them.

    Raises LabelError unless each of the three labels, or of the two, is there once.
    """
    words = [_word(name) for name in names]
    table = _SPELLINGS | (_OF_TWO if len(words) == len(TWO_WAY) else {})
    order = tuple(label for word in words if not word.isdigit() and (label := table.get(word)))
    if len(order) != len(words) or sorted(order) not in map(sorted, WAYS.values()):
        raise LabelError(
            f"{', '.join(names)!r} is no order of labels: each of {', '.join(LABELS)} once, "
            f"or {' and '.join(TWO_WAY)}"
        )
    return order


def as_label(gold: Gold | None) -> Label | None:
    """Return a gold label as one of the three labels, None where it is none of them."""
    return next((label for label in LABELS if label == gold), None)


def _word(text: object) -> str:
    return re.sub(r"[\s_]+", "-", str("" if text is None else text).strip().lower())
