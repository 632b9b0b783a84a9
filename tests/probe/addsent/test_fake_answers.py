"""Fake answers by hand-worked cases of each rule, in the first and the second list."""

from probe.addsent.fake_answers import FakeAnswer, fake_answer
from tests.support.cases import each

CASES = [
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


@each(("answer", "question", "first", "second", "rule"), CASES)
def test_the_first_rule_that_fires_decides(
    answer: str, question: str, first: str, second: str, rule: str
) -> None:
    assert fake_answer(answer, question) == FakeAnswer(first, rule)
    assert fake_answer(answer, question, second=True) == FakeAnswer(second, rule)


@each(("answer", "question"), [("Chicago", "Where was it?"), ("Jeff Dean", "Who was it?")])
def test_an_answer_is_never_its_own_fake(answer: str, question: str) -> None:
    assert fake_answer(answer, question).text != answer
