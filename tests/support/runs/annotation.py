"""A small annotation set, and people who answer it."""

from collections.abc import Callable

from probe.runs.store import Store
from probe.surveys.annotation_set import (
    MODES,
    AnnotationSet,
    Item,
    create_set,
    next_batch,
    submit_batch,
)
from probe.surveys.survey import join
from probe.tasks.sentiment import SENTIMENT
from tests.support.pages.visitors import ME


def items(mode: str = "valid") -> list[Item]:
    """Eight items, four of them sorted, and two controls."""
    texts = [f"It was number {number} of the best ." for number in range(10)]
    answers = ("valid", "invalid") if mode == "valid" else ("positive", "negative")
    made = []
    for number, text in enumerate(texts):
        changed = " ".join(sorted(text.split())) if number % 2 else text
        control = answers[number % 2] if number > 7 else ""
        transform = "sort" if number % 2 else ""
        gold = answers[0] if mode == "labels" else "positive"
        made.append(Item(f"i{number}", {"text": changed}, {"text": text}, transform, gold, control))
    return made


def small_set(store: Store, mode: str = "valid", votes: int = 3) -> AnnotationSet:
    """Store the items as a set of ME: two batches of four and a control."""
    asked = MODES[mode]
    return create_set(store, ME, SENTIMENT, asked, items(mode), votes=votes, source="made up")


def person(number: int) -> str:
    """The token of a respondent."""
    return f"{number:032x}"


def answer_all(
    store: Store, annotated: AnnotationSet, visitor: str, answer: Callable[[Item], str]
) -> int:
    """Answer until nothing is left; return how many batches that were."""
    join(store, annotated.survey, visitor)
    sent = 0
    while (batch := next_batch(store, annotated, visitor)) is not None:
        answers = {item: answer(annotated.items[item]) for item in annotated.batches[batch]}
        submit_batch(store, annotated, visitor, batch, answers)
        sent += 1
    return sent


def honest(item: Item) -> str:
    """What somebody answers who calls broken texts invalid."""
    return item.control or ("invalid" if item.transform else "valid")
