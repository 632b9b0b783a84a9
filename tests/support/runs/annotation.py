"""A small annotation set and people who answer it; texts of a round and what is said of them."""

from collections.abc import Callable

from probe.models.library import load
from probe.runs.store import Store
from probe.surveys.annotation_set import (
    MODES,
    AnnotationSet,
    Item,
    create_set,
    next_batch,
    submit_batch,
)
from probe.surveys.rounds import UNCLEAR, Round, confirm, submit_try, tries
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


def write_text(
    store: Store, wanted: Round, visitor: str, text: str, fooling: bool = True, nickname: str = ""
) -> str:
    """Write a text of sentiment whose label is not the model's answer, or is; return its key."""
    join(store, wanted.survey, visitor, nickname)
    model = load("minilm_sst2")
    (said,) = model.predict([SENTIMENT.example(text)])
    (label,) = {*SENTIMENT.labels} - {said.label} if fooling else {said.label}
    submit_try(store, wanted, visitor, {"text": text}, label, model, "weights")
    return tries(store, wanted.survey.id)[-1].key


def say(store: Store, wanted: Round, key: str, *agreeing: bool) -> None:
    """Let one person after the other agree with a text's author, or say that it is not clear."""
    label = next(each.label for each in tries(store, wanted.survey.id) if each.key == key)
    for number, agrees in enumerate(agreeing):
        join(store, wanted.survey, person(number))
        confirm(store, wanted, person(number), key, label if agrees else UNCLEAR)
