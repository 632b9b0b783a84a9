"""What a transform does to the gold label, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from probe.tasks.task import Label, Task
from probe.terms import sentence


@dataclass(frozen=True)
class Rule:
    """What happens to the gold label: a table, a name for files, a title and words for a person.

    `unknown` is the new label of an example whose own is not known; with `keeps` a label that the
    table does not name stays.
    """

    name: str
    title: str
    words: str
    table: Mapping[Label, Label]
    unknown: Label | None = None
    keeps: bool = False

    @property
    def summary(self) -> str:
        """What happens to the gold label, as a sentence."""
        return sentence(self.words)

    def __call__(self, gold: Label | None) -> Label | None:
        """Return the new gold label, None where it is undefined or not known."""
        if gold is None:
            return self.unknown
        return self.table.get(gold, gold if self.keeps else None)

    def speaks_of(self, task: Task) -> bool:
        """Whether all labels of the table are labels of the task."""
        return {*self.table, *self.table.values()} <= {*task.labels, *task.golds}


KEEP = Rule("keep", "The label stays", "the gold label stays", {}, keeps=True)
UNDEFINED = Rule(
    "undefined", "No label is right", "the text is destroyed: no gold label is defined", {}
)
COMPUTED = Rule(
    "computed", "The label is computed", "the gold label is computed with the new text", {}
)


def compose(rules: Sequence[Rule]) -> Rule:
    """Return the rule of a chain; undefined wins over everything (Gupta et al. 2021)."""
    if len(rules) == 1:
        return rules[0]
    if UNDEFINED in rules:
        return UNDEFINED
    if COMPUTED in rules:
        return COMPUTED
    if all(rule is KEEP for rule in rules):
        return KEEP

    def in_turn(gold: Label | None) -> Label | None:
        return reduce(lambda label, rule: rule(label), rules, gold)

    starts = dict.fromkeys(start for rule in rules for start in rule.table)
    table = {start: gold for start in starts if (gold := in_turn(start))}
    name = "+".join(rule.name for rule in rules)
    title, words = ("; then ".join(getattr(r, part) for r in rules) for part in ("title", "words"))
    return Rule(name, title, words, table, in_turn(None))
