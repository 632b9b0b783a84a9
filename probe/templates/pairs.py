"""All pairs of one template in a seeded order, addressed by number; none is stored."""

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache, cached_property
from math import comb, prod
from typing import Any

from probe.tasks.nli import Pair
from probe.tasks.task import Label, Task
from probe.templates.grammar import NUMBER_SLOTS, Case, Grammar, Template, flatten, slot_names
from probe.templates.request import Request
from probe.terms import capitalised


@dataclass(frozen=True)
class Slot:
    """A slot, the words it may hold and the earlier slots that are filled from the same list."""

    name: str
    words: tuple[str, ...]
    earlier: tuple[str, ...]


@dataclass(frozen=True)
class Combinations:
    """Every combination of words, each once; no list gives the same word to two slots."""

    words: Mapping[str, tuple[str, ...]]

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The slots in order."""
        names = list(self.words)
        return tuple(
            Slot(
                name,
                self.words[name],
                tuple(other for other in names[:number] if self.words[other] == self.words[name]),
            )
            for number, name in enumerate(names)
        )

    @cached_property
    def size(self) -> int:
        """The number of combinations."""
        return prod(len(slot.words) - len(slot.earlier) for slot in self.slots)

    def __getitem__(self, index: int) -> dict[str, str]:
        """Return one combination: the word of each slot."""
        fillers: dict[str, str] = {}
        for slot in self.slots:
            used = {fillers[name] for name in slot.earlier}
            free = [word for word in slot.words if word not in used] if used else slot.words
            index, choice = divmod(index, len(free))
            fillers[slot.name] = free[choice]
        return fillers


MAX_DRAWS = 20  # for a sentence and for each of its repetitions


def draw(request: Request, gap: str, rng: random.Random) -> dict[str, int]:
    """Draw three different numbers of the range, all triples equally likely, and sort them.

    With `integer_strict`, `gap` l or h leaves at least one whole number between it and n.
    """
    strict = request.integer_strict and gap
    low, n, high = sorted(rng.sample(range(request.low, request.high + (not strict)), 3))
    if strict:  # every triple with the gap is a triple of a range one shorter, pushed apart
        n, high = (n + 1, high + 1) if gap == "l" else (n, high + 1)
    return {"l": low, "n": n, "h": high}


def draw_new(
    request: Request, gap: str, used: Collection[str], repetition: int, rng: random.Random
) -> dict[str, int]:
    """Return the numbers of a sentence's occurrence with this number, counted from 0.

    `rng` must start in the same state for each occurrence: the earlier draws are repeated, and a
    draw whose `used` numbers came before is drawn anew. Once a sentence has occurred half as often
    as the range has numbers, or pairs of numbers, to offer it, numbers may be repeated.
    """
    seen: set[tuple[int, ...]] = set()
    numbers = draw(request, gap, rng)
    choices = comb(request.high - request.low - 2 + len(used), len(used))
    distinct_before = repetition if repetition < choices // 2 else 0
    for _ in range(MAX_DRAWS * (distinct_before + 1)):
        seen.add(tuple(numbers[name] for name in used))
        if len(seen) > distinct_before:
            break
        numbers = draw(request, gap, rng)
    return numbers


ROUNDS = 4
GOLDEN_RATIO_64 = 0x9E3779B97F4A7C15
"""The golden ratio in 64 bits; multiplied by it, neighbouring numbers lie far apart."""
MASK_64 = (1 << 64) - 1


@dataclass(frozen=True)
class Permutation:
    """A permutation of range(size): a Feistel network over the next even number of bits.

    An output outside the range is put through the network again (cycle walking), which ends
    inside the range because the network is a permutation itself; it takes two passes on average.
    """

    size: int
    seed: str

    @cached_property
    def _half_bits(self) -> int:
        return max(1, ((self.size - 1).bit_length() + 1) // 2)

    @cached_property
    def _keys(self) -> tuple[int, ...]:
        rng = random.Random(self.seed)
        return tuple(rng.getrandbits(64) for _ in range(ROUNDS))

    def __getitem__(self, index: int) -> int:
        """Return the image of an index. Raises IndexError outside range(size)."""
        if not 0 <= index < self.size:
            raise IndexError(index)
        for _ in range(1 << (2 * self._half_bits)):
            index = self._feistel(index)
            if index < self.size:
                break
        return index

    def _feistel(self, block: int) -> int:
        mask = (1 << self._half_bits) - 1
        left, right = block >> self._half_bits, block & mask
        for key in self._keys:
            mixed = ((right ^ key) * GOLDEN_RATIO_64) & MASK_64
            left, right = right, left ^ ((mixed ^ mixed >> 29) * GOLDEN_RATIO_64 >> 32 & mask)
        return left << self._half_bits | right


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
