"""Distractors as transforms: where the sentence stands, what is left alone, and what is said."""

from probe.tasks.nli import NLI, Pair
from probe.tasks.reading import READING, Question, Span
from probe.transforms import REGISTRY, Options, apply
from probe.transforms.apply import Result
from probe.transforms.registry import ready
from tests.probe.transforms.test_transforms import ODD, no_reading
from tests.support.cases import each

NAMES = ("addsent", "addsent_first", "addsent_other")
PASSAGE = "Anna Weber rebuilt the mill in 1850. It stands in Oldtown."
ASKED = Question(
    "Who rebuilt the mill in Germany?", PASSAGE, "Anna Weber", "q1", (Span("Anna Weber", 0),)
)


def made(name: str, question: Question, predicted: str = "Oldtown") -> Result:
    """Return what a transform makes of a question, which a model answers so."""
    return apply(name, [question], READING, 0, Options(), no_reading, [predicted])[0][0]


def test_the_sentence_stands_at_the_end_or_in_front_and_the_question_stays() -> None:
    last, first = (made(name, ASKED) for name in NAMES[:2])
    assert last.example.passage == f"{PASSAGE} Jeff Dean rebuilt the mill in England."
    assert first.example.passage == f"Jeff Dean rebuilt the mill in England. {PASSAGE}"
    for result in (first, last):
        example = result.example
        assert (example.question, example.gold, example.id) == (ASKED.question, "Anna Weber", "q1")
        (answer,) = example.answers
        assert example.passage[answer.start :].startswith(answer.text)
        assert result.exact and result.changed


def test_the_second_list_has_another_false_answer() -> None:
    assert "Charles Babbage rebuilt" in made("addsent_other", ASKED).example.passage


@each("name", NAMES)
def test_a_sentence_says_which_rules_made_it(name: str) -> None:
    note = made(name, ASKED).note
    assert note.startswith("false answer: ") and "altered: Germany → England" in note


@each("name", NAMES)
def test_without_a_right_answer_the_predicted_one_is_faked(name: str) -> None:
    question = Question("When was the mill in Germany rebuilt?", PASSAGE)
    result = made(name, question, "1850")
    assert "1825" in result.example.passage
    assert result.gold is None


@each("name", NAMES)
def test_a_question_without_a_word_to_alter_stays_and_says_why(name: str) -> None:
    result = made(name, Question("Who?", PASSAGE, "Anna Weber"))
    assert not result.changed and "a word in the question" in result.note


@each("name", NAMES)
@each("text", ODD.values())
def test_any_text_comes_to_an_end(name: str, text: str) -> None:
    for question in (Question(text, PASSAGE, "1850"), Question(ASKED.question, text, text)):
        result = made(name, question, text)
        assert text in result.example.passage or result.example.question == text


def test_distractors_are_for_reading_alone() -> None:
    assert set(NAMES) <= set(ready(READING))
    assert not any(REGISTRY[name].suits(NLI) for name in NAMES)
    assert READING.example is not Pair
