"""What belongs to a visitor, kind by kind: listed with its size and expiry, and deleted.

A kind is one row of KINDS; what keeps more for visitors adds its own.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from probe.errors import RunError
from probe.runs.access import (
    DAY,
    as_token,
    delete_model,
    delete_run,
    forget_opened_links,
    grants,
    kept_bytes,
    revoke,
    stored_bytes,
)
from probe.runs.database import Survey
from probe.runs.engine import Engine
from probe.runs.experiment import run_title
from probe.runs.run import StoredRun
from probe.runs.store import Store
from probe.settings import settings
from probe.surveys.survey import (
    answered_surveys,
    delete_answers,
    delete_survey,
    own_surveys,
)
from probe.ui.visitors.visitor_files import delete_files, files_of


@dataclass(frozen=True)
class Belonging:
    """One thing of a visitor's.

    `size` is in bytes, None where it takes no room worth naming; `expires` says when it goes.
    """

    id: str
    name: str
    size: int | None
    created: float
    expires: str


@dataclass(frozen=True)
class Kind:
    """A kind of belongings: how they are listed, and what deleting one of them does.

    `verb` is what the button says; `warning` what goes with it, for the question before.
    """

    title: str
    none: str
    verb: str
    warning: str
    listed: Callable[[Store, str], Sequence[Belonging]]
    delete: Callable[[Store, Engine, str, str], None]


def moment(seconds: float) -> str:
    """Return a time for people, in the clock of the app's machine."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _run_expires(run: StoredRun) -> str:
    days = settings().keep_days
    if days is None:
        return "when you delete it"
    return moment(run.finished + days * DAY) if run.finished else f"{days} days after its end"


def _files(store: Store, visitor: str) -> list[Belonging]:
    return [
        Belonging(
            files.id, ", ".join(files.names), files.size, files.created, moment(files.expires)
        )
        for files in files_of(visitor)
    ]


def _runs(store: Store, visitor: str) -> list[Belonging]:
    return [
        Belonging(
            run.id,
            f"{run_title(run)} ({run.state})",
            stored_bytes(run) or None,
            run.created,
            _run_expires(run),
        )
        for run in _own(store, visitor)
    ]


def _models(store: Store, visitor: str) -> list[Belonging]:
    return [
        Belonging(
            run.id, run.kept, kept_bytes(run.kept), run.finished or run.created, _run_expires(run)
        )
        for run in _own(store, visitor)
        if run.kept
    ]


def _links(store: Store, visitor: str) -> list[Belonging]:
    titles = {run.id: run_title(run) for run in _own(store, visitor)}
    return [
        Belonging(
            grant.id,
            f"{titles[grant.run]}, opened by {grant.holders} others",
            None,
            grant.created,
            "with its run, or when you take it back",
        )
        for grant in grants(store, visitor)
    ]


def _surveys(store: Store, visitor: str) -> list[Belonging]:
    return [_survey(survey) for survey in own_surveys(store, as_token(visitor))]


def _answers(store: Store, visitor: str) -> list[Belonging]:
    return [_survey(survey) for survey in answered_surveys(store, visitor)]


def _survey(survey: Survey) -> Belonging:
    days = settings().keep_days
    expires = "when you delete it"
    if survey.kind == "lesson":
        expires = moment(survey.ends)
    elif days is not None:
        expires = moment(survey.created + days * DAY)
    return Belonging(survey.id, survey.title, None, survey.created, expires)


def _own(store: Store, visitor: str) -> tuple[StoredRun, ...]:
    return store.runs(visitor) if as_token(visitor) else ()


KINDS = {
    "file": Kind(
        "Files",
        "None yet. What you upload in Batch or Compare stands here, with its results.",
        "Delete",
        "The files cannot be downloaded any more.",
        _files,
        lambda store, engine, visitor, which: delete_files(visitor, which),
    ),
    "run": Kind(
        "Runs",
        "None yet. What you start in Batch, Compare, Inoculate, Repair or Generalise stands here.",
        "Delete",
        "Its points, files, model and the links to it go too; one that is going is cancelled.",
        _runs,
        delete_run,
    ),
    "model": Kind(
        "Inoculated models",
        "None yet. A finished run can keep its model.",
        "Delete",
        "Its run and the run's points stay.",
        _models,
        lambda store, engine, visitor, which: delete_model(store, visitor, which),
    ),
    "link": Kind(
        "Links that you gave",
        "None yet. Copy link beside a run of yours makes one.",
        "Take back",
        "Who opened it can no longer read the run or use its model.",
        _links,
        lambda store, engine, visitor, which: revoke(store, visitor, which),
    ),
    "survey": Kind(
        "Sets and classes that you made",
        "None yet. A set in Annotate and a class in Learn stand here.",
        "Delete",
        "All answers to it go too.",
        _surveys,
        lambda store, engine, visitor, which: delete_survey(store, visitor, which),
    ),
    "answers": Kind(
        "Your answers to sets and lessons",
        "None yet. What you answer behind a link stands here.",
        "Delete",
        "Your votes and your nickname go; the set stays.",
        _answers,
        lambda store, engine, visitor, which: delete_answers(store, visitor, which),
    ),
}
"""The kinds by the name that the page's buttons have for them."""


def belongings(store: Store, visitor: str) -> dict[str, Sequence[Belonging]]:
    """Return all that belongs to a visitor, by kind. Raises StoreError."""
    return {name: kind.listed(store, visitor) for name, kind in KINDS.items()}


def delete(store: Store, engine: Engine, visitor: str, kind: str, which: str) -> None:
    """Delete one thing of a visitor's. Raises a UserError where a visitor has none such."""
    if kind not in KINDS:
        raise RunError("nothing of this kind is kept")
    KINDS[kind].delete(store, engine, visitor, which)


def delete_all(store: Store, engine: Engine, visitor: str) -> None:
    """Delete all that belongs to a visitor, and forget which links they opened."""
    for kind in KINDS.values():
        for belonging in kind.listed(store, visitor):
            kind.delete(store, engine, visitor, belonging.id)
    forget_opened_links(store, visitor)
