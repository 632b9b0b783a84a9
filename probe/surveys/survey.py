"""A survey: made by its owner, answered by who holds its link, until it ends.

Its id is the secret of the link: who does not know it is answered as if there were none. Answers
lie in the run database, by the token of each respondent's browser; others see numbers in its place.
"""

import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, delete, func, or_, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, undefer

from probe.errors import SurveyError
from probe.runs.access import COMMAND_LINE, DAY, as_token
from probe.runs.database import (
    AssignmentRow,
    RespondentRow,
    ResponseRow,
    SubmissionRow,
    Survey,
)
from probe.runs.run import Json
from probe.runs.store import Store

Kind = Literal["annotation", "lesson", "round"]
GUEST_PATHS: Mapping[str, str] = {"annotation": "set", "lesson": "class", "round": "fool"}
"""By the kind of a survey: the path of the page that its link opens."""
SYMBOLS, CODE = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", 8
"""What the code of a link is made of, and how long it is: it can be typed, and is one of 2**40."""
MAX_SURVEYS, MAX_RESPONDENTS, MAX_NICKNAME = 50, 500, 40
"""Surveys of one owner, respondents of one survey, characters of a nickname."""
ANSWER_TABLES = (ResponseRow, AssignmentRow, SubmissionRow, RespondentRow)
UNKNOWN = (
    "there is no such set, class or round here; it may have been deleted, or the link is incomplete"
)
NEEDS_TOKEN = "the page has no token yet by which it would know you again; reload it"


@dataclass(frozen=True)
class Response:
    """An answer; `respondent` counts those of a survey from 1, in the order in which they came."""

    respondent: int
    nickname: str
    item: str
    answer: str
    created: float


def address_of(survey: Survey) -> str:
    """Return the part of a survey's link behind the page's address."""
    return f"{GUEST_PATHS[survey.kind]}?{survey.id}"


def create_survey(
    store: Store, owner: str, kind: Kind, title: str, content: Json, seconds: float = 0.0,
) -> Survey:  # fmt: skip
    """Store a survey that ends after some seconds, or never; return it with its link's secret.

    Raises SurveyError where the owner has none to be known by, or too many surveys.
    """
    if not as_token(owner) and owner != COMMAND_LINE:
        raise SurveyError(NEEDS_TOKEN)
    if owner != COMMAND_LINE and len(own_surveys(store, owner)) >= MAX_SURVEYS:
        raise SurveyError(f"you have {MAX_SURVEYS} sets, classes and rounds; delete some in Mine")
    now = time.time()
    survey = Survey(
        id="".join(secrets.choice(SYMBOLS) for _ in range(CODE)),
        kind=kind,
        owner=owner,
        title=title,
        content=content,
        created=now,
        ends=now + seconds if seconds else 0.0,
    )
    with store.database.writing() as session:
        session.add(survey)
    return survey


def survey_of(store: Store, survey_id: str, kind: Kind) -> Survey:
    """Return the survey behind a link, however its code was typed.

    Raises SurveyError where there is none of this kind.
    """
    return _one(store, Survey.id.in_({survey_id, survey_id.upper()}), Survey.kind == kind)


def own_survey(store: Store, owner: str, survey_id: str, kind: Kind | None = None) -> Survey:
    """Return a survey of one's own, of a kind or any. Raises SurveyError, also for another's."""
    wanted = true() if kind is None else Survey.kind == kind
    return _one(store, Survey.id == survey_id, Survey.owner == owner, wanted)


def own_surveys(store: Store, owner: str) -> tuple[Survey, ...]:
    """Return an owner's surveys, newest first."""
    return _surveys(store, Survey.owner == owner)


def answered_surveys(store: Store, visitor: str) -> tuple[Survey, ...]:
    """Return the surveys that a visitor has opened, newest first."""
    opened = select(RespondentRow.survey).where(RespondentRow.visitor == as_token(visitor))
    return _surveys(store, Survey.id.in_(opened))


def _surveys(store: Store, *where: ColumnElement[bool]) -> tuple[Survey, ...]:
    query = select(Survey).where(*where).order_by(Survey.created.desc())
    with store.database.session() as session:
        return tuple(session.scalars(query.options(undefer(Survey.content))))


def _one(store: Store, *where: ColumnElement[bool]) -> Survey:
    for found in _surveys(store, *where):
        return found
    raise SurveyError(UNKNOWN)


def join(store: Store, survey: Survey, visitor: str, nickname: str = "") -> None:
    """Make a visitor a respondent, or change the nickname. Raises SurveyError."""
    token, named = as_token(visitor), " ".join(nickname.split())
    if not token:
        raise SurveyError(NEEDS_TOKEN)
    if len(named) > MAX_NICKNAME:
        raise SurveyError(f"a nickname has at most {MAX_NICKNAME} characters")
    require_open(survey)
    others = respondents(store, survey.id)
    with store.database.session() as session:
        known = session.get(RespondentRow, (survey.id, token))
    if known is None and others >= MAX_RESPONDENTS:
        raise SurveyError(f"{MAX_RESPONDENTS} people take part already, which is the most")
    joined = known.joined if known else time.time()
    row = RespondentRow(survey=survey.id, visitor=token, nickname=named, joined=joined)
    # another page of the same visitor may be quicker
    with suppress(IntegrityError), store.database.writing() as session:
        session.merge(row)


def has_joined(store: Store, survey: Survey, visitor: str) -> bool:
    """Whether a visitor is a respondent."""
    with store.database.session() as session:
        return session.get(RespondentRow, (survey.id, as_token(visitor))) is not None


def require_open(survey: Survey) -> None:
    """Refuse answers to a survey that has ended. Raises SurveyError."""
    if survey.ended:
        raise SurveyError("this has ended; answers are no longer taken")


def require_respondent(store: Store, survey: Survey, visitor: str) -> None:
    """Refuse who has not opened the link of an open survey. Raises SurveyError."""
    require_open(survey)
    if not has_joined(store, survey, visitor):
        raise SurveyError("open the link first: only who holds it takes part")


def respond(store: Store, survey: Survey, visitor: str, answers: Mapping[str, str]) -> None:
    """Store a respondent's answers by item; an item's first answer stays. Raises SurveyError."""
    require_respondent(store, survey, visitor)
    with store.database.writing() as session:
        add_responses(session, survey.id, as_token(visitor), answers)


def add_responses(
    session: Session, survey_id: str, visitor: str, answers: Mapping[str, str]
) -> None:
    """Add answers that are not there yet, within a transaction."""
    for item, answer in answers.items():
        own = {"survey": survey_id, "visitor": visitor, "item": item}
        if session.get(ResponseRow, own) is None:
            session.add(ResponseRow(**own, answer=answer, created=time.time()))


def responses(store: Store, survey_id: str) -> tuple[Response, ...]:
    """Return all answers to a survey, in the order in which they came."""
    answers = select(ResponseRow).where(ResponseRow.survey == survey_id)
    came = ResponseRow.created, ResponseRow.visitor, ResponseRow.item
    with store.database.session() as session:
        # answers first: who joins meanwhile has given none of these
        given = session.scalars(answers.order_by(*came)).all()
        known = numbered(session, survey_id)
    return tuple(
        Response(*known[row.visitor], row.item, row.answer, row.created)
        for row in given
        if row.visitor in known  # else they have just deleted their answers
    )


def numbered(session: Session, survey_id: str) -> dict[str, tuple[int, str]]:
    """Return a survey's respondents by their tokens: number and nickname, as in `Response`."""
    people = select(RespondentRow).where(RespondentRow.survey == survey_id)
    joined = people.order_by(RespondentRow.joined, RespondentRow.visitor)
    members = enumerate(session.scalars(joined), 1)
    return {row.visitor: (number, row.nickname) for number, row in members}


def respondents(store: Store, survey_id: str) -> int:
    """Return how many have opened a survey's link."""
    count = select(func.count()).select_from(RespondentRow)
    with store.database.session() as session:
        return session.scalar(count.where(RespondentRow.survey == survey_id)) or 0


def answers_of(store: Store, survey_id: str, visitor: str) -> dict[str, str]:
    """Return a respondent's own answers by item."""
    theirs = ResponseRow.survey == survey_id, ResponseRow.visitor == as_token(visitor)
    with store.database.session() as session:
        rows = session.scalars(select(ResponseRow).where(*theirs))
        return {row.item: row.answer for row in rows}


def change_survey(store: Store, owner: str, survey_id: str, **values: object) -> None:
    """Change what is asked or shown, or when it ends. Raises SurveyError."""
    own_survey(store, owner, survey_id)
    store.database.write(update(Survey).where(Survey.id == survey_id).values(**values))


def end_survey(store: Store, owner: str, survey_id: str) -> None:
    """Take no more answers. Raises SurveyError."""
    change_survey(store, owner, survey_id, ends=time.time())


def delete_survey(store: Store, owner: str, survey_id: str) -> None:
    """Delete a survey with all its answers. Raises SurveyError."""
    _remove(store, [own_survey(store, owner, survey_id).id])


def delete_answers(store: Store, visitor: str, survey_id: str) -> None:
    """Delete what a visitor answered to a survey, nickname and all. Raises SurveyError.

    What others said of examples that the visitor wrote goes with these.
    """
    if survey_id not in {survey.id for survey in answered_surveys(store, visitor)}:
        raise SurveyError(UNKNOWN)
    token = as_token(visitor)
    own = SubmissionRow.survey == survey_id, SubmissionRow.visitor == token
    written = ResponseRow.item.in_(select(SubmissionRow.key).where(*own))
    store.database.write(
        delete(ResponseRow).where(ResponseRow.survey == survey_id, written),
        *(delete(t).where(t.survey == survey_id, t.visitor == token) for t in ANSWER_TABLES),
    )


def remove_old_surveys(store: Store, before: float) -> None:
    """Remove lessons an hour after their end, and all that was made before a time (0: none)."""
    hour_ago = time.time() - 3600
    over = (Survey.kind == "lesson") & (Survey.ends > 0) & (Survey.ends <= hour_ago)
    old = (Survey.created < before) & (Survey.owner != COMMAND_LINE)
    with store.database.session() as session:
        ids = session.scalars(select(Survey.id).where(or_(over, old))).all()
    _remove(store, ids)


def _remove(store: Store, ids: Sequence[str]) -> None:
    if ids:
        of_surveys = (delete(table).where(table.survey.in_(ids)) for table in ANSWER_TABLES)
        store.database.write(*of_surveys, delete(Survey).where(Survey.id.in_(ids)))


def start_class(store: Store, owner: str, title: str, lesson: str, task: str, model: str) -> Survey:
    """Make a class that fixes lesson, task and model, and ends after a day. Raises SurveyError."""
    content = {"lesson": lesson, "task": task, "model": model}
    return create_survey(store, owner, "lesson", title, content, DAY)


def record_guess(store: Store, survey: Survey, visitor: str, step: str, choice: int) -> None:
    """Keep what a visitor chose at a step, by the number of the choice; the first guess stays.

    Raises SurveyError where the class has ended.
    """
    if not has_joined(store, survey, visitor):
        join(store, survey, visitor)
    respond(store, survey, visitor, {step: str(choice)})


def guesses(store: Store, survey_id: str, step: str, choices: int) -> list[int]:
    """Return how many guessed each choice of a step."""
    counts = Counter(row.answer for row in responses(store, survey_id) if row.item == step)
    return [counts[str(choice)] for choice in range(choices)]
