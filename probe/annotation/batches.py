"""Batches of an annotation set: what a respondent is given next, and what comes back.

A batch has one control item. It is done when enough people have answered it who gave the control
its answer; a batch that somebody was given and did not return counts as taken for a while.
"""

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from probe.annotation.annotation_set import AnnotationSet, key
from probe.annotation.items import Item
from probe.annotation.judgements import judgements
from probe.errors import SurveyError
from probe.runs.database.tables import AssignmentRow, ResponseRow
from probe.runs.owners import as_token
from probe.runs.store import Store
from probe.surveys.survey import (
    ENDED,
    add_responses,
    has_joined,
    respondents,
    responses,
)

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
