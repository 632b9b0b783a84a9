"""Put a distractor into its passage."""

from dataclasses import replace

from probe.tasks.reading import Question


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
