"""Which examples are in which slice, and how good each model is there."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from probe.addsent.fake_answers import kinds
from probe.analysis.comparison import Row, of_group, parts_of, score, significance
from probe.baselines import BASELINES, words
from probe.statistics import Estimate, PairedTest
from probe.tasks.nli import ENTAILMENT, Pair
from probe.tasks.reading import Question
from probe.tasks.task import Example, Task
from probe.text import tagger, wordnet
from probe.text.tagger import tag
from probe.text.words import tokenise

OTHER = "other"
ASKING = ("who", "when", "where", "what", "which", "why", "how")
QUESTION_WORDS: Mapping[str, str] = {word: word for word in ASKING} | {
    "whom": "who",
    "whose": "who",
}
"""What the words that ask count as."""
HOW_MANY = "how many/much"
NUMBER, PERSON, PLACE, NAME = "number or date", "person", "place", "organisation or other name"
ELSE = "anything else"
ANSWER_TYPES: Mapping[str, str] = {
    "number": NUMBER,
    "date": NUMBER,
    "person": PERSON,
    "location": PLACE,
    "organization": NAME,
    "misc": NAME,
}
UNKNOWN_NAMES: Mapping[str, str] = {"who": PERSON, "where": PLACE}
"""What a name of which nothing is known counts as, by the question's word."""
FINITE_TAGS = frozenset({"VBD", "VBZ", "VBP"})
"""Of verbs that make an answer a clause."""


def question_word(question: str) -> str:
    """Return the first word of a question that asks, "other" where none does."""
    words = re.findall("[a-z]+", question.lower())
    for word, following in pairwise([*words, ""]):
        if word == "how" and following in ("many", "much"):
            return HOW_MANY
        if word in QUESTION_WORDS:
            return QUESTION_WORDS[word]
    return OTHER


def answer_type(question: str, references: Sequence[str]) -> str:
    """Return what kind of thing the shortest reference answer is: of its first word with a kind.

    A name of which nothing is known is a person where the question asks who, a place where it asks
    where. A clause is "anything else". Raises MissingWordNet.
    """
    words = tokenise(min(references, key=len, default=""))
    tags = tag(words)
    if not FINITE_TAGS.isdisjoint(tags):
        return ELSE
    if kind := next(filter(None, kinds(words, tags)), None):
        return ANSWER_TYPES[kind]
    if any(each.startswith("NNP") for each in tags):
        return UNKNOWN_NAMES.get(question_word(question), NAME)
    return ELSE


def missing() -> str:
    """Return what `answer_type` lacks here and how to get it, "" for nothing."""
    return " ".join(filter(None, (wordnet.missing(), tagger.missing())))


CONSTITUENT_NOTE = (
    "The heuristic “constituent” needs a parse, so it is counted only where a row says that it was "
    "made for it: pairs from the HANS templates."
)
ANSWER_TYPE_NOTE = (
    "The type of an answer is that of the shortest right one, by the lists of names and the senses "
    "of WordNet that AddSent uses here in place of a recogniser of names. A name in neither "
    "counts as a person where the question asks who, and as a place where it asks where."
)


def inference(task: Task) -> bool:
    """Whether a slice of HANS fits a task."""
    return task.example is Pair


def questions(task: Task) -> bool:
    """Whether a slice of a question's words fits a task."""
    return task.example is Question


def note_on(task: Task) -> str:
    """Return how the slices of a task are to be taken, "" where there is nothing to say."""
    if inference(task):
        return CONSTITUENT_NOTE
    if not questions(task):
        return ""
    lacks = missing()
    return f"Slices by the type of the answer are left out. {lacks}" if lacks else ANSWER_TYPE_NOTE


@dataclass(frozen=True)
class Slice:
    """A kind of examples: its group, its name, and which tasks it fits.

    `title` and the clause `where` say in plain words what the name says. All but the title may
    hold {target} and {source}, for what the task calls these fields; `key` is the name with them.
    `main` marks those that are drawn: the one of its group in which models are known to fail, and
    every kind of question.
    """

    group: str
    key: str
    name: str
    title: str
    where: str
    fits: Callable[[Task], bool]
    main: bool


OVERLAP, NEGATION, LENGTH = "lexical overlap", "negation in the {target}", "{target} length"
HANS, QUESTION_WORD, ANSWER_TYPE = "HANS heuristic", "question word", "answer type"
SHARED, HALF, FEW = (
    "every {target} word in the {source}",
    "at least half of them",
    "fewer than half",
)
NEGATED, PLAIN = "a negation word", "none"
SHORT, MIDDLE, LONG = "up to 5 words", "6 to 10 words", "more than 10 words"
MAIN = {SHARED, NEGATED, LONG, QUESTION_WORD, ANSWER_TYPE}
"""The slices, and the groups of them, that are drawn."""
RULED = ("lexical_overlap", "subsequence")
Kinds = tuple[Callable[[Task], bool], Sequence[tuple[str, str, str]]]
GROUPS: Mapping[str, Kinds] = {
    OVERLAP: (
        lambda task: bool(task.labels and task.source),
        (
            (SHARED, "Every word shared", "every word of the {target} is in the {source}"),
            (
                HALF,
                "Half of the words or more shared",
                "half of the words of the {target} or more are in the {source}",
            ),
            (
                FEW,
                "Fewer than half shared",
                "fewer than half of the words of the {target} are in the {source}",
            ),
        ),
    ),
    NEGATION: (
        lambda task: bool(task.labels),
        (
            (NEGATED, "A negation word", "the {target} has a negation word"),
            (PLAIN, "No negation word", "the {target} has no negation word"),
        ),
    ),
    LENGTH: (
        lambda task: bool(task.labels),
        tuple(
            (name, name.capitalize(), f"the {{target}} has {name}")
            for name in (SHORT, MIDDLE, LONG)
        ),
    ),
    HANS: (
        inference,
        tuple(
            (name, words.capitalize(), f"the heuristic {words} of HANS says entailment")
            for name in (*RULED, "constituent")
            for words in [name.replace("_", " ")]
        ),
    ),
    QUESTION_WORD: (
        questions,
        (
            *((word, f"{word.capitalize()} …", f"the question asks {word}") for word in ASKING[:3]),
            (HOW_MANY, "How many, how much …", "the question asks how many or how much"),
            *((word, f"{word.capitalize()} …", f"the question asks {word}") for word in ASKING[3:]),
            (OTHER, "No such word", "the question has no question word"),
        ),
    ),
    ANSWER_TYPE: (
        lambda task: questions(task) and not missing(),
        (
            (NUMBER, "Answer: number or date", "the answer is a number or date"),
            (PERSON, "Answer: person", "the answer is a person"),
            (PLACE, "Answer: place", "the answer is a place"),
            (NAME, "Answer: other name", "the answer is an organisation or other name"),
            (ELSE, "Answer: anything else", "the answer is no number, date or name"),
        ),
    ),
}
"""Which tasks a group of slices fits, and the name, the title and the clause of each."""
SLICES = tuple(
    Slice(group, key, key, title, where, fits, not MAIN.isdisjoint({group, key}))
    for group, (fits, rows) in GROUPS.items()
    for key, title, where in rows
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


NEGATION_WORDS = """
aint barely cannot cant didnt doesnt dont hardly isnt lack lacked lacking lacks n't neither never
no nobody none nope nor not nothing nowhere rarely scarcely seldom unable wasnt werent without wont
"""
NEGATIONS = frozenset(NEGATION_WORDS.split())
"""Lower-cased Penn tokens: "isn't" is the two tokens is and n't."""
HEURISTICS = frozenset(key for key, *_ in GROUPS[HANS][1])
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
    test: PairedTest

    @property
    def has_labels(self) -> bool:
        """Whether the examples have gold labels, so that the slice has parts."""
        return self.test.name == "mcnemar"


def length(text: str) -> int:
    """Return how many pieces between blanks hold a letter or digit."""
    return sum(any(map(str.isalnum, piece)) for piece in text.split())


def overlap(target: Collection[str], source: Collection[str]) -> float:
    """Return the share of the target's different words that are in the source too, 1 for none."""
    different = set(target)
    return len(different.intersection(source)) / len(different) if different else 1.0


def is_negated(words: Collection[str]) -> bool:
    """Whether one of some words is a negation word."""
    return not NEGATIONS.isdisjoint(words)


def overlap_key(share: float) -> str:
    """Return the key of the slice for an overlap."""
    return SHARED if share == 1 else HALF if share >= 0.5 else FEW


def length_key(length: int) -> str:
    """Return the key of the slice for a length of the target."""
    return SHORT if length <= 5 else MIDDLE if length <= 10 else LONG


@lru_cache(maxsize=20_000)  # a page asks again for the same examples
def keys_of(task: Task, example: Example) -> frozenset[str]:
    """Return the keys of the slices that an example is in; without a source all words are shared.

    The heuristics of HANS are those by which a pair would be entailed.
    """
    texts = task.texts(example)
    text = texts[task.target]
    target = set(words(text))
    shared = overlap(target, words(texts[task.source])) if task.source else 1.0
    found = {
        overlap_key(shared),
        NEGATED if is_negated(target) else PLAIN,
        length_key(length(text)),
    }
    if (own := getattr(example, "heuristic", "")) in HEURISTICS:  # of a pair from a template
        found.add(own)
    if isinstance(example, Pair) and shared == 1:
        found |= {name for name in RULED if BASELINES[name]([example]) == [ENTAILMENT]}
    if isinstance(example, Question):
        found.add(question_word(example.question))
        if example.references and not missing():
            found.add(answer_type(example.question, example.references))
    return frozenset(found)


def sliced(rows: Sequence[Row]) -> dict[Slice, list[Row]]:
    """Return the answered rows with a gold label by slice; slices without any are left out."""
    golden = [row for row in rows if row.predictions and row.gold]
    if not golden:
        return {}
    keys = [keys_of(row.task, row.example) for row in golden]
    groups = {
        each: [row for row, own in zip(golden, keys, strict=True) if each.key in own]
        for each in slices_of(golden[0].task)
    }
    return {each: group for each, group in groups.items() if group}


def measure(rows: Sequence[Row], first: int = 0, second: int = 1) -> list[Measured]:
    """Measure every model on every slice, over all gold labels and over each part of them.

    `first` and `second` are the models tested against each other. The p values are those of
    single tests: of twenty slices one differs by chance.
    """
    found = []
    for each, group in sliced(rows).items():
        task = group[0].task
        for gold in (ALL, *(part.gold for part in parts_of(task).values())):
            if part := of_gold(group, gold):
                models = len(part[0].predictions)
                scores = tuple(score(part, model) for model in range(models))
                tested = significance(part, first, min(second, models - 1))
                place, test = slices_of(task).index(each), tested
                found.append(Measured(each, place, gold, len(part), scores, test))
    return found


def of_gold(rows: Sequence[Row], gold: str) -> list[Row]:
    """Return all rows, or those of the part with this gold label, which then is theirs."""
    if gold == ALL or not rows:
        return list(rows)
    groups = parts_of(rows[0].task).values()
    return [row for group in groups if group.gold == gold for row in of_group(rows, group)]


def members(rows: Sequence[Row], place: int, gold: str) -> list[Row]:
    """Return the rows of a slice by its place in `slices_of` their task, all or of one part."""
    known = slices_of(rows[0].task) if rows else ()
    group = sliced(rows).get(known[place], []) if place < len(known) else []
    kept = {row.number for row in of_gold(group, gold)}
    return [row for row in group if row.number in kept]
