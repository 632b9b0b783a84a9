"""All pairs of one template in a seeded order, addressed by number; none is stored."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache, cached_property
from typing import Any

from probe.tasks.nli import Pair
from probe.tasks.task import Label, Task
from probe.templates.combinations import Combinations
from probe.templates.grammar import NUMBER_SLOTS, Case, Grammar, Template, flatten, slot_names
from probe.templates.numbers import draw_new
from probe.templates.permutation import Permutation
from probe.templates.request import Request
from probe.terms import capitalised

LEXICAL_GROUPS = {"": (0, 1), "A": (0,), "B": (1,), "B2": (1,)}
"""The numbers of the groups of words that each `Request.lexical` draws from."""
LEXICAL_TEXTS = {"B2": {"verb": "{sister}"}}
"""The texts that a choice of words changes: Lex2b is Lex2 with another dative verb."""


@dataclass(frozen=True)
class TemplatePair(Pair):
    """A pair from a template; `gold` is its label. Fields that a kind does not have are empty.

    `lexical` is the requested group, empty where the words of both may be mixed.
    """

    kind: str = ""
    template: str = ""
    complexity: str = ""
    heuristic: str = ""
    subcase: str = ""
    lexical: str = ""


@cache
def template_example(task: Task) -> Any:  # Any: a dataclass with the task's own for its base
    """Return what the examples of a task's templates are: its own, with the fields added above."""
    if task.example is Pair:
        return TemplatePair
    own = {each.name for each in fields(Pair)}
    added = [
        (each.name, str, field(default="")) for each in fields(TemplatePair) if each.name not in own
    ]
    name = f"Template{task.example.__name__}"
    return make_dataclass(name, added, bases=(task.example,), frozen=True)


@dataclass(frozen=True)
class FilledCase:
    """A case of a template whose only empty slots are those of arguments and numbers.

    `texts` are by the task's fields. `numbers` are the names of its number slots.
    """

    case: Case
    texts: Mapping[str, str]
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
        """The number of pairs that differ in more than their numbers."""
        return self._arguments.size * self._cases_per_premise

    def __getitem__(self, number: int) -> Any:  # Any: as of `template_example`
        """Return a pair; from number `size` on the same pairs are repeated with other numbers."""
        repetition, index = divmod(number, self.size)
        premise, case_index = divmod(self._order[index], self._cases_per_premise)
        filled = self._filled_cases(premise)[case_index]
        fillers: dict[str, str | int] = dict(self._arguments[premise])
        if filled.numbers:
            rng = random.Random(f"{self._seed_text}|{premise}|{filled.case.name}")
            fillers |= draw_new(self.request, filled.case.gap, filled.numbers, repetition, rng)
        return template_example(self.grammar.task)(
            **{name: capitalised(text.format_map(fillers)) for name, text in filled.texts.items()},
            gold=filled.case.label,
            id=f"{self.template.id}-{number}",
            kind=self.grammar.kind,
            template=self.template.id,
            complexity=self.template.complexity,
            heuristic=filled.case.heuristic,
            subcase=self.template.subcase,
            lexical=self.request.lexical,
        )

    @cached_property
    def _seed_text(self) -> str:
        return f"{self.seed}|{self.template.id}"

    @cached_property
    def _order(self) -> Permutation:
        return Permutation(self.size, self._seed_text)

    @cached_property
    def _arguments(self) -> Combinations:
        drawn_from = LEXICAL_GROUPS[self.request.lexical]
        return Combinations(
            {
                slot: tuple(
                    word
                    for number, group in enumerate(groups)
                    if number in drawn_from
                    for word in group
                )
                for slot, groups in self.template.arguments.items()
            }
        )

    @cached_property
    def _cases_by_label(self) -> dict[Label, list[FilledCase]]:
        by_label: dict[Label, list[FilledCase]] = {}
        for case in self.grammar.cases_of(self.template):
            texts = {
                **self.template.texts,
                **case.texts,
                **LEXICAL_TEXTS.get(self.request.lexical, {}),
            }
            whole = {name: flatten(texts[name], texts) for name in self.grammar.task.fields}
            slots = slot_names("".join(whole.values()))
            numbers = tuple(name for name in slots if name in NUMBER_SLOTS)
            by_label.setdefault(case.label, []).append(FilledCase(case, whole, numbers))
        return by_label

    @cached_property
    def _quotas(self) -> dict[Label, int]:
        """The number of cases of each label that a premise keeps."""
        keep = self.grammar.keep if self.request.balance else {}
        return {label: keep.get(label, len(cases)) for label, cases in self._cases_by_label.items()}

    @cached_property
    def _cases_per_premise(self) -> int:
        return sum(self._quotas.values())

    def _filled_cases(self, premise: int) -> list[FilledCase]:
        """Draw the cases that a premise keeps, the same ones at every call."""
        rng = random.Random(f"{self._seed_text}|{premise}")
        return [
            case
            for label, cases in self._cases_by_label.items()
            for case in rng.sample(cases, self._quotas[label])
        ]
