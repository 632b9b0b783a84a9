"""Batches of an annotation set: what a respondent is given next, and what comes back.

A batch has one control item. It is done when enough people have answered it who gave the control
its answer; a batch that somebody was given and did not return counts as taken for a while.
"""

import math
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from probe.errors import SurveyError
from probe.runs.access import as_token
from probe.runs.database import AssignmentRow, ResponseRow
from probe.runs.store import Store
from probe.surveys.annotation_set import AnnotationSet, Item, from_key, key
from probe.surveys.survey import ENDED, Response, add_responses, has_joined, respondents, responses


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


RESERVED_SECONDS = 15 * 60
"""For so long nobody else is given the place of a batch that somebody has begun."""


def into_batches(
    items: Sequence[Item], controls: Sequence[Item], size: int, seed: int = 0
) -> tuple[tuple[str, ...], ...]:
    """Return the ids of each batch: `size` items at most, one of them a control at a drawn place.

    Without controls all are items.
    """
    per_batch = size - 1 if controls else size
    rng, batches = random.Random(f"{seed}|batches"), []
    for number, start in enumerate(range(0, len(items), per_batch)):
        ids = [item.id for item in items[start : start + per_batch]]
        if controls:
            ids.insert(rng.randint(0, len(ids)), controls[number % len(controls)].id)
        batches.append(tuple(ids))
    return tuple(batches)


def next_batch(store: Store, annotated: AnnotationSet, visitor: str) -> int | None:
    """Give a respondent a batch that is still to be judged, None where there is none for them.

    The one that they have begun, else of those that need people the one with the most. Raises
    SurveyError where the set has ended or they have not opened its link.
    """
    survey, token = annotated.survey, as_token(visitor)
    if survey.ended:
        raise SurveyError(ENDED)
    if not has_joined(store, survey, visitor):
        raise SurveyError("open the link first: only who holds it takes part")
    with store.database.session() as session:
        rows = session.scalars(select(AssignmentRow).where(AssignmentRow.survey == survey.id)).all()
        answered = session.execute(
            select(ResponseRow.visitor, ResponseRow.item, ResponseRow.answer).where(
                ResponseRow.survey == survey.id
            )
        )
        given = {(row[0], row[1]): row[2] for row in answered}
    batch = _chosen(annotated, rows, given, token)
    if batch is not None:
        row = AssignmentRow(survey=survey.id, visitor=token, batch=batch, given=time.time())
        # another page of the same visitor may be quicker
        with suppress(IntegrityError), store.database.writing() as session:
            session.merge(row)
    return batch


def _chosen(
    annotated: AnnotationSet,
    rows: Sequence[AssignmentRow],
    given: Mapping[tuple[str, str], str],
    visitor: str,
) -> int | None:
    """Return the batch that a respondent has begun, else the one that misses the fewest people."""
    begun = (row.batch for row in rows if row.visitor == visitor and not row.finished)
    if (batch := next(begun, None)) is not None:
        return batch
    taken = [0] * len(annotated.batches)
    for row in rows:
        taken[row.batch] += _counts(annotated, row, given)
    mine = {row.batch for row in rows if row.visitor == visitor}
    wanting = [
        batch
        for batch, people in enumerate(taken)
        if batch not in mine and people < annotated.votes
    ]
    return max(wanting, key=lambda batch: (taken[batch], -batch), default=None)


def _counts(
    annotated: AnnotationSet, row: AssignmentRow, given: Mapping[tuple[str, str], str]
) -> bool:
    """Whether a batch that somebody was given is judged by it, or may be soon."""
    if not row.finished:
        return row.given > time.time() - RESERVED_SECONDS
    return annotated.passed(
        row.batch,
        {
            item: given.get((row.visitor, key(row.batch, item)), "")
            for item in annotated.batches[row.batch]
        },
    )


def submit_batch(
    store: Store, annotated: AnnotationSet, visitor: str, batch: int, answers: Mapping[str, str]
) -> None:
    """Store a respondent's answers to a batch that they were given, by the ids of its items.

    Raises SurveyError where one is missing or is none of the answers, and where the batch is not
    theirs or was sent before.
    """
    survey, token = annotated.survey, as_token(visitor)
    if survey.ended:
        raise SurveyError(ENDED)
    missing = [
        number
        for number, item in enumerate(annotated.batches[batch], 1)
        if answers.get(item) not in annotated.answers
    ]
    if missing:
        numbers = ", ".join(map(str, missing))
        raise SurveyError(f"answer every text first: still open is number {numbers}")
    # another page of the same visitor may be quicker
    with suppress(IntegrityError), store.database.writing() as session:
        row = session.get(AssignmentRow, (survey.id, token, batch))
        if row is None:
            raise SurveyError("these were not given to you; open the link again")
        if not row.finished:
            row.finished = time.time()
            keyed = {key(batch, item): answers[item] for item in annotated.batches[batch]}
            add_responses(session, survey.id, token, keyed)


def sent_batches(store: Store, annotated: AnnotationSet, visitor: str) -> int:
    """Return how many batches a respondent has sent."""
    sent = select(func.count()).where(
        AssignmentRow.survey == annotated.survey.id,
        AssignmentRow.visitor == as_token(visitor),
        AssignmentRow.finished > 0,
    )
    with store.database.session() as session:
        return session.scalar(sent.select_from(AssignmentRow)) or 0


@dataclass(frozen=True)
class SetProgress:
    """How far a set is: people who opened its link, batches that came back, and the share done.

    Batches count towards `share` where their control got its answer.
    """

    people: int
    returned: int
    share: float


def progress_of(store: Store, annotated: AnnotationSet) -> SetProgress:
    """Return how far a set is."""
    rows = judgements(annotated, responses(store, annotated.survey.id))
    sent = {(row.respondent, row.batch): row.counts for row in rows}
    good = Counter(batch for (_, batch), counts in sent.items() if counts)
    done = sum(min(count, annotated.votes) for count in good.values())
    wanted = annotated.votes * len(annotated.batches)
    return SetProgress(respondents(store, annotated.survey.id), len(sent), done / wanted)
