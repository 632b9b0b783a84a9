"""Reading comprehension: scores of spans, and the bundled questions."""

import json
import re
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from probe.addsent.statements import sentence_starts
from probe.data.questions import Question, read_questions
from probe.settings import ASSETS
from probe.tasks.reading import best, normalised, same_span, token_f1
from probe.text.words import tokenise
from tests.support.cases import each


@each(
    ("text", "expected"),
    [
        ("The Eiffel Tower", "eiffel tower"),
        ("  an  old,\tgrey mill! ", "old grey mill"),
        ("U.S.", "us"),
        ("theatre and a band", "theatre and band"),
        ("the", ""),
    ],
)
def test_case_punctuation_articles_and_blanks_do_not_count(text: str, expected: str) -> None:
    assert normalised(text) == expected


@each(
    ("answer", "reference", "expected"),
    [
        ("the old mill", "old stone mill", 0.8),  # 2 of 2 and 2 of 3 words
        ("in 1850", "1850", 2 / 3),  # 1 of 2 and 1 of 1
        ("mill mill", "mill", 2 / 3),  # the second is not there twice
        ("Anna Weber", "anna weber.", 1.0),
        ("Rome", "Paris", 0.0),
        ("", "Paris", 0.0),
        ("the", "a", 0.0),
        ("北京大学", "在北京。", 4 / 7),  # 2 of 4 and 2 of 3 characters; marks are none
    ],
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(
    answer: str, reference: str, expected: float
) -> None:
    assert token_f1(answer, reference) == pytest.approx(expected)
    assert best(answer, [reference, "else"], token_f1) == pytest.approx(expected)
    assert best(answer, [], same_span) == 0


BUNDLED, SAMPLE = ASSETS / "bundled" / "reading.json", ASSETS / "examples" / "passages.json"
ASKING = ("how many", "how much", "who", "whom", "what", "when", "where", "which", "why", "how")
SAME = {"how much": "how many", "whom": "who"}
KINDS = {"article", "news", "story", "instructions", "letter", "notice"}
ARTICLES = json.loads(BUNDLED.read_text(encoding="utf-8"))["data"]
PASSAGES: list[dict[str, Any]] = [
    paragraph for article in ARTICLES for paragraph in article["paragraphs"]
]
QUESTIONS = list(read_questions(BUNDLED))
FIRST = [(question, question.answers[0]) for question in QUESTIONS]


def asking(question: Question) -> str:
    """Return the word, or two, with which a question asks: the one that stands first in it."""
    places = {word: re.search(rf"\b{word}\b", question.question.lower()) for word in ASKING}
    found = [(place.start(), -len(word), word) for word, place in places.items() if place]
    word = min(found)[2]
    return SAME.get(word, word)


def likest_sentence(question: Question) -> range:
    """Return the part of the passage whose sentence has the most words of the question."""
    starts = [*sentence_starts(question.passage), len(question.passage)]
    words = set(tokenise(question.question.lower()))
    return max(
        (range(start, end) for start, end in pairwise(starts)),
        key=lambda part: len(
            words & set(tokenise(question.passage[part.start : part.stop].lower()))
        ),
    )


def test_60_passages_have_five_questions_each_and_ids_that_number_them() -> None:
    assert [len(passage["qas"]) for passage in PASSAGES] == [5] * 60
    assert len({passage["context"] for passage in PASSAGES}) == 60
    assert len({article["title"] for article in ARTICLES}) == len(ARTICLES) == 60
    counts = Counter((passage["genre"], passage["split"]) for passage in PASSAGES)
    shares = {"dev": 2, "pool": 3, "test": 5}
    assert counts == {(kind, split): n for kind in KINDS for split, n in shares.items()}
    ids = [f"reading-{passage:03}-{asked}" for passage in range(1, 61) for asked in range(1, 6)]
    assert [question.id for question in QUESTIONS] == ids
    assert len({(question.passage, question.question.lower()) for question in QUESTIONS}) == 300
    lengths = [len(passage["context"].split()) for passage in PASSAGES]
    assert 80 <= min(lengths) <= max(lengths) <= 150
    sample = Counter(question.passage for question in read_questions(SAMPLE))
    assert list(sample.values()) == [3] * 4
    assert not set(sample) & {question.passage for question in QUESTIONS}
    for split in ("dev", "test"):
        there = {passage["context"] for passage in PASSAGES if passage["split"] == split}
        asked = Counter(asking(question) for question in QUESTIONS if question.passage in there)
        assert set(asked) == set(ASKING) - set(SAME)  # no question word is rare or leads
        assert all(0.05 <= n / asked.total() <= 0.3 for n in asked.values())


def test_each_answer_stands_at_its_place_as_whole_words_of_one_sentence() -> None:
    for question in QUESTIONS:
        for text in (question.passage, question.question, *question.references):
            assert text and text == " ".join(text.split())
        assert question.question.endswith("?")
        for answer in question.answers:
            words = re.compile(rf"(?<!\w){re.escape(answer.text)}(?!\w)")
            assert words.match(question.passage, answer.start) and ". " not in answer.text
        texts = [normalised(text) for text in question.references]  # which scoring tells apart
        assert 1 <= len(texts) == len(set(texts)) <= 3 and all(texts)
        assert not [t for t in texts if f" {t} " in f" {normalised(question.question)} "]
    lengths = [len(answer.text.split()) for _, answer in FIRST]
    assert max(lengths) <= 10 and np.mean([length <= 6 for length in lengths]) >= 0.85
    middles = [(a.start + len(a.text) / 2) / len(question.passage) for question, a in FIRST]
    thirds = Counter(int(3 * middle) for middle in middles)  # answers are spread over the passage
    assert set(thirds) == {0, 1, 2} and all(0.25 <= n / 300 <= 0.42 for n in thirds.values())
    # and shared words alone do not find the sentence of the answer
    assert np.mean([answer.start in likest_sentence(asked) for asked, answer in FIRST]) <= 0.75
