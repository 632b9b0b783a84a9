"""Rounds of adversarial writing: people write what a model gets wrong, and others confirm it.

As in ANLI (Nie et al. 2020, 2): who writes an example says its label and sees the model's answer.
Where the two differ the example goes to others, who see neither. It is confirmed once two of them
give the author's label, and dismissed once two do not; of one and one a third decides.
"""

import hashlib
import json
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from probe.analysis.confusion import estimate_json
from probe.data.rows import NO_RECORD, require_text
from probe.data.writers import Output
from probe.errors import ArgumentError, SurveyError, write_json
from probe.limits import visitor_bounds
from probe.models.bundled import title_of
from probe.models.library import AnyModel
from probe.models.prediction import Prediction
from probe.runs.access import as_token
from probe.runs.database import SubmissionRow, Survey
from probe.runs.run import Json
from probe.runs.store import Store
from probe.statistics import Drawn, Estimate, clustered, share
from probe.surveys.annotation_results import fleiss_kappa
from probe.surveys.survey import (
    answers_of,
    create_survey,
    numbered,
    require_respondent,
    respond,
    responses,
    survey_of,
)
from probe.tasks.task import TASKS, Label, Task

MAX_TRIES, MAX_OWN, MAX_GIVEN = 1_000, 100, 500
"""Examples of one round, those of one respondent, and texts that are given to write to."""
NEEDED = 2
"""So many others have to give the author's label."""
FEWEST_TRAINED = 10
"""Confirmed examples with which Train begins: half of them are trained on, half tested on."""
UNCLEAR = "not clear"
NOT_FOOLED, OPEN, CONFIRMED, DISMISSED = "not fooled", "open", "confirmed", "dismissed"


class Round:
    """A survey in which people write examples against one model.

    `given` are the texts of the task's source of which each author is given one, none where they
    write all texts; `answers` what those who confirm choose from.
    """

    def __init__(self, survey: Survey) -> None:
        """Read a survey's content."""
        self.survey, content = survey, survey.content
        self.task: Task = TASKS[content["task"]]
        self.model: str = content["model"]
        self.given: Sequence[str] = content["given"]
        self.answers: tuple[str, ...] = (*self.task.labels, UNCLEAR)


@dataclass(frozen=True)
class Try:
    """An example that somebody wrote, the model's answer, and what others said, the first first.

    `author` and `nickname` are as in `Response`; `weights` is the hash of the model that answered,
    "" where it is not known.
    """

    key: str
    author: int
    nickname: str
    texts: Mapping[str, str]
    label: Label
    answer: Label
    probabilities: Mapping[Label, float]
    weights: str
    fooled: bool
    created: float
    votes: tuple[str, ...] = ()

    @property
    def counted(self) -> tuple[str, ...]:
        """The votes that decide: the first two, or three where those say both."""
        first = self.votes[:NEEDED]
        same = len({vote == self.label for vote in first}) < NEEDED
        return first if same else self.votes[: NEEDED + 1]

    @cached_property
    def status(self) -> str:
        """Whether it fooled the model, and what became of it then."""
        agreeing = sum(vote == self.label for vote in self.counted)
        if not self.fooled:
            return NOT_FOOLED
        if NEEDED in (agreeing, len(self.counted) - agreeing):
            return CONFIRMED if agreeing == NEEDED else DISMISSED
        return OPEN


@dataclass(frozen=True)
class Author:
    """What a respondent has written so far: how many examples, and what became of them."""

    number: int
    nickname: str
    tried: int
    fooled: int
    confirmed: int


@dataclass(frozen=True)
class Board:
    """What a round has come to: its authors, who has most confirmed first, and the shares.

    `fooled` is of all tries, its interval over authors, whose tries go alike; `confirmed` of those
    that are decided.
    """

    tries: Sequence[Try]

    @cached_property
    def authors(self) -> list[Author]:
        """Those who have tried."""
        own = defaultdict[int, list[Try]](list)
        for each in self.tries:
            own[each.author].append(each)
        rows = [
            Author(
                *(number, tries[0].nickname, len(tries), sum(each.fooled for each in tries)),
                sum(each.status == CONFIRMED for each in tries),
            )
            for number, tries in own.items()
        ]
        return sorted(rows, key=lambda row: (-row.confirmed, -row.fooled, row.tried, row.number))

    @cached_property
    def statuses(self) -> Counter[str]:
        """How many tries have which status."""
        return Counter(each.status for each in self.tries)

    @property
    def words(self) -> str:
        """How far the round is."""
        fooled = sum(each.fooled for each in self.tries)
        confirmed = self.statuses[CONFIRMED]
        return f"{len(self.tries):,} tried, {fooled:,} fooled it, {confirmed:,} confirmed"

    @property
    def fooled(self) -> Estimate:
        """The share of tries that fooled the model."""
        return clustered([Drawn("", each.number, each.fooled, each.tried) for each in self.authors])

    @property
    def confirmed(self) -> Estimate:
        """The share of confirmed ones among those that fooled it and are decided."""
        decided = [each.status for each in self.tries if each.status in (CONFIRMED, DISMISSED)]
        return share([status == CONFIRMED for status in decided])

    @cached_property
    def agreement(self) -> tuple[float, int]:
        """Fleiss' kappa of the first two votes, NaN where chance agrees too, and of how many."""
        pairs = [Counter(each.votes[:NEEDED]) for each in self.tries if len(each.votes) >= NEEDED]
        answers = sorted({vote for pair in pairs for vote in pair})
        return fleiss_kappa([[pair[answer] for answer in answers] for pair in pairs]), len(pairs)


def start_round(
    store: Store, owner: str, task: Task, model: str, examples: Sequence[Any] = (),
    title: str = "", seed: int = 0,
) -> Round:  # fmt: skip
    """Store a round. Of `examples` the texts of the task's source are given to write to.

    More than MAX_GIVEN of them are drawn by the seed. Raises SurveyError, ArgumentError.
    """
    if not task.labels:
        raise ArgumentError(f"{task.title} has no labels that people could give")
    if examples and not task.source:
        raise ArgumentError(f"{task.title} has no text that could be given to write to")
    given = list(dict.fromkeys(_plain(getattr(each, task.source or "")) for each in examples))
    if len(given) > MAX_GIVEN:
        given = random.Random(f"{seed}|given").sample(given, MAX_GIVEN)
    content = {"task": task.name, "model": model, "given": given}
    named = title or f"Fool {title_of(model)}"
    return Round(create_survey(store, owner, "round", named, content))


def _plain(text: str) -> str:
    """Return a text with single blanks: fields of a page keep no others for certain."""
    return " ".join(text.split())


def round_of(store: Store, survey_id: str) -> Round:
    """Return the round behind a link. Raises SurveyError."""
    return Round(survey_of(store, survey_id, "round"))


def tries(store: Store, survey_id: str) -> tuple[Try, ...]:
    """Return all that was written, in the order in which it came."""
    row = SubmissionRow  # its columns alone: pages that wait ask every few seconds
    written = select(row.visitor, row.key, row.content, row.fooled, row.created)
    own = written.where(row.survey == survey_id).order_by(row.created, row.key)
    with store.database.session() as session:
        rows = session.execute(own).all()
        people = numbered(session, survey_id)
    votes = defaultdict[str, list[str]](list)
    for response in responses(store, survey_id):
        votes[response.item].append(response.answer)
    return tuple(
        Try(
            *(key, *people[visitor]), **content, fooled=fooled, created=created,
            votes=tuple(votes[key]),
        )
        for visitor, key, content, fooled, created in rows
        if visitor in people  # else they have just deleted what they wrote
    )  # fmt: skip


def own_keys(store: Store, survey_id: str, visitor: str) -> set[str]:
    """Return the keys of what a respondent wrote."""
    own = SubmissionRow.survey == survey_id, SubmissionRow.visitor == as_token(visitor)
    with store.database.session() as session:
        return set(session.scalars(select(SubmissionRow.key).where(*own)))


def submit_try(
    store: Store, wanted: Round, visitor: str, texts: Mapping[str, str], label: Label,
    classifier: AnyModel, weights: str = "",
) -> tuple[Prediction, bool]:  # fmt: skip
    """Have the model answer what a respondent wrote, and store both; return whether it was fooled.

    Raises SurveyError for what the round does not take, ExampleError or LimitError for the texts.
    """
    survey, task = wanted.survey, wanted.task
    require_respondent(store, survey, visitor)
    typed = {field: texts.get(field, "").strip() for field in task.fields}
    example = task.example(**typed)
    require_text(task, example, visitor_bounds())
    if wanted.given and _plain(typed[task.source or ""]) not in wanted.given:
        title = task.title_of(task.source or "").lower()
        raise SurveyError(f"this {title} is none of those that are given; ask for another one")
    if label not in task.labels:
        raise SurveyError("say first which answer is right")
    alike = json.dumps([_plain(text.casefold()) for text in typed.values()])
    key = hashlib.sha256(alike.encode()).hexdigest()
    known = tries(store, survey.id)
    twice = SurveyError(f"this {task.unit} is written already; change a word at least")
    if any(each.key == key for each in known):
        raise twice
    if len(known) >= MAX_TRIES:
        raise SurveyError(f"this round holds {MAX_TRIES:,} {task.unit}s, which is the most")
    if len(own_keys(store, survey.id, visitor)) >= MAX_OWN:
        raise SurveyError(f"this is the most that one can write here: {MAX_OWN} {task.unit}s")
    (said,) = classifier.predict([example])
    fooled = not task.matches(said.label, label)
    row = SubmissionRow(
        survey=survey.id,
        key=key,
        visitor=as_token(visitor),
        content={
            **{"texts": typed, "label": label, "answer": said.label},
            **{"probabilities": said.by_label, "weights": weights},
        },
        fooled=fooled,
        created=time.time(),
    )
    try:
        with store.database.writing() as session:
            session.add(row)
    except IntegrityError:
        raise twice from None  # another one was quicker
    return said, fooled


def next_to_confirm(
    store: Store, wanted: Round, visitor: str, written: Sequence[Try]
) -> Try | None:
    """Return an open try of somebody else's of which a respondent has said nothing, or None.

    Each respondent has an order of their own, so that many at once do not judge the same one.
    `written` are the tries of the round.
    """
    survey, token = wanted.survey, as_token(visitor)
    passed = own_keys(store, survey.id, visitor) | set(answers_of(store, survey.id, visitor))

    def order(each: Try) -> bytes:
        return hashlib.sha256(f"{token}{each.key}".encode()).digest()

    waiting = (each for each in written if each.status == OPEN and each.key not in passed)
    return min(waiting, key=order, default=None)


def confirm(store: Store, wanted: Round, visitor: str, key: str, answer: str) -> None:
    """Store what a respondent says of another's try; the first answer stays. Raises SurveyError."""
    there = {each.key for each in tries(store, wanted.survey.id) if each.fooled}
    if key not in there - own_keys(store, wanted.survey.id, visitor):
        raise SurveyError(f"this {wanted.task.unit} is not there to be confirmed by you")
    if answer not in wanted.answers:
        raise SurveyError("this is none of the answers")
    respond(store, wanted.survey, visitor, {key: answer})


def round_json(wanted: Round, board: Board) -> Json:
    """Return what a round has come to, for a file."""
    kappa, kappa_n = board.agreement
    return {
        "task": wanted.task.name,
        "model": wanted.model,
        "weights": sorted({each.weights for each in board.tries} - {""}),
        "tries": {"all": len(board.tries), **board.statuses},
        "fooled": estimate_json(board.fooled),
        "confirmed": estimate_json(board.confirmed),
        "kappa": None if math.isnan(kappa) else kappa,
        "kappa_tries": kappa_n,
        "authors": [vars(each) for each in board.authors],
    }


def write_tries(wanted: Round, written: Sequence[Try], path: Path, guard: bool = False) -> Path:
    """Write tries as rows; `label` is the author's where it is confirmed, else there is none.

    So whoever reads the file takes for gold what two others have confirmed, and nothing else.
    Raises FileError.
    """
    labels = sorted({label for each in written for label in each.probabilities})
    scores = [f"probability_{label}" for label in labels]
    names = [
        *wanted.task.fields, "label", "status", "author_says", "others_say", "model",
        "model_weights", "model_says", *scores, "author", "nickname", "sent (UTC)",
    ]  # fmt: skip
    out = Output(path, names, guard=guard)
    for each in written:
        values = [
            *each.texts.values(), each.label if each.status == CONFIRMED else None, each.status,
            each.label, "; ".join(each.votes), wanted.model, each.weights, each.answer,
            *map(each.probabilities.get, labels), each.author, each.nickname,
            time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(each.created)),
        ]  # fmt: skip
        out.write([(NO_RECORD, values)])
    out.finish()
    return path


def write_round(store: Store, wanted: Round, folder: Path) -> Json:
    """Write tries.csv, whose texts no spreadsheet computes, tries.jsonl and results.json.

    Return the results. Raises FileError.
    """
    board = Board(tries(store, wanted.survey.id))
    write_tries(wanted, board.tries, folder / "tries.csv", guard=True)
    write_tries(wanted, board.tries, folder / "tries.jsonl")
    found = round_json(wanted, board)
    write_json(found, folder / "results.json")
    return found
