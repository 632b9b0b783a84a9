"""Kinds of examples on which models are known to differ, as a table, and the accuracy on each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from probe.analysis.comparison import Row
from probe.analysis.statistics import McNemar, accuracy, mcnemar, of_group, parts_of
from probe.baselines import BASELINES
from probe.baselines.surface import words
from probe.metrics import Estimate
from probe.tasks.nli import ENTAILMENT, Pair
from probe.tasks.task import Example, Task

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

    `overlap` is the share of the target's different words that are in the source too, 1 for none
    or without a source; `length` counts the pieces between blanks of the target that hold a letter
    or digit. `heuristics` are those of HANS by which a pair would be entailed.
    """

    overlap: float
    negated: bool
    length: int
    heuristics: frozenset[str]


def any_task(task: Task) -> bool:
    """Whether a slice of one text's words fits a task: it fits all that answer with labels."""
    return bool(task.labels)


def two_texts(task: Task) -> bool:
    """Whether a slice of two texts' common words fits a task."""
    return bool(task.labels and task.source)


def inference(task: Task) -> bool:
    """Whether a slice of HANS fits a task."""
    return task.example is Pair


@dataclass(frozen=True)
class Slice:
    """A kind of examples: its group, its name, and which facts make an example one of them.

    `title` and the clause `where` say in plain words what the name says. All but the title may
    hold {target} and {source}, for what the task calls these fields. `main` marks the one of its
    group in which models are known to fail.
    """

    group: str
    name: str
    holds: Callable[[Facts], bool]
    fits: Callable[[Task], bool] = any_task
    title: str = ""
    where: str = ""
    main: bool = False


def _follows(heuristic: str) -> Callable[[Facts], bool]:
    return lambda facts: heuristic in facts.heuristics


OVERLAP, NEGATION, LENGTH = "lexical overlap", "negation in the {target}", "{target} length"
HANS = "HANS heuristic"
SLICES = (
    Slice(
        OVERLAP,
        "every {target} word in the {source}",
        lambda f: f.overlap == 1,
        two_texts,
        "Every word shared",
        "every word of the {target} is in the {source}",
        main=True,
    ),
    Slice(
        OVERLAP,
        "at least half of them",
        lambda f: 0.5 <= f.overlap < 1,
        two_texts,
        "Half of the words or more shared",
        "half of the words of the {target} or more are in the {source}",
    ),
    Slice(
        OVERLAP,
        "fewer than half",
        lambda f: f.overlap < 0.5,
        two_texts,
        "Fewer than half shared",
        "fewer than half of the words of the {target} are in the {source}",
    ),
    Slice(
        NEGATION,
        "a negation word",
        lambda f: f.negated,
        title="A negation word",
        where="the {target} has a negation word",
        main=True,
    ),
    Slice(
        NEGATION,
        "none",
        lambda f: not f.negated,
        title="No negation word",
        where="the {target} has no negation word",
    ),
    Slice(
        LENGTH,
        "up to 5 words",
        lambda f: f.length <= 5,
        title="Up to 5 words",
        where="the {target} has up to 5 words",
    ),
    Slice(
        LENGTH,
        "6 to 10 words",
        lambda f: 6 <= f.length <= 10,
        title="6 to 10 words",
        where="the {target} has 6 to 10 words",
    ),
    Slice(
        LENGTH,
        "more than 10 words",
        lambda f: f.length > 10,
        title="More than 10 words",
        where="the {target} has more than 10 words",
        main=True,
    ),
    *(
        Slice(
            HANS,
            name,
            _follows(name),
            inference,
            title,
            f"the heuristic {title.lower()} of HANS says entailment",
        )
        for name, title in (
            ("lexical_overlap", "Lexical overlap"),
            ("subsequence", "Subsequence"),
            ("constituent", "Constituent"),
        )
    ),
)


@lru_cache
def slices_of(task: Task) -> tuple[Slice, ...]:
    """Return the slices that fit a task, in its own words."""
    called = {"target": task.title_of(task.target).lower()}
    called["source"] = task.title_of(task.source).lower() if task.source else ""
    return tuple(
        replace(
            each,
            group=each.group.format(**called),
            name=each.name.format(**called),
            where=each.where.format(**called),
        )
        for each in SLICES
        if each.fits(task)
    )


@dataclass(frozen=True)
class Measured:
    """The models on the examples of a slice with one gold label (or all): n, accuracy, test.

    `place` is that of the slice in `slices_of` the task. `gold` is all or a part's; entailment and
    non-entailment are compared in two classes.
    `test` is McNemar's of the two models asked for.
    """

    slice: Slice
    place: int
    gold: str
    n: int
    accuracies: tuple[Estimate, ...]
    test: McNemar


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
    )


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
            tuple(accuracy(part, model) for model in models),
            mcnemar(part, first, second),
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
