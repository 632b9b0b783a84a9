"""Kinds of questions: each question word and each type of answer by example."""

from dataclasses import replace

import pytest

from probe.analysis import slices
from probe.analysis.comparison import Row
from probe.analysis.slices import (
    SLICES,
    answer_type,
    facts_of,
    measure,
    members,
    note_on,
    question_word,
    sliced,
    slices_of,
)
from probe.models.prediction import Prediction
from probe.statistics import PairedBootstrap
from probe.tasks.reading import READING, Question
from probe.text import wordnet


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Who painted the boats?", "who"),
        ("To whom did she write?", "who"),
        ("Whose boat sank?", "who"),
        ("When did the storm come?", "when"),
        ("Where is the harbour?", "where"),
        ("How many boats were there?", "how many/much"),
        ("For how much was it sold?", "how many/much"),
        ("How did the boat sink?", "how"),
        ("What sank?", "what"),
        ("In what year did it sink?", "what"),
        ("WHICH boat sank?", "which"),
        ("Why did it sink?", "why"),
        ("What did the man who sank it say?", "what"),
        ("Name the boat that sank.", "other"),
        ("Did the somewhat old boat sink?", "other"),
        ("", "other"),
    ],
)
def test_a_question_is_of_the_first_word_that_asks(question: str, word: str) -> None:
    assert question_word(question) == word


@pytest.mark.parametrize(
    ("question", "references", "kind"),
    [
        ("When was it?", ["1956"], "number or date"),
        ("When was it?", ["14 May"], "number or date"),
        ("When was it?", ["Wednesday"], "number or date"),
        ("How many?", ["thirty boats"], "number or date"),
        ("What fell?", ["three per cent"], "number or date"),
        ("Whom did he meet?", ["President Obama"], "person"),
        ("What did he see?", ["Rome"], "place"),
        ("What did he join?", ["Stanford University"], "organisation or other name"),
        ("What was it?", ["the nests of other birds"], "anything else"),
        ("What was it?", ["smoke"], "anything else"),
        ("Why did he stay?", ["he was the only one left"], "anything else"),
        ("Who was it?", ["Zofia Lamm"], "person"),
        ("Where was it?", ["Zirat"], "place"),
        ("What was it?", ["the Hadza"], "organisation or other name"),
        ("When was it?", ["in the long summer of that year", "1956"], "number or date"),
    ],
)
def test_an_answer_is_of_the_kind_of_the_shortest(
    question: str, references: list[str], kind: str
) -> None:
    assert answer_type(question, references) == kind


def question(text: str, gold: str) -> Question:
    return Question(text, "Rome had thirty boats in 1956. They were blue.", gold)


def row(number: int, text: str, gold: str, *said: str) -> Row:
    answers = tuple(Prediction(each, (0.9,), (each,)) for each in said)
    return Row(number, READING, question(text, gold), answers, "", (False,) * len(said))


ROWS = [
    row(0, "How many boats had Rome?", "thirty", "thirty", "thirty boats"),
    row(1, "When was it?", "1956", "1956", "1956"),
    row(2, "When was it blue?", "1956", "thirty", "1956"),
    row(3, "What colour were they?", "blue", "Rome", "They were blue"),
]


def test_every_question_is_in_one_slice_of_each_group() -> None:
    by_group: dict[str, list[int]] = {}
    for each, group in sliced(ROWS).items():
        by_group.setdefault(each.group, []).extend(one.number for one in group)
    assert {group: sorted(rows) for group, rows in by_group.items()} == {
        "question word": [0, 1, 2, 3],
        "answer type": [0, 1, 2, 3],
    }


def test_a_slice_of_questions_has_the_f1_of_each_model_and_the_bootstrap() -> None:
    (when,) = [one for one in measure(ROWS) if one.slice.name == "when"]
    assert (when.gold, when.n, [one.value for one in when.scores]) == ("all", 2, [0.5, 1.0])
    assert isinstance(when.test, PairedBootstrap)
    assert (when.test.difference, when.test.second_higher) == (-0.5, 1)
    assert not when.has_labels


def test_the_questions_of_a_slice_are_found_by_its_place() -> None:
    place = [each.name for each in slices_of(READING)].index("number or date")
    assert [one.number for one in members(ROWS, place, "all")] == [0, 1, 2]


def test_a_question_without_an_answer_has_a_word_and_no_type() -> None:
    facts = facts_of(READING, replace(ROWS[0].example, gold=None))
    assert (facts.question_word, facts.answer_type) == ("how many/much", "")


def test_every_kind_that_is_told_is_a_slice() -> None:
    names = {each.name for each in SLICES if each.fits(READING)}
    words = {*slices.QUESTION_WORDS.values(), "how many/much", "other"}
    assert names == words | {*slices.ANSWER_TYPES.values(), "anything else"}


def test_without_wordnet_the_types_are_left_out_and_the_note_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "in place of a recogniser of names" in note_on(READING)
    monkeypatch.setattr(wordnet, "missing", lambda: "WordNet is not on this machine.")
    fitting = {each.group for each in slices.SLICES if each.fits(READING)}
    assert fitting == {"question word"}
    assert note_on(READING) == (
        "Slices by the type of the answer are left out. WordNet is not on this machine."
    )
