"""Reading comprehension: a question is answered with a stretch of its passage.

As on SQuAD 1.1, and 2.0: where a passage holds no answer, only an empty one is right.
"""

import ast
import json
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from probe.errors import ExampleError
from probe.graphemes import has_unspaced, pieces
from probe.tasks.task import Label, Task, register
from probe.terms import Term

LONGEST = 1_000_000
"""Characters that are read as a value at most."""


def read_literal(text: str) -> Any:  # Any: whatever a literal may be
    """Return the value that a text writes, `array([...], dtype=...)` as the list that it holds.

    Nothing is evaluated. Raises ValueError for what is no value.
    """
    if len(text) > LONGEST:
        raise ValueError("it is too long")
    try:
        return ast.literal_eval(_Lists().visit(ast.parse(text.strip(), mode="eval")))
    except (SyntaxError, TypeError, MemoryError, RecursionError) as problem:
        raise ValueError(str(problem) or type(problem).__name__) from problem


class _Lists(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        array = node.args and ast.unparse(node.func).endswith("array")
        found: ast.expr = self.visit(node.args[0]) if array else node
        return found


ARTICLES = re.compile(r"\b(a|an|the)\b")
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
MEASURES = {
    "em": Term("Exact match", "How often the answer is word for word one of the right ones."),
    "f1": Term(
        "F1",
        "How much the words of the answer and of the nearest right one overlap: the harmonic mean "
        "of the shares of their words that both have.",
    ),
}


def normalised(text: str) -> str:
    """Return a text in lower case, without punctuation, articles and superfluous blanks."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(NO_PUNCTUATION)).split())


def same_span(first: str, second: str) -> bool:
    """Whether two answers are the same after normalisation."""
    return normalised(first) == normalised(second)


def words_of(text: str) -> list[str]:
    """Return the words of a text after normalisation.

    Of a script without blanks they are its characters without marks, as in MLQA's scores for
    Chinese (Lewis et al. 2020).
    """
    bare = normalised(text)
    if not has_unspaced(bare):
        return bare.split()
    return [piece for piece in pieces(bare) if piece[0].isalnum()]


def token_f1(answer: str, reference: str) -> float:
    """Return the F1 of two answers' words, between 0 and 1; 0 where they share none."""
    words, wanted = words_of(answer), words_of(reference)
    shared = sum((Counter(words) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(words), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def best(answer: str, references: Sequence[str], measure: Callable[[str, str], float]) -> float:
    """Return the largest value of a measure over the references, 0 for none."""
    return max((float(measure(answer, reference)) for reference in references), default=0.0)


SEPARATOR, WITHIN = "|", "\\|"
"""Stands between the reference answers of a question where they are one text, and within one."""
BETWEEN = re.compile(r"(?<!\\)\|")
NO_ANSWER = "(no answer)"
"""The gold answer of a question that its passage does not answer."""


@dataclass(frozen=True)
class Span:
    """An answer as it stands in the passage, from the character `start` on."""

    text: str
    start: int


@dataclass(frozen=True)
class Question:
    """A question about a passage. `id` names the row it came from and seeds its chance.

    `gold` holds the reference answers, `SEPARATOR` between them; `answers` are the places where
    they stand, where these are known. `base` names the question that this is a variant of.
    """

    question: str
    passage: str
    gold: Label | None = None
    id: str = ""
    answers: tuple[Span, ...] = ()
    base: str = ""

    @property
    def references(self) -> list[str]:
        """The reference answers."""
        return [answer.text for answer in self.answers] or references(self.gold or "")


def references(gold: Label) -> list[str]:
    """Return the reference answers that a gold answer holds; none of NO_ANSWER."""
    if gold == NO_ANSWER:
        return []
    texts = (text.strip().replace(WITHIN, SEPARATOR) for text in BETWEEN.split(gold))
    return [*filter(None, texts)]


def joined(answers: list[str]) -> Label | None:
    """Return reference answers as one text, each once; None for none."""
    texts = (text.replace(SEPARATOR, WITHIN) for text in dict.fromkeys(answers))
    return f" {SEPARATOR} ".join(texts) or None


def is_right(answer: Label, gold: Label) -> bool:
    """Whether an answer is one of the reference answers, after SQuAD's normalisation.

    Where there is none only an empty answer is right (Rajpurkar et al. 2018, in their code).
    """
    if gold == NO_ANSWER:
        return not normalised(answer)
    return bool(best(answer, references(gold), same_span))


def f1(answer: Label, gold: Label) -> float:
    """Return the F1 of an answer beside the nearest reference answer, from 0 to 1.

    Where there is none it is 1 for an empty answer and else 0, as in SQuAD 2.0.
    """
    if gold == NO_ANSWER:
        return float(is_right(answer, gold))
    return best(answer, references(gold), token_f1)


def in_words(gold: Label) -> str:
    """Return the reference answers of a gold answer as a person reads them."""
    return " or ".join(references(gold)) or gold


def answer_value(text: str) -> Any:  # Any: JSON
    """Return the value that a cell writes as JSON or Python, else its text. Raises ExampleError."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    try:
        return read_literal(text)
    except ValueError as problem:
        raise ExampleError(
            f"its answers are no JSON list and no list as Python writes it: {problem}"
        ) from problem


def gold_text(cell: Any) -> str:  # Any: a cell of a file
    """Return the reference answers of a cell as one text.

    A cell is a text, a list of texts or of {text, ...}, SQuAD's columns {text: [...], ...}, or such
    a value as JSON or as Python writes it. An empty list is NO_ANSWER. Raises ExampleError.
    """
    cell = answer_value(cell) if isinstance(cell, str) else cell
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Mapping):
        cell = cell.get("text")
    if isinstance(cell, str) or not hasattr(cell, "__iter__"):
        raise ExampleError("the answers are no list of texts, or of {text, start}")
    texts = [answer.get("text") if isinstance(answer, Mapping) else answer for answer in cell]
    known = [text for text in texts if isinstance(text, str)]
    if len(known) < len(texts):
        raise ExampleError("an answer is a text, or has the keys text and start")
    return joined([text for text in known if text.strip()]) or NO_ANSWER


def answers_and_base(row: Mapping[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Return what a question's JSON says beside texts, gold answer and id, as `Question` has it."""
    answers = tuple(Span(answer["text"], answer["start"]) for answer in row.get("answers", ()))
    return {"answers": answers, "base": row.get("base", "")}


def longest_sentence(question: Question) -> str:
    """Return the longest sentence of a passage, by which it is known.

    A distractor, wherever it is put, leaves that sentence as it is, for it is a short one.
    """
    return max(question.passage.split(". "), key=len).rstrip(". ")


def squad_questions(file: Any) -> Iterator[dict[str, Any]]:  # Any: JSON
    """Yield the questions of SQuAD's form with their paragraph. Raises KeyError or TypeError."""
    for article in file["data"]:
        for paragraph in article["paragraphs"]:
            given = {"title": article.get("title"), "context": paragraph["context"]}
            given |= {name: value for name, value in paragraph.items() if name != "qas"}
            for asked in paragraph["qas"]:
                yield {**given, **asked}


def squad_question(row: Mapping[str, Any]) -> Question:  # Any: JSON
    """Return a question of SQuAD's form with the places of its answers. Raises KeyError."""
    answers = tuple(Span(answer["text"], answer["answer_start"]) for answer in row["answers"])
    gold = joined([answer.text for answer in answers])
    return Question(row["question"], row["context"], gold, row["id"], answers)


def problem(question: Question) -> str:
    """Return what is wrong with a question: answers of which its passage holds none.

    Others of MRQA's are spellings beside the one that the passage has.
    """
    passage, known = normalised(question.passage), question.references
    if not known or any(normalised(text) in passage for text in known):
        return ""
    return f"the answer {known[0]!r} does not occur in the passage"


READING = register(
    Task(
        "reading",
        "Reading comprehension",
        example=Question,
        fields=("question", "passage"),
        target="question",
        columns={"question": ("question",), "passage": ("context", "passage")},
        matches=is_right,
        agrees=same_span,
        f1=f1,
        gold_text=gold_text,
        problem=problem,
        further=answers_and_base,
        variant_of=lambda question: question.base,
        topic=longest_sentence,
        bundled="reading.json",
        choice="Reading",
        question="Which words of the passage answer the question?",
        titles={"question": "Question", "passage": "Passage"},
        unit="question",
        showcase=Question(
            "Who painted the boats in the northern harbour before the storm?",
            "The northern harbour was quiet before the storm. Maria Kessler painted the boats "
            "there, while her brother mended the nets in the other one.",
            "Maria Kessler",
        ),
        meanings={
            "question": "What is asked about the passage.",
            "passage": "The text that holds the answer, word for word.",
        },
    )
)
