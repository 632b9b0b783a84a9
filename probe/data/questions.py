"""Questions of reading comprehension, from SQuAD's JSON or from a table of any form."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.names import listed
from probe.data.rows import cell, is_missing, require_text
from probe.data.source import open_source
from probe.errors import ExampleError, FileError, LimitError
from probe.limits import UNBOUNDED, Bounds
from probe.tasks.reading import NO_ANSWER, READING, Question, Span, answer_value, joined

BASE, ADVERSARIAL = "base_id", "adversarial"
"""The columns that name the question of a variant, and say whether it is an adversarial one."""
COLUMNS = ("id", "question", BASE, ADVERSARIAL)
HUB_KEYS = ("text", "answer_start")
MRQA_SPANS = "char_spans"
"""The first and the last character of each place where an answer stands."""
PASSAGE_KEYS, ANSWER_KEYS = ("context", "passage"), ("detected_answers", "answers", "answer")
"""MRQA has the places of its answers beside all their spellings."""


@dataclass(frozen=True)
class QuestionRow:
    """A row of a file: its cells, and its question or the reason why it has none."""

    cells: Mapping[str, Any]  # Any: whatever a file may hold
    question: Question | None = None
    error: str = ""


def question_rows(
    path: Path, bounds: Bounds = UNBOUNDED, options: FileOptions = AS_THE_FILE_TELLS
) -> Iterator[QuestionRow]:
    """Yield the rows of a file in its order: SQuAD's and MRQA's JSON, or a table of any form.

    A row has `context` or `passage`, `question` and `answers` (or `answer`), unless the options
    name other columns: a text, a list of texts or of {text, start}, or such a list as JSON or as
    Python writes it. SQuAD's `answer_start` is read too; an empty list is `NO_ANSWER`. A text
    without a place stands where it first occurs in the passage. `base_id` names the question that
    a row is a variant of. Raises FileError for a file that cannot be read or has no such columns,
    LimitError for a longer text than is read.
    """
    for number, cells in enumerate(_rows(path, bounds, options), 1):
        try:
            question = question_of(cells, number)
            require_text(READING, question, bounds)
            yield QuestionRow(cells, question)
        except ExampleError as problem:
            yield QuestionRow(cells, error=str(problem))
        except LimitError as problem:
            raise LimitError(f"row {number:,} of {path.name}: {problem}") from None


def read_questions(path: Path) -> Iterator[Question]:
    """Yield the questions of a file as `question_rows` does. Raises FileError at a wrong row."""
    for number, row in enumerate(question_rows(path), 1):
        if row.question is None:
            raise FileError(f"question {number:,} of {path.name}: {row.error}")
        yield row.question


def answered(rows: Iterable[QuestionRow]) -> list[Question]:
    """Return the questions that have an answer to learn or to compare with."""
    return [row.question for row in rows if row.question and row.question.answers]


def without_originals(rows: Iterable[QuestionRow]) -> list[tuple[int, Question]]:
    """Return the questions with an answer by the number of their row, from 0.

    An original counts only where it has no adversarial variant (Jia and Liang 2017, in their code).
    """
    known = [
        (number, row.question, is_adversarial(row.cells.get(ADVERSARIAL)))
        for number, row in enumerate(rows)
        if row.question and row.question.answers
    ]
    replaced = {question.base for _, question, adversarial in known if adversarial}
    return [
        (number, question)
        for number, question, adversarial in known
        if adversarial or not question.base or question.base not in replaced
    ]


def is_adversarial(cell: object) -> bool:
    """Whether a cell of the column `adversarial` says so; without one a variant is."""
    return str(cell).strip().lower() not in ("false", "0", "no")


def _rows(path: Path, bounds: Bounds, options: FileOptions) -> Iterator[dict[str, Any]]:
    table = open_source(path, bounds, options)
    names = {name.strip().lower(): name for name in reversed(table.columns)}
    texts = options.columns  # what a person names, by the key under which it is read
    chosen = {"question": texts.get("question"), PASSAGE_KEYS[0]: texts.get("passage")}
    chosen[ANSWER_KEYS[0]] = options.gold
    names |= {key: name for key, name in chosen.items() if name}
    absent = [name for name in names.values() if name not in table.names]
    if absent or "question" not in names or not set(PASSAGE_KEYS) & set(names):
        lacking = f"has no column {absent[0]!r}" if absent else (
            "needs the columns context and question"
        )  # fmt: skip
        raise FileError(f"{path.name} {lacking}; it has: {listed(table.names)}")
    wanted = [key for key in (*COLUMNS, *PASSAGE_KEYS, *ANSWER_KEYS) if key in names]
    for record in table.records():
        yield {**record.cells, **{key: cell(record.cells, names[key]) for key in wanted}}


def question_of(row: Mapping[str, Any], number: int) -> Question:
    """Read a row. Raises ExampleError."""
    passage = next((row[key] for key in PASSAGE_KEYS if isinstance(row.get(key), str)), "")
    asked = row.get("question")
    if not passage.strip() or not isinstance(asked, str) or not asked.strip():
        raise ExampleError("the passage or the question is empty")
    there = (
        row[key] for key in ANSWER_KEYS if not is_missing(row.get(key)) and str(row[key]).strip()
    )
    given: Any = next(there, None)
    listed_answers = [] if given is None else _listed_answers(given)
    spans = [_span(answer, passage) for answer in listed_answers]
    answers = tuple(span for span in spans if span.text.strip())
    empty = None if given is None else NO_ANSWER
    gold = joined([answer.text for answer in answers]) or empty
    base = "" if is_missing(row.get(BASE)) else str(row[BASE])
    return Question(asked, passage, gold, str(row.get("id") or number), answers, base)


def _listed_answers(given: Any) -> list[Any]:  # Any: a cell
    if isinstance(given, str):
        given = answer_value(given)
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):  # SQuAD's columns on the hub
        texts, starts = (given.get(key, ()) for key in HUB_KEYS)
        if texts == []:
            return []
        lists = isinstance(texts, list) and isinstance(starts, list)
        if not lists or len(texts) != len(starts):
            raise ExampleError("its answers need a text and an answer_start each")
        pairs = zip(texts, starts, strict=True)
        return [{"text": text, "start": start} for text, start in pairs]
    if isinstance(given, list):
        return list(given)
    raise ExampleError("its answers are a text, a list, or {text, answer_start}")


def _span(answer: Any, passage: str) -> Span:  # Any: JSON
    known = {"text": answer} if isinstance(answer, str) else answer
    text = known.get("text") if isinstance(known, dict) else None
    if not isinstance(text, str):
        raise ExampleError("an answer is a text, or has the keys text and start")
    start = known.get("start", known.get("answer_start"))
    if isinstance(spans := known.get(MRQA_SPANS), list) and len(spans):
        start = int(spans[0][0])
        text = passage[start : int(spans[0][1]) + 1]
    start = passage.find(text) if start is None else start
    if not isinstance(start, int) or start < 0 or not passage.startswith(text, start):
        raise ExampleError(f"the answer {text!r} does not stand in its passage where it should")
    return Span(text, int(start))
