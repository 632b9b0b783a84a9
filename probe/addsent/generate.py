"""A distractor for a question: the fake answer in a statement about something else."""

from dataclasses import dataclass

from probe.addsent.alterations import Alteration, alter, sister_word
from probe.addsent.fake_answers import FakeAnswer, fake_answer
from probe.addsent.names import kinds
from probe.addsent.statements import statement
from probe.tasks.reading import Question
from probe.text.tagger import tag
from probe.text.tokens import tokenise


@dataclass(frozen=True)
class Distractor:
    """A sentence, and which rules made it; nobody has checked it."""

    sentence: str
    fake: FakeAnswer
    alterations: tuple[Alteration, ...]
    pattern: str


def distractor(
    question: Question, second: bool = False, sister_words: bool = True
) -> Distractor | None:
    """Return the raw distractor of a question, None where no word of it can be altered.

    The shortest reference answer counts; `second` takes the fake answers of the second list. Where
    no published rule fires, `sister_words` lets a noun become another of its kind, which is ours.
    Raises MissingWordNet.
    """
    words = tokenise(question.question)
    tags = tag(words)
    altered, alterations = alter(words, tags, kinds(words, tags))
    if not alterations and sister_words:
        altered, alterations = sister_word(words, tags)
    answer = min(question.references, key=len, default="")
    if not alterations or not answer:
        return None
    fake = fake_answer(answer, question.question, second)
    made = statement(altered, tags, fake.text)
    if made is None:
        return None
    sentence, pattern = made
    return Distractor(sentence, fake, tuple(alterations), pattern)
