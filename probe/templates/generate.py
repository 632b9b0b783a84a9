"""Pairs from templates, generated lazily for all three kinds."""

import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import cache
from itertools import chain, islice
from itertools import count as count_up
from math import comb, prod
from typing import Any

from probe.errors import TemplateError
from probe.stopping import check_stop
from probe.tasks.nli import Pair
from probe.tasks.task import Label, Task
from probe.templates.grammar import (
    NUMBER_SLOTS,
    Case,
    Template,
    flatten,
    grammar,
    kinds,
    slot_names,
)
from probe.terms import capitalised

COMPLEXITIES = ("simple", "medium", "complex")
LEXICAL = ("A", "B", "B2")
HEURISTICS = ("lexical_overlap", "subsequence", "constituent")
RANGES = ("2-999", "30-49", "60-79", "100-199", "200-299", "400-499", "1000-9999")
"""The number ranges of Rozen et al. 2019, both ends included; any other may be given."""


@dataclass(frozen=True)
class Request:
    """Which pairs to generate; an empty field stands for all of them.

    `lexical` chooses the group of words (Rozen et al. 2019, section 5): A or B, which share no
    word of any argument, or B2, which is B with the sister verb of the template (dative only).
    Empty mixes the words of both groups freely. `templates` are ids of `template_ids`.

    `low` and `high` are the smallest and the largest number drawn. `integer_strict` keeps
    "more than 6" from being followed by "less than 7", which the paper labels neutral although
    no whole number is both.

    `balance` keeps, for each premise, one of the two entailments and the contradiction (dative)
    or four hypotheses of each label (numerical), and gives every template, and so every sub-case
    and both labels of HANS, equally many pairs. Without it every premise has all its hypotheses.
    """

    kind: str
    complexity: str = ""
    lexical: str = ""
    templates: tuple[str, ...] = ()
    low: int = 2
    high: int = 999
    integer_strict: bool = False
    heuristic: str = ""
    subcase: str = ""
    balance: bool = True


def read_range(text: str) -> tuple[int, int]:
    """Read LO-HI. Raises TemplateError."""
    match = re.fullmatch(r"\s*(\d{1,9})\s*-\s*(\d{1,9})\s*", text)
    if match is None:
        raise TemplateError(f"the range {text!r} is not of the form LO-HI, such as 30-49")
    return int(match[1]), int(match[2])


CHOICES = {"complexity": COMPLEXITIES, "lexical": LEXICAL, "heuristic": HEURISTICS}


def check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    """Raise TemplateError for a value that is none of the choices; the empty one is not named."""
    known = [choice for choice in choices if choice]
    if value not in known and not (value == "" and name in CHOICES):
        raise TemplateError(f"{name} {value!r} is not one of {', '.join(known)}")


def template_ids(kind: str, complexity: str = "") -> list[str]:
    """Return the ids of a kind's templates, all or of one complexity. Raises TemplateError."""
    check_choice("kind", kind, kinds())
    check_choice("complexity", complexity, COMPLEXITIES)
    return [each.id for each in grammar(kind).templates if complexity in ("", each.complexity)]


def subcases(heuristic: str = "") -> list[str]:
    """Return the sub-cases of HANS, all or of one heuristic."""
    return [case.name for case in grammar("hans").cases if heuristic in ("", case.heuristic)]


def select(request: Request) -> list[Template]:
    """Return the templates that match a request.

    Raises TemplateError where none does, for a value that no kind has and for a field that the kind
    does not read.
    """
    check_choice("kind", request.kind, kinds())
    known, low, high = grammar(request.kind), request.low, request.high
    for each in fields(request):
        read = known.reads | {"kind", "templates", "balance"}
        if each.name not in read and getattr(request, each.name) != each.default:
            name = "range" if each.name in ("low", "high") else each.name
            raise TemplateError(f"{name} means nothing for {request.kind} templates")
    for name, choices in CHOICES.items():
        check_choice(name, getattr(request, name), choices)
    if request.lexical == "B2" and request.kind != "dative":
        raise TemplateError("lexical 'B2' is for dative templates: others have no sister verbs")
    fewest = 4 if request.integer_strict else 3  # l < n < h, and a number between two of them
    if low < 2:
        raise TemplateError(f"numbers start at 2, not {low}: the sentences are plural")
    if high < low:
        raise TemplateError(f"the range {low}-{high} must begin with the smaller number")
    if high - low + 1 < fewest:
        raise TemplateError(f"the range {low}-{high} needs at least {fewest} whole numbers")
    if request.subcase:
        check_choice("subcase", request.subcase, subcases())
    for name in request.templates:
        check_choice("template", name, template_ids(request.kind))
    templates = [
        template
        for template in known.templates
        if request.complexity in ("", template.complexity)
        and request.subcase in ("", template.subcase)
        and (not request.templates or template.id in request.templates)
        and (not request.heuristic or template.subcase in subcases(request.heuristic))
    ]
    if not templates:
        raise TemplateError(f"no {request.kind} template fits all that was asked for")
    return templates


def split_by_template(
    kind: str, share: float = 0.77, seed: int = 0
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the templates into ids to train on, about `share` of them, and ids to test on.

    Both sides get some templates of every complexity, or of every sub-case for HANS (section 4 of
    the paper). Raises TemplateError unless 0 < share < 1.
    """
    check_choice("kind", kind, kinds())
    if not 0 < share < 1:
        raise TemplateError(f"the share {share} is not between 0 and 1")
    train, test, templates = list[str](), list[str](), grammar(kind).templates
    for stratum in sorted({each.complexity or each.subcase for each in templates}):
        ids = [each.id for each in templates if (each.complexity or each.subcase) == stratum]
        random.Random(f"{seed}|{kind}|{stratum}").shuffle(ids)
        cut = min(max(1, round(share * len(ids))), len(ids) - 1)
        train += ids[:cut]
        test += ids[cut:]
    return tuple(train), tuple(test)


Words = Mapping[str, tuple[str, ...]]
"""The words of each slot; slots with the same ones never get the same word."""


def combinations(words: Words) -> int:
    """Return the number of combinations of words."""
    lists = list(words.values())
    return prod(len(each) - lists[:number].count(each) for number, each in enumerate(lists))


def combination(words: Words, index: int) -> dict[str, str]:
    """Return one combination, each of which has its own index: the word of each slot."""
    fillers: dict[str, str] = {}
    for name, choices in words.items():
        used = {word for slot, word in fillers.items() if words[slot] == choices}
        free = [word for word in choices if word not in used] if used else choices
        index, choice = divmod(index, len(free))
        fillers[name] = free[choice]
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


def permutation(size: int, seed: str) -> Callable[[int], int]:
    """Return a permutation of range(size): a Feistel network over the next even number of bits.

    An output outside the range is put through the network again (cycle walking), which ends
    inside the range because the network is a permutation itself; it takes two passes on average.
    """
    half, rng = max(1, ((size - 1).bit_length() + 1) // 2), random.Random(seed)
    mask, keys = (1 << half) - 1, [rng.getrandbits(64) for _ in range(ROUNDS)]

    def image(index: int) -> int:
        for _ in range(1 << (2 * half)):
            left, right = index >> half, index & mask
            for key in keys:
                mixed = ((right ^ key) * GOLDEN_RATIO_64) & MASK_64
                left, right = right, left ^ ((mixed ^ mixed >> 29) * GOLDEN_RATIO_64 >> 32 & mask)
            index = left << half | right
            if index < size:
                break
        return index

    return image


LEXICAL_GROUPS = {"": slice(2), "A": slice(1), "B": slice(1, 2), "B2": slice(1, 2)}
"""The groups of words that each `Request.lexical` draws from."""
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
    added = [(name, str, field(default="")) for name in TemplatePair.__annotations__]
    name = f"Template{task.example.__name__}"
    return make_dataclass(name, added, bases=(task.example,), frozen=True)


class TemplatePairs:
    """The pairs of a template; `size` of them differ in more than their numbers."""

    def __init__(self, template: Template, request: Request, seed: int) -> None:
        self.grammar, self.template, self.request = grammar(request.kind), template, request
        self.seed = f"{seed}|{template.id}"
        self.words = {
            slot: tuple(word for group in groups[LEXICAL_GROUPS[request.lexical]] for word in group)
            for slot, groups in template.arguments.items()
        }
        self.cases: dict[Label, list[Case]] = {}
        for case in self.grammar.cases:
            if template.subcase not in ("", case.name):
                continue  # it is of another sub-case
            texts = {**template.texts, **case.texts, **LEXICAL_TEXTS.get(request.lexical, {})}
            whole = {name: flatten(texts[name], texts) for name in self.grammar.task.fields}
            slots = slot_names("".join(whole.values()))
            numbers = tuple(name for name in slots if name in NUMBER_SLOTS)
            self.cases.setdefault(case.label, []).append(
                replace(case, texts=whole, numbers=numbers)
            )
        keep = self.grammar.keep if request.balance else {}
        # the number of cases of each label that a premise keeps
        self.quotas = {label: keep.get(label, len(cases)) for label, cases in self.cases.items()}
        self.a_premise = sum(self.quotas.values())
        self.size = combinations(self.words) * self.a_premise
        self.order = permutation(self.size, self.seed)

    def __getitem__(self, number: int) -> Any:  # Any: as of `template_example`
        """Return a pair; from number `size` on the same pairs are repeated with other numbers."""
        repetition, index = divmod(number, self.size)
        premise, at = divmod(self.order(index), self.a_premise)
        rng = random.Random(f"{self.seed}|{premise}")  # the same cases of a premise at every call
        kept = [rng.sample(cases, self.quotas[label]) for label, cases in self.cases.items()]
        case = [*chain.from_iterable(kept)][at]
        fillers: dict[str, str | int] = dict(combination(self.words, premise))
        if case.numbers:
            rng = random.Random(f"{self.seed}|{premise}|{case.name}")
            fillers |= draw_new(self.request, case.gap, case.numbers, repetition, rng)
        return template_example(self.grammar.task)(
            **{name: capitalised(text.format_map(fillers)) for name, text in case.texts.items()},
            gold=case.label,
            id=f"{self.template.id}-{number}",
            kind=self.grammar.kind,
            template=self.template.id,
            complexity=self.template.complexity,
            heuristic=case.heuristic,
            subcase=self.template.subcase,
            lexical=self.request.lexical,
        )


def generate(request: Request, n: int, seed: int = 0) -> Iterator[Any]:  # Any: the task's own
    """Yield n pairs, each computed when it is asked for; memory does not grow with n.

    Every round takes one pair from each template, the templates in a new order. The same request
    and seed always give the same pairs, so the first k of a larger n are those of n = k. With the
    same seed B2 gives the pairs of B with the other verb, and another range of the same width the
    same pairs with all numbers shifted, as in the released files.

    Dative and HANS templates give `count(request)` pairs, none twice. Numerical templates never
    end: once all words and hypotheses of a template were used they come again, with numbers that
    they did not have before as long as the range has twice as many numbers as they were repeated.
    Raises TemplateError at once where n is too large.
    """
    available = count(request)
    if n < 0:
        raise TemplateError(f"n is {n}; ask for 0 pairs or more")
    if available is not None and n > available:
        raise TemplateError(
            f"{n:,} pairs were asked for, but what was asked for has {available:,} different ones"
        )
    return islice(_rounds(request, seed), n)


def count(request: Request) -> int | None:
    """Return how many different pairs there are, None for no end. Raises TemplateError."""
    sizes = [TemplatePairs(each, request, 0).size for each in select(request)]
    if request.kind == "numerical":
        return None
    return len(sizes) * min(sizes) if request.balance else sum(sizes)


def _rounds(request: Request, seed: int) -> Iterator[Any]:  # Any: the task's own
    """Yield one pair of each template in turn; without balance, as long as it has any."""
    every = [TemplatePairs(each, request, seed) for each in select(request)]
    rng = random.Random(f"{seed}|rounds")
    for number in count_up():
        check_stop()
        remaining = [each for each in every if request.kind == "numerical" or number < each.size]
        if not remaining:
            return
        for pairs in rng.sample(remaining, len(remaining)):
            yield pairs[number]
