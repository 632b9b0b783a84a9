"""The slices, kinds of examples on which models are known to differ: a row of a table each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from probe.analysis.comparison import question_kinds as asked
from probe.tasks.nli import Pair
from probe.tasks.reading import Question
from probe.tasks.task import Task

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
    return questions(task) and not asked.missing()


def note_on(task: Task) -> str:
    """Return how the slices of a task are to be taken, "" where there is nothing to say."""
    if inference(task):
        return CONSTITUENT_NOTE
    if not questions(task):
        return ""
    lacks = asked.missing()
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
            (asked.HOW_MANY, "How many, how much …", "the question asks how many or how much"),
            ("what", "What …", "the question asks what"),
            ("which", "Which …", "the question asks which"),
            ("why", "Why …", "the question asks why"),
            ("how", "How …", "the question asks how"),
            (asked.OTHER, "No such word", "the question has no question word"),
        )
    ),
    *(
        Slice(
            ANSWER_TYPE, name, _is_answered_by(name), questions_with_types, title, where, main=True
        )
        for name, title, where in (
            (asked.NUMBER, "Answer: number or date", "the answer is a number or date"),
            (asked.PERSON, "Answer: person", "the answer is a person"),
            (asked.PLACE, "Answer: place", "the answer is a place"),
            (asked.NAME, "Answer: other name", "the answer is an organisation or other name"),
            (asked.ELSE, "Answer: anything else", "the answer is no number, date or name"),
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
