"""All pairs of one template in a seeded order, any of them at once, none of them stored."""

import random
from dataclasses import dataclass
from functools import cached_property

from probe.tasks.nli import Pair
from probe.tasks.task import Label
from probe.templates.combinations import Combinations
from probe.templates.grammar import NUMBERS, Case, Grammar, Template, flatten, places
from probe.templates.numbers import fresh
from probe.templates.permutation import Permutation
from probe.templates.request import Request

GROUPS = {"": (0, 1), "A": (0,), "B": (1,), "B2": (1,)}
SISTER = {"B2": {"verb": "{sister}"}}
"""The texts that a choice of words changes: Lex2b is Lex2 with another dative verb."""


@dataclass(frozen=True)
class TemplatePair(Pair):
    """A pair from a template; `gold` is its label. Fields that a kind has not are empty.

    `lexical` is the group that was asked for, empty where the words of both may be mixed.
    """

    kind: str = ""
    template: str = ""
    complexity: str = ""
    heuristic: str = ""
    subcase: str = ""
    lexical: str = ""


@dataclass(frozen=True)
class FilledCase:
    """A case of a template with nothing left to fill but words and numbers."""

    case: Case
    premise: str
    hypothesis: str
    numbers: tuple[str, ...]


@dataclass(frozen=True)
class TemplatePairs:
    """The pairs of a template; `size` of them differ in more than their numbers."""

    grammar: Grammar
    template: Template
    request: Request
    seed: int

    @cached_property
    def size(self) -> int:
        """How many pairs there are, numbers apart."""
        return self._arguments.size * self._kept

    def __getitem__(self, turn: int) -> TemplatePair:
        """Return the turn-th pair; from turn `size` on the same ones come with other numbers."""
        again, within = divmod(turn, self.size)
        premise, which = divmod(self._order[within], self._kept)
        side = self._sides(premise)[which]
        fill: dict[str, str | int] = dict(self._arguments[premise])
        if side.numbers:
            rng = random.Random(f"{self._name}|{premise}|{side.case.name}")
            fill |= fresh(self.request, side.case.gap, side.numbers, again, rng)
        return TemplatePair(
            _sentence(side.premise.format_map(fill)),
            _sentence(side.hypothesis.format_map(fill)),
            side.case.label,
            f"{self.template.id}-{turn}",
            self.grammar.kind,
            self.template.id,
            self.template.complexity,
            side.case.heuristic,
            self.template.subcase,
            self.request.lexical,
        )

    @cached_property
    def _name(self) -> str:
        return f"{self.seed}|{self.template.id}"

    @cached_property
    def _order(self) -> Permutation:
        return Permutation(self.size, self._name)

    @cached_property
    def _arguments(self) -> Combinations:
        wanted = GROUPS[self.request.lexical]
        return Combinations(
            {
                place: tuple(
                    word for at, group in enumerate(groups) if at in wanted for word in group
                )
                for place, groups in self.template.arguments.items()
            }
        )

    @cached_property
    def _by_label(self) -> dict[Label, list[FilledCase]]:
        found: dict[Label, list[FilledCase]] = {}
        for case in self.grammar.cases_of(self.template):
            texts = {**self.template.texts, **case.texts, **SISTER.get(self.request.lexical, {})}
            premise, hypothesis = (
                flatten(texts[name], texts) for name in ("premise", "hypothesis")
            )
            used = [name for name in places(premise + hypothesis) if name in NUMBERS]
            found.setdefault(case.label, []).append(
                FilledCase(case, premise, hypothesis, tuple(used))
            )
        return found

    @cached_property
    def _quota(self) -> dict[Label, int]:
        """How many cases of each label a premise keeps."""
        keep = self.grammar.keep if self.request.balance else {}
        return {label: keep.get(label, len(sides)) for label, sides in self._by_label.items()}

    @cached_property
    def _kept(self) -> int:
        return sum(self._quota.values())

    def _sides(self, premise: int) -> list[FilledCase]:
        """Draw the cases that a premise keeps, the same ones whenever it is asked."""
        rng = random.Random(f"{self._name}|{premise}")
        return [
            side
            for label, sides in self._by_label.items()
            for side in rng.sample(sides, self._quota[label])
        ]


def _sentence(text: str) -> str:
    """Start with a capital letter."""
    return text[:1].upper() + text[1:]
