"""Kinds of pairs on which models are known to differ, as a table, and the accuracy on each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from probe.analysis.comparison import Row
from probe.analysis.statistics import McNemar, accuracy, mcnemar, of_group
from probe.baselines import BASELINES
from probe.baselines.surface import words
from probe.metrics import Estimate
from probe.tasks.nli import ENTAILMENT, Pair

NEGATION_WORDS = """
aint barely cannot cant didnt doesnt dont hardly isnt lack lacked lacking lacks n't neither never
no nobody none nope nor not nothing nowhere rarely scarcely seldom unable wasnt werent without wont
"""
NEGATIONS = frozenset(NEGATION_WORDS.split())
"""Lower-cased Penn tokens: "isn't" is the two tokens is and n't."""
RULED = ("lexical_overlap", "subsequence")
ALL = "all"
CONSTITUENT_NOTE = (
    "The heuristic “constituent” needs a parse, so it is counted only where a row says that it was "
    "made for it: pairs from the HANS templates."
)


@dataclass(frozen=True)
class Facts:
    """What the slices look at.

    `overlap` is the share of the hypothesis's different words that are in the premise too, 1 for
    none; `length` counts the pieces between blanks of the hypothesis that hold a letter or digit.
    `heuristics` are those of HANS by which the pair would be entailed.
    """

    overlap: float
    negated: bool
    length: int
    heuristics: frozenset[str]


@dataclass(frozen=True)
class Slice:
    """A kind of pairs: its group, its name, and which facts make a pair one of them."""

    group: str
    name: str
    holds: Callable[[Facts], bool]


SLICES = (
    Slice("lexical overlap", "every hypothesis word in the premise", lambda f: f.overlap == 1),
    Slice("lexical overlap", "at least half of them", lambda f: 0.5 <= f.overlap < 1),
    Slice("lexical overlap", "fewer than half", lambda f: f.overlap < 0.5),
    Slice("negation in the hypothesis", "a negation word", lambda f: f.negated),
    Slice("negation in the hypothesis", "none", lambda f: not f.negated),
    Slice("hypothesis length", "up to 5 words", lambda f: f.length <= 5),
    Slice("hypothesis length", "6 to 10 words", lambda f: 6 <= f.length <= 10),
    Slice("hypothesis length", "more than 10 words", lambda f: f.length > 10),
    Slice("HANS heuristic", "lexical_overlap", lambda f: "lexical_overlap" in f.heuristics),
    Slice("HANS heuristic", "subsequence", lambda f: "subsequence" in f.heuristics),
    Slice("HANS heuristic", "constituent", lambda f: "constituent" in f.heuristics),
)


@dataclass(frozen=True)
class Measured:
    """The models on the pairs of a slice with one gold label (or all): n, accuracy, test.

    `gold` is all, entailment or non-entailment; the latter two are compared in two classes.
    `test` is McNemar's of the two models asked for.
    """

    slice: Slice
    gold: str
    n: int
    accuracies: tuple[Estimate, ...]
    test: McNemar


@lru_cache(maxsize=20_000)  # a page asks again for the same pairs
def facts_of(pair: Pair) -> Facts:
    """Return the facts of a pair."""
    hypothesis = set(words(pair.hypothesis))
    shared = hypothesis & set(words(pair.premise))
    whole = shared == hypothesis  # without which neither rule holds
    satisfied = {name for name in RULED if whole and BASELINES[name]([pair]) == [ENTAILMENT]}
    named = {getattr(pair, "heuristic", "")} - {""}  # a pair from a template names its own
    return Facts(
        len(shared) / len(hypothesis) if hypothesis else 1.0,
        not NEGATIONS.isdisjoint(hypothesis),
        sum(any(map(str.isalnum, piece)) for piece in pair.hypothesis.split()),
        frozenset(satisfied | named),
    )


def sliced(rows: Sequence[Row]) -> dict[Slice, list[Row]]:
    """Return the answered rows with a gold label by slice; slices without any are left out.

    Only NLI pairs have slices.
    """
    golden = [row for row in rows if row.predictions and row.gold and isinstance(row.example, Pair)]
    facts = [facts_of(row.example) for row in golden]
    groups = {
        each: [row for row, fact in zip(golden, facts, strict=True) if each.holds(fact)]
        for each in SLICES
    }
    return {each: group for each, group in groups.items() if group}


def measure(rows: Sequence[Row], first: int = 0, second: int = 1) -> list[Measured]:
    """Measure every model on every slice, over all gold labels, entailed pairs and the others.

    `first` and `second` are the models tested against each other. The p values are those of
    single tests: of twenty slices one differs by chance.
    """
    return [
        one for each, group in sliced(rows).items() for one in _lines(each, group, first, second)
    ]


def _lines(each: Slice, rows: Sequence[Row], first: int, second: int) -> list[Measured]:
    groups = rows[0].task.groups.values()
    parts = {gold: of_gold(rows, gold) for gold in (ALL, *(group.gold for group in groups))}
    models = range(len(rows[0].predictions))
    return [
        Measured(
            each,
            gold,
            len(part),
            tuple(accuracy(part, model) for model in models),
            mcnemar(part, first, second),
        )
        for gold, part in parts.items()
        if part
    ]


def of_gold(rows: Sequence[Row], gold: str) -> list[Row]:
    """Return all rows, or those of the group with this gold label, which then is theirs."""
    if gold == ALL:
        return list(rows)
    groups = rows[0].task.groups.values() if rows else ()
    return [row for group in groups if group.gold == gold for row in of_group(rows, group)]


def members(rows: Sequence[Row], place: int, gold: str) -> list[Row]:
    """Return the rows of a slice by its place in `SLICES`, all or of one group."""
    group = sliced(rows).get(SLICES[place], [])
    kept = {row.number for row in of_gold(group, gold)}
    return [row for row in group if row.number in kept]
