"""The rows of a file of questions: what answers may look like, and what is said of others."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from probe.data.questions import question_rows
from probe.data.rows import guess, read_rows
from probe.data.source import read_table
from probe.tasks.reading import NO_ANSWER, READING, Span, is_right, references

PASSAGE = "Ada was born in 1815 in London."


def written(folder: Path, answers: Any, passage: str = PASSAGE) -> Path:  # Any: JSON
    """Write one question with these answers."""
    row = {"context": passage, "question": "When was Ada born?", "answers": answers}
    path = folder / "questions.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


WAYS: list[Any] = [
    "1815",
    ["1815"],
    '["1815"]',
    [{"text": "1815"}],
    [{"text": "1815", "start": 16}],
    [{"text": "1815", "answer_start": 16}],
    {"text": ["1815"], "answer_start": [16]},
    "{'text': ['1815'], 'answer_start': [16]}",
    "{'text': array(['1815'], dtype=object), 'answer_start': array([16], dtype=int32)}",
    "[{'text': '1815', 'start': 16}]",
    [{"text": "year 1815", "char_spans": [[16, 19]]}],
]


def test_an_answer_is_written_in_several_ways(tmp_path: Path) -> None:
    for answers in WAYS:
        (row,) = question_rows(written(tmp_path, answers))
        assert row.question and row.question.answers == (Span("1815", 16),), answers


def test_only_an_empty_answer_is_right_where_the_answers_are_there_and_empty(
    tmp_path: Path,
) -> None:
    columns = guess(["question", "context", "answers"], READING)
    for answers in ([], "[]", "{'text': array([])}", [""], None, ""):
        path = written(tmp_path, answers)
        (row,) = read_rows(read_table(path), columns, READING)
        (asked,) = question_rows(path)
        expected = None if answers in (None, "") else NO_ANSWER
        assert row.example.gold == expected, answers
        assert asked.question and asked.question.gold == expected, answers
        assert row.example.references == [] or expected is None
    assert [READING.score(answer, NO_ANSWER) for answer in ("1815", "", " The.")] == [0, 1, 1]
    assert [READING.matches(answer, NO_ANSWER) for answer in ("1815", "")] == [False, True]


def test_the_lists_of_parquet_are_read(tmp_path: Path) -> None:
    answers = [{"text": ["1815"], "answer_start": [16]}, {"text": [], "answer_start": []}]
    rows = {"context": [PASSAGE] * 2, "question": ["When?"] * 2, "answers": answers}
    pq.write_table(pa.table(rows), path := tmp_path / "questions.parquet")
    found = [row.question and row.question.answers for row in question_rows(path)]
    assert found == [(Span("1815", 16),), ()]


NO_ANSWERS: list[tuple[Any, str]] = [
    (1815, "its answers are a text, a list, or {text, answer_start}"),
    (True, "its answers are a text, a list, or {text, answer_start}"),
    ([1815], "an answer is a text, or has the keys text and start"),
    ("[1815", "its answers are no JSON list"),
    ("[open('a')]", "its answers are no JSON list"),
    ({"text": ["1815"], "answer_start": [16, 20]}, "need a text and an answer_start each"),
    ({"text": "1815", "answer_start": 16}, "need a text and an answer_start each"),
    ({"text": ["1815"], "answer_start": ["x"]}, "does not stand in its passage"),
    ([{"text": "1815", "start": 3}], "does not stand in its passage"),
    ("1816", "does not stand in its passage"),
]


def test_what_is_no_answer_is_said(tmp_path: Path) -> None:
    for answers, said in NO_ANSWERS:
        (row,) = question_rows(written(tmp_path, answers))
        assert row.question is None and said in row.error, answers


def test_an_answer_may_hold_the_mark_that_stands_between_answers(tmp_path: Path) -> None:
    answers = ["P(A|B)", "born in 1815"]
    passage = f"It is P(A|B). {PASSAGE}"
    (read,) = question_rows(written(tmp_path, answers, passage))
    assert read.question and read.question.gold
    assert references(read.question.gold) == answers
    assert is_right("P(A|B)", read.question.gold) and not is_right("P(A", read.question.gold)
