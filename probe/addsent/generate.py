"""A distractor for a question: the fake answer in a statement about something else."""

from dataclasses import dataclass, replace

from probe.addsent.alterations import Alteration, alter, sister_word
from probe.addsent.fake_answers import FakeAnswer, fake_answer
from probe.addsent.names import kinds
from probe.addsent.statements import statement
from probe.tasks.reading import Question
from probe.text.tagger import tag
from probe.text.words import tokenise


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


def insert(question: Question, sentence: str, position: int | None = None) -> Question:
    """Put a sentence before the sentence `position` of the passage; at its end for None.

    The answers move with the text behind it. Raises ValueError for a position below 0.
    """
    if position is not None and position < 0:
        raise ValueError("a place in a passage is 0 or more")
    starts = sentence_starts(question.passage)
    if position is None or position >= len(starts):
        return replace(question, passage=f"{question.passage} {sentence}")
    at, added = starts[position], f"{sentence} "
    moved = tuple(
        replace(answer, start=answer.start + len(added)) if answer.start >= at else answer
        for answer in question.answers
    )
    passage = question.passage[:at] + added + question.passage[at:]
    return replace(question, passage=passage, answers=moved)


def sentence_starts(passage: str) -> list[int]:
    """Return where the sentences of a passage begin; each but the last ends with ". "."""
    starts, at = [0], passage.find(". ")
    while at >= 0:
        starts.append(at + 2)
        at = passage.find(". ", at + 2)
    return starts
