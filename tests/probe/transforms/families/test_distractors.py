"""Distractors as transforms: where the sentence stands, what is left alone, and what is said."""

from probe.tasks.nli import NLI
from probe.tasks.reading import READING, Question, Span
from probe.transforms import REGISTRY, Options, apply
from probe.transforms.apply import Result
from probe.transforms.registry import ready
from tests.probe.transforms.test_transforms import ODD
from tests.support.cases import each

NAMES = ("addsent", "addsent_first", "addsent_other")
PASSAGE = "Anna Weber rebuilt the mill in 1850. It stands in Oldtown."
WHO = "Who rebuilt the mill in Germany?"
ASKED = Question(WHO, PASSAGE, "Anna Weber", "q1", (Span("Anna Weber", 0),))


def made(name: str, question: Question, predicted: str = "Oldtown") -> Result:
    """Return what a transform makes of a question, which a model answers so."""
    return apply(name, [question], READING, 0, Options(), lambda read: [], [predicted])[0][0]


@each(
    ("name", "passage"),
    zip(
        NAMES,
        (
            f"{PASSAGE} Jeff Dean rebuilt the mill in England.",
            f"Jeff Dean rebuilt the mill in England. {PASSAGE}",
            f"{PASSAGE} Charles Babbage rebuilt the mill in England.",
        ),
        strict=True,
    ),
)
def test_a_false_sentence_stands_in_the_passage_and_the_question_stays(
    name: str, passage: str
) -> None:
    result = made(name, ASKED)
    example = result.example
    assert example.passage == passage and result.exact and result.changed
    assert (example.question, example.gold, example.id) == (WHO, "Anna Weber", "q1")
    (answer,) = example.answers
    assert passage[answer.start :].startswith(answer.text)
    assert result.note.startswith("false answer: ") and "altered: Germany → England" in result.note
    assert name in ready(READING) and not REGISTRY[name].suits(NLI)


@each("name", NAMES)
def test_without_a_right_answer_the_predicted_one_is_faked(name: str) -> None:
    result = made(name, Question("When was the mill in Germany rebuilt?", PASSAGE), "1850")
    assert "1825" in result.example.passage and result.gold is None
    result = made(name, Question("Who?", PASSAGE, "Anna Weber"))
    assert not result.changed and "a word in the question" in result.note


@each("name", NAMES)
def test_any_text_comes_to_an_end(name: str) -> None:
    for text in ODD.values():
        for question in (Question(text, PASSAGE, "1850"), Question(WHO, text, text)):
            result = made(name, question, text)
            assert text in result.example.passage or result.example.question == text
