"""What people's answers come to: majorities of those that count, and how far people agree."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from probe.annotation.annotation_set import AnnotationSet, from_key
from probe.annotation.items import Item
from probe.surveys.survey import Response


@dataclass(frozen=True)
class Judgement:
    """One answer to one item; it counts where its batch's control got the right answer.

    `sent` is when it was given, in seconds since 1970.
    """

    respondent: int
    nickname: str
    batch: int
    item: Item
    answer: str
    counts: bool
    sent: float


@dataclass(frozen=True)
class Judged:
    """An item with its counted votes, the first ones; `majority` is "" where none has it."""

    item: Item
    votes: tuple[str, ...]
    majority: str


@dataclass(frozen=True)
class Returned:
    """How many batches came back, and how many of them failed their control."""

    batches: int
    failed: int


def judgements(annotated: AnnotationSet, responses: Sequence[Response]) -> list[Judgement]:
    """Return all answers, each with whether it counts, in the order in which they came."""
    by_batch: dict[tuple[int, int], dict[str, str]] = {}
    for response in responses:
        batch, item = from_key(response.item)
        by_batch.setdefault((response.respondent, batch), {})[item] = response.answer
    passed = {place: annotated.passed(place[1], given) for place, given in by_batch.items()}
    rows = []
    for response in responses:
        batch, item = from_key(response.item)
        rows.append(
            Judgement(
                response.respondent,
                response.nickname,
                batch,
                annotated.items[item],
                response.answer,
                passed[response.respondent, batch],
                response.created,
            )
        )
    return rows


def returned(rows: Sequence[Judgement]) -> Returned:
    """Count the batches that came back."""
    batches = {(row.respondent, row.batch): row.counts for row in rows}
    return Returned(len(batches), sum(not counts for counts in batches.values()))


def judged(annotated: AnnotationSet, rows: Sequence[Judgement]) -> list[Judged]:
    """Return the items that are no controls with their first counted votes and majority.

    A majority has more than half of the votes that an item is to get.
    """
    votes: dict[str, list[str]] = {}
    for row in rows:
        if row.counts and not row.item.control:
            votes.setdefault(row.item.id, []).append(row.answer)
    return [
        Judged(item, tuple(given), majority(given, annotated.votes))
        for item in annotated.items.values()
        if not item.control
        for given in [votes.get(item.id, [])[: annotated.votes]]
    ]


def majority(votes: Sequence[str], wanted: int) -> str:
    """Return the answer of more than half of the wanted votes, "" where there is none."""
    answer, count = next(iter(Counter(votes).most_common(1)), ("", 0))
    return answer if 2 * count > wanted else ""


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float:
    """Return Fleiss' kappa (1971) of items by answers; each item has the same number of votes.

    # counts: (items, answers)

    1 is perfect agreement, 0 what chance gives. NaN for fewer than two votes an item, and where all
    answers are the same, since chance then agrees too.
    """
    votes = sum(counts[0]) if counts else 0
    if votes < 2:
        return math.nan
    observed = [
        (sum(count * count for count in row) - votes) / (votes * (votes - 1)) for row in counts
    ]
    total = votes * len(counts)
    shares = [sum(column) / total for column in zip(*counts, strict=True)]
    by_chance = sum(share * share for share in shares)
    if math.isclose(by_chance, 1.0):
        return math.nan
    return float((math.fsum(observed) / len(observed) - by_chance) / (1 - by_chance))


def kappa(annotated: AnnotationSet, items: Sequence[Judged]) -> tuple[float, int]:
    """Return Fleiss' kappa over the items that have all their votes, and how many these are."""
    whole = [item.votes for item in items if len(item.votes) == annotated.votes]
    counts = [[Counter(votes)[answer] for answer in annotated.answers] for votes in whole]
    return fleiss_kappa(counts), len(whole)
