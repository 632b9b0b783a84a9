"""Reading comprehension: scores of spans, and the bundled questions."""

import json
import re
from collections import Counter
from collections.abc import Iterable
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


def test_the_best_of_several_references_counts() -> None:
    references = ["Paris", "the old mill", "in Rome"]
    assert best("old mill", references, token_f1) == 1.0
    assert best("Rome", references, token_f1) == pytest.approx(2 / 3)
    assert best("Rome", references, same_span) == 0.0
    assert best("Rome", [], token_f1) == 0.0


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


def share(those: Iterable[bool]) -> float:
    """Return the share that is true."""
    return float(np.mean([*those]))


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


def test_most_answers_are_short_and_no_question_gives_its_own_away() -> None:
    lengths = [len(answer.text.split()) for _, answer in FIRST]
    assert max(lengths) <= 10
    assert share(length <= 6 for length in lengths) >= 0.85
    for question, answer in FIRST:
        assert f" {normalised(answer.text)} " not in f" {normalised(question.question)} "


@each("split", ["dev", "test"])
def test_no_question_word_is_rare_or_leads(split: str) -> None:
    there = {passage["context"] for passage in PASSAGES if passage["split"] == split}
    counts = Counter(asking(question) for question in QUESTIONS if question.passage in there)
    assert set(counts) == set(ASKING) - set(SAME)
    assert min(counts.values()) / counts.total() >= 0.05
    assert max(counts.values()) / counts.total() <= 0.3


def test_answers_are_spread_over_the_passage() -> None:
    thirds = Counter(
        int(3 * (answer.start + len(answer.text) / 2) / len(question.passage))
        for question, answer in FIRST
    )
    assert set(thirds) == {0, 1, 2}
    assert 0.25 <= min(thirds.values()) / 300 <= max(thirds.values()) / 300 <= 0.42
    last = [answer.start >= sentence_starts(question.passage)[-1] for question, answer in FIRST]
    assert share(last) <= 0.25
    # and shared words alone do not find the sentence of the answer
    assert share(answer.start in likest_sentence(question) for question, answer in FIRST) <= 0.75


def test_the_sample_has_four_other_passages_with_three_questions_each() -> None:
    sample = list(read_questions(SAMPLE))
    passages = Counter(question.passage for question in sample)
    assert list(passages.values()) == [3] * 4
    assert not set(passages) & {question.passage for question in QUESTIONS}
    assert len({question.id for question in sample}) == len(sample)
