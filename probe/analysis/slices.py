"""Which examples are in which slice, and how good each model is there."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from probe.addsent.fake_answers import Kind, kinds
from probe.analysis.comparison import McNemar, Row, Test, of_group, parts_of, score, significance
from probe.baselines import BASELINES, words
from probe.statistics import Estimate
from probe.tasks.nli import ENTAILMENT, Pair
from probe.tasks.reading import Question
from probe.tasks.task import Example, Task
from probe.text import tagger, wordnet
from probe.text.tagger import tag
from probe.text.words import tokenise

OTHER = "other"
QUESTION_WORDS: Mapping[str, str] = {
    "who": "who",
    "whom": "who",
    "whose": "who",
    "when": "when",
    "where": "where",
    "what": "what",
    "which": "which",
    "why": "why",
    "how": "how",
}
"""What the words that ask count as."""
HOW_MANY = "how many/much"
AMOUNTS = ("many", "much")
NUMBER, PERSON, PLACE, NAME = "number or date", "person", "place", "organisation or other name"
ELSE = "anything else"
ANSWER_TYPES: Mapping[Kind, str] = {
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
WORD = re.compile("[a-z]+")


def question_word(question: str) -> str:
    """Return the first word of a question that asks, "other" where none does."""
    words = WORD.findall(question.lower())
    for word, following in pairwise([*words, ""]):
        if word == "how" and following in AMOUNTS:
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
    for kind in kinds(words, tags):
        if kind:
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


@dataclass(frozen=True)
class Facts:
    """What the slices look at.

    `overlap` is the share of the target's different words that are in the source too, 1 for none
    or without a source; `length` counts the pieces between blanks of the target that hold a letter
    or digit. `heuristics` are those of HANS by which a pair would be entailed. `question_word` and
    `answer_type` are those of `question_kinds`, empty for other tasks.
    """

    overlap: float
    negated: bool
    length: int
    heuristics: frozenset[str]
    question_word: str = ""
    answer_type: str = ""


def any_task(task: Task) -> bool:
    """Whether a slice of one text's words fits a task: it fits all that answer with labels."""
    return bool(task.labels)


def two_texts(task: Task) -> bool:
    """Whether a slice of two texts' common words fits a task."""
    return bool(task.labels and task.source)


def inference(task: Task) -> bool:
    """Whether a slice of HANS fits a task."""
    return task.example is Pair


def questions(task: Task) -> bool:
    """Whether a slice of a question's words fits a task."""
    return task.example is Question


def questions_with_types(task: Task) -> bool:
    """Whether a slice of the right answer's type fits a task, and answers can be told apart."""
    return questions(task) and not missing()


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
    """A kind of examples: its group, its name, and which facts make an example one of them.

    `title` and the clause `where` say in plain words what the name says. All but the title may
    hold {target} and {source}, for what the task calls these fields. `main` marks those that are
    drawn: the one of its group in which models are known to fail, and every kind of question.
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


def _asks(word: str) -> Callable[[Facts], bool]:
    return lambda facts: facts.question_word == word


def _is_answered_by(kind: str) -> Callable[[Facts], bool]:
    return lambda facts: facts.answer_type == kind


OVERLAP, NEGATION, LENGTH = "lexical overlap", "negation in the {target}", "{target} length"
HANS, QUESTION_WORD, ANSWER_TYPE = "HANS heuristic", "question word", "answer type"
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
    *(
        Slice(QUESTION_WORD, name, _asks(name), questions, title, where, main=True)
        for name, title, where in (
            ("who", "Who …", "the question asks who"),
            ("when", "When …", "the question asks when"),
            ("where", "Where …", "the question asks where"),
            (HOW_MANY, "How many, how much …", "the question asks how many or how much"),
            ("what", "What …", "the question asks what"),
            ("which", "Which …", "the question asks which"),
            ("why", "Why …", "the question asks why"),
            ("how", "How …", "the question asks how"),
            (OTHER, "No such word", "the question has no question word"),
        )
    ),
    *(
        Slice(
            ANSWER_TYPE, name, _is_answered_by(name), questions_with_types, title, where, main=True
        )
        for name, title, where in (
            (NUMBER, "Answer: number or date", "the answer is a number or date"),
            (PERSON, "Answer: person", "the answer is a person"),
            (PLACE, "Answer: place", "the answer is a place"),
            (NAME, "Answer: other name", "the answer is an organisation or other name"),
            (ELSE, "Answer: anything else", "the answer is no number, date or name"),
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
    known = bool(example.references) and not missing()
    kind = answer_type(example.question, example.references) if known else ""
    return question_word(example.question), kind


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
