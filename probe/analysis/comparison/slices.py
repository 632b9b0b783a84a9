"""Which examples are in which slice, and how good each model is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from probe.analysis.comparison import question_kinds as asked
from probe.analysis.comparison.rows import Row
from probe.analysis.comparison.slice_table import Facts, Slice, slices_of
from probe.analysis.comparison.statistics import (
    McNemar,
    Test,
    of_group,
    parts_of,
    score,
    significance,
)
from probe.baselines import BASELINES
from probe.baselines.surface import words
from probe.metrics import Estimate
from probe.tasks.nli import ENTAILMENT, Pair
from probe.tasks.reading import Question
from probe.tasks.task import Example, Task

NEGATION_WORDS = """
aint barely cannot cant didnt doesnt dont hardly isnt lack lacked lacking lacks n't neither never
no nobody none nope nor not nothing nowhere rarely scarcely seldom unable wasnt werent without wont
"""
NEGATIONS = frozenset(NEGATION_WORDS.split())
"""Lower-cased Penn tokens: "isn't" is the two tokens is and n't."""
RULED = ("lexical_overlap", "subsequence")
ALL = "all"


@dataclass(frozen=True)
class Measured:
    """The models on the examples of a slice with one gold label (or all): n, scores, test.

    `place` is that of the slice in `slices_of` the task. `gold` is all or a part's; entailment and
    non-entailment are compared in two classes.
    `scores` are accuracies, or F1 where answers are spans; `test` is that of the two models asked
    for.
    """

    slice: Slice
    place: int
    gold: str
    n: int
    scores: tuple[Estimate, ...]
    test: Test

    @property
    def has_labels(self) -> bool:
        """Whether the examples have gold labels, so that the slice has parts."""
        return isinstance(self.test, McNemar)


@lru_cache(maxsize=20_000)  # a page asks again for the same examples
def facts_of(task: Task, example: Example) -> Facts:
    """Return the facts of an example."""
    texts = task.texts(example)
    text = texts[task.target]
    target = set(words(text))
    shared = target & set(words(texts[task.source])) if task.source else target
    return Facts(
        len(shared) / len(target) if target else 1.0,
        not NEGATIONS.isdisjoint(target),
        sum(any(map(str.isalnum, piece)) for piece in text.split()),
        _heuristics(example) if isinstance(example, Pair) and shared == target else _named(example),
        *_kinds(example),
    )


def _kinds(example: Example) -> tuple[str, str]:
    """Return the word with which a question asks and the type of its answer, where it is one."""
    if not isinstance(example, Question):
        return "", ""
    known = bool(example.references) and not asked.missing()
    kind = asked.answer_type(example.question, example.references) if known else ""
    return asked.question_word(example.question), kind


def _heuristics(pair: Pair) -> frozenset[str]:
    """Return the heuristics that hold of a pair whose hypothesis's words are in its premise."""
    return _named(pair) | {name for name in RULED if BASELINES[name]([pair]) == [ENTAILMENT]}


def _named(example: Example) -> frozenset[str]:
    """Return the heuristic that a pair from a template names as its own."""
    return frozenset({getattr(example, "heuristic", "")} - {""})


def sliced(rows: Sequence[Row]) -> dict[Slice, list[Row]]:
    """Return the answered rows with a gold label by slice; slices without any are left out."""
    golden = [row for row in rows if row.predictions and row.gold]
    if not golden:
        return {}
    facts = [facts_of(row.task, row.example) for row in golden]
    groups = {
        each: [row for row, fact in zip(golden, facts, strict=True) if each.holds(fact)]
        for each in slices_of(golden[0].task)
    }
    return {each: group for each, group in groups.items() if group}


def measure(rows: Sequence[Row], first: int = 0, second: int = 1) -> list[Measured]:
    """Measure every model on every slice, over all gold labels and over each part of them.

    `first` and `second` are the models tested against each other. The p values are those of
    single tests: of twenty slices one differs by chance.
    """
    return [
        one for each, group in sliced(rows).items() for one in _lines(each, group, first, second)
    ]


def _lines(each: Slice, rows: Sequence[Row], first: int, second: int) -> list[Measured]:
    groups = parts_of(rows[0].task).values()
    parts = {gold: of_gold(rows, gold) for gold in (ALL, *(group.gold for group in groups))}
    models = range(len(rows[0].predictions))
    return [
        Measured(
            each,
            slices_of(rows[0].task).index(each),
            gold,
            len(part),
            tuple(score(part, model) for model in models),
            significance(part, first, second),
        )
        for gold, part in parts.items()
        if part
    ]


def of_gold(rows: Sequence[Row], gold: str) -> list[Row]:
    """Return all rows, or those of the part with this gold label, which then is theirs."""
    if gold == ALL:
        return list(rows)
    groups = parts_of(rows[0].task).values() if rows else ()
    return [row for group in groups if group.gold == gold for row in of_group(rows, group)]


def members(rows: Sequence[Row], place: int, gold: str) -> list[Row]:
    """Return the rows of a slice by its place in `slices_of` their task, all or of one part."""
    task = next((row.task for row in rows), None)
    known = slices_of(task) if task else ()
    group = sliced(rows).get(known[place], []) if place < len(known) else []
    kept = {row.number for row in of_gold(group, gold)}
    return [row for row in group if row.number in kept]
