"""Distractors: statements by pattern, altered words and fake answers by rule, their place."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probe.addsent.alterations import UNALTERED, Word, alter, alteration, sister_word, sisters
from probe.addsent.fake_answers import FakeAnswer, fake_answer, kinds
from probe.addsent.statements import distractor, insert, statement
from probe.cli.main import app
from probe.data.questions import read_questions
from probe.errors import FileError
from probe.tasks.examples import bundled_examples
from probe.tasks.reading import READING, Span
from probe.text.tagger import tag
from probe.text.words import tokenise
from tests.support.cases import each
from tests.support.files.questions import asked

PASSAGE = "The old mill burned down in 1850. Anna Weber rebuilt it. It stands in Oldtown today."
ASKED = asked(PASSAGE, "Who rebuilt the old mill in Germany?", (Span("Anna Weber", 34),), "q1")
STATEMENTS = [
    ("What did Tesla discover in 1900?", "Tesla discovered ANSWER in 1900.", "do"),
    ("When did the war end?", "The war ended in ANSWER.", "do"),
    ("How many lakes does Poland have?", "Poland has ANSWER lakes.", "do"),
    ("In what year did she leave Rome?", "She left Rome in the year of ANSWER.", "do"),
    ("Where is the bridge located?", "The bridge is located in ANSWER.", "auxiliary"),
    ("What is the flour used for?", "The flour is used for ANSWER.", "auxiliary"),
    ("Who was the first king of Poland?", "The first king of Poland was ANSWER.", "be"),
    ("Who discovered the planet?", "ANSWER discovered the planet.", "subject"),
    ("How many people live in Rome?", "ANSWER people live in Rome.", "subject"),
    ("Which team won the cup?", "The team of ANSWER won the cup.", "subject"),
    ("What type of cells kill bacteria?", "ANSWER cells kill bacteria.", "subject"),
    ("After the war, who ruled the city?", "After the war, ANSWER ruled the city.", "subject"),
    ("It was rebuilt in what year?", "It was rebuilt in the year of ANSWER.", "in place"),
    ("What party is Kibaki part of?", "Kibaki is part of the party of ANSWER.", "be"),
    ("Name one of the rivers.", "", ""),
]  # fmt: skip


@each(("question", "expected", "pattern"), STATEMENTS)
def test_a_question_becomes_a_statement(question: str, expected: str, pattern: str) -> None:
    words = tokenise(question)
    made = (expected, pattern) if expected else None
    assert statement(words, tag(words), "ANSWER") == made


@each(
    ("word", "expected", "rule"),
    [
        (Word("largest", "JJS", ""), "smallest", "special pair"),
        (Word("Northern", "NNP", "location"), "Southern", "special pair"),
        (Word("strong", "JJ", ""), "weak", "antonym"),
        (Word("strongest", "JJS", ""), "weakest", "antonym"),
        (Word("1850", "CD", "date"), "1851", "nearest number"),
        (Word("2nd", "CD", "number"), "3rd", "nearest number"),
        (Word("12,000", "CD", "number"), "12,001", "nearest number"),
        (Word("May", "NNP", "date"), "April", "special pair"),
        (Word("June", "NNP", "date"), "May", "nearest number"),
    ],
)
def test_a_word_is_altered_by_the_first_rule_that_fires(
    word: Word, expected: str, rule: str
) -> None:
    found = alteration(word)
    assert found
    assert (found.new, found.rule) == (expected, rule)


def test_a_name_gives_way_to_another_of_its_kind_and_never_to_a_word_of_the_question() -> None:
    first = alteration(Word("Germany", "NNP", "location"))
    assert first and first.rule == "name of the same kind"
    other = alteration(Word("Germany", "NNP", "location"), {first.new.lower()})
    assert other and other.new not in (first.new, "Germany")
    assert not any(alteration(Word(text, "JJ", "")) for text in UNALTERED)
    words, _ = alter(["Germany", "Germany"], ["NNP", "NNP"], ["location", "location"])
    assert len({"Germany", *words}) == 3
    assert kinds(["May", "18"], ["NNP", "CD"])[0] == "date"
    assert kinds(["May", "sang"], ["NNP", "VBD"])[0] != "date"  # alone it is no month


def test_a_distractor_says_which_rules_made_it_and_is_the_same_each_time() -> None:
    made, other = distractor(ASKED), distractor(ASKED, second=True)
    # no sister word is put where a published rule fires
    assert made == distractor(ASKED) == distractor(ASKED, sister_words=False)
    assert made and other
    assert made.sentence.startswith("Jeff Dean rebuilt the ") and "Germany" not in made.sentence
    assert made.fake.rule in ("name", "question word")
    assert "Germany" in {each.old for each in made.alterations}
    assert other.sentence == made.sentence.replace("Jeff Dean", "Charles Babbage")
    assert distractor(replace(ASKED, gold=None, answers=())) is None
    assert distractor(replace(ASKED, question="What is it?")) is None
    questions = bundled_examples(READING)[::6]  # two thirds of which have a sentence
    assert sum(distractor(each) is not None for each in questions) >= 2 / 3 * len(questions)


@each(
    ("asked", "sentence"),
    [
        ("Who brought the cello back?", "Jeff Dean brought the violin back."),
        ("Who was on the bus by mistake?", "Jeff Dean was on the train by mistake."),
    ],
)
def test_where_no_published_rule_fires_a_thing_becomes_another_of_its_kind(
    asked: str, sentence: str
) -> None:
    question = replace(ASKED, question=asked)
    made = distractor(question)
    assert made and made.sentence == sentence
    assert [each.rule for each in made.alterations] == ["another of its kind"]
    assert distractor(question, sister_words=False) is None


@each(("word", "rejected"), [("winter", "time"), ("dog", "pet"), ("dog", "animal")])
def test_a_sister_word_is_neither_a_synonym_nor_what_a_word_is_a_kind_of(
    word: str, rejected: str
) -> None:
    found = sisters(word, "NN")
    assert found and not {word, rejected} & set(found)
    assert sisters("idea", "NN") == []  # it is no thing
    words = [("to", "TO"), ("dog", "NN")], [("the", "DT"), ("dog", "NN")]
    assert [bool(sister_word(*zip(*each, strict=True))[1]) for each in words] == [False, True]


@each("position", [None, 0, 1, 2, 9])
def test_answers_stay_where_they_stand_wherever_a_sentence_is_put(position: int | None) -> None:
    moved = insert(ASKED, "Aliens came.", position)
    assert "Aliens came." in moved.passage
    assert moved.passage.replace("Aliens came.", "").split() == PASSAGE.split()
    for answer in moved.answers:
        assert moved.passage.startswith(answer.text, answer.start)
    assert moved.passage.startswith("Aliens came. ") == (position == 0)
    assert moved.passage.endswith(" Aliens came.") == (position in (None, 9))
    with pytest.raises(ValueError, match="0 or more"):
        insert(ASKED, "Aliens came.", -1)


def test_the_command_writes_passages_whose_answers_still_stand(tmp_path: Path) -> None:
    path, out = tmp_path / "squad.json", tmp_path / "raw.jsonl"
    answers = [{"text": "Anna Weber", "answer_start": 34}]
    asked = {"id": "q1", "question": ASKED.question, "answers": answers}
    other = {"id": "q2", "question": "What is it?", "answers": answers}  # which has no sentence
    paragraph = {"context": PASSAGE, "qas": [asked, other]}
    path.write_text(json.dumps({"data": [{"title": "Mill", "paragraphs": [paragraph]}]}))
    done = CliRunner().invoke(app, ["distractors", str(path), "--out", str(out), "--place", "0"])
    assert done.exit_code == 0, done.output
    assert "1 of 2 questions have a sentence" in done.output
    (row,) = map(json.loads, out.read_text().splitlines())
    assert (row["id"], row["base_id"], row["adversarial"]) == ("q1-raw", "q1", True)
    assert row["context"] == f"{row['sentence']} {PASSAGE}"
    (again,) = read_questions(out)
    assert again.answers == (Span("Anna Weber", 34 + len(row["sentence"]) + 1),)


@each(
    ("name", "text", "words"),
    [
        ("q.json", "[1, 2]", "must be a JSON object"),
        ("q.json", '{"data": [{"paragraphs": [{"qas": []}]}]}', "SQuAD's form"),
        ("q.json", '{"data": [{"a": ' + "[" * 100_000, "nested more than"),
        ("q.jsonl", '{"question": "Who?"}', "needs the columns"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=words):
        list(read_questions(tmp_path / name))


FAKES = [
    ("1745", "What year was he born?", "1720", "1720", "date"),
    ("March 18", "On what day was it?", "September 7", "September 7", "date"),
    ("several", "How many lakes are there?", "42", "200", "question word"),
    ("30,000", "How many people came?", "80,000", "80,000", "number"),
    ("6 million", "How much was paid?", "1 thousand", "1 thousand", "number"),
    ("seven", "How many were there?", "10", "10", "number"),
    ("60%", "What share was it?", "10%", "10%", "number"),
    ("Albert Einstein", "Which scientist was it?", "Jeff Dean", "Charles Babbage", "name"),
    ("Warsaw", "Which city was it?", "Chicago", "Stockholm", "name"),
    ("Stanford University", "What was it?", "Stark Industries", "Acme Corporation", "name"),
    ("Polish", "Which language was it?", "Jupiter", "Soylent", "name"),
    ("DNA", "What is it called?", "LSTM", "PCFG", "upper case"),
    ("a farmer", "Who came first?", "Jeff Dean", "Charles Babbage", "question word"),
    ("growing grain", "What did she like?", "learning", "running", "first word"),
    ("a river", "What is it?", "a hamster", "an apple", "last noun"),
    ("the rivers", "What are they?", "the hamsters", "the apples", "last noun"),
    ("very bright", "What was the light like?", "deep", "blue", "last word"),
    ("with them", "How was it done?", "aliens", "cosmic rays", "else"),
]


@each(("answer", "question", "first", "second", "rule"), FAKES)
def test_the_first_rule_that_fires_decides(
    answer: str, question: str, first: str, second: str, rule: str
) -> None:
    fakes = [fake_answer(answer, question, second=second) for second in (False, True)]
    assert fakes == [FakeAnswer(first, rule), FakeAnswer(second, rule)]
    assert fake_answer(first, question).text != first  # an answer is never its own
