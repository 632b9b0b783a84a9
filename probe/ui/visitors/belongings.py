"""What belongs to a visitor, kind by kind: opened, taken away, shared and deleted in Mine.

A kind is one row of KINDS; what keeps more for visitors adds its own. What has been kept long
enough goes by itself.
"""

import logging
import shutil
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread

from sqlalchemy import func, select

from probe.errors import RunError, UserError, write_json, writing
from probe.models.library import find
from probe.models.served import is_served
from probe.models.weights import export_model
from probe.runs.access import (
    DAY,
    as_token,
    brought,
    delete_model,
    delete_run,
    forget_opened_links,
    grants,
    is_owner,
    kept_bytes,
    own_run,
    remove_old_runs,
    revoke,
    share,
    stored_bytes,
    take_away,
)
from probe.runs.database import BroughtRow, GrantRow, RespondentRow, RunRow, Survey
from probe.runs.engine import Engine
from probe.runs.experiment import run_json, run_title
from probe.runs.run import OPEN, StoredRun
from probe.runs.store import Store
from probe.settings import settings
from probe.surveys.annotation_results import progress_of, write_files
from probe.surveys.annotation_set import AnnotationSet
from probe.surveys.rounds import Board, Round, own_keys, tries, write_round
from probe.surveys.survey import (
    GUEST_PATHS,
    answered_surveys,
    answers_of,
    delete_answers,
    delete_survey,
    own_survey,
    own_surveys,
    remove_old_surveys,
    respondents,
)
from probe.tasks.task import Task
from probe.text.duration import duration
from probe.ui.html.run import state_in_words, worked
from probe.ui.links import link_to, link_to_guest, link_to_runs
from probe.ui.visitors.visitor_files import (
    StoredFiles,
    check_room,
    delete_files,
    delete_old_files,
    delete_taken,
    files_of,
    folder_of,
    fresh_folder,
    open_upload,
    paths_of,
    upload_called,
)

log = logging.getLogger(__name__)
SWEEP_SECONDS = 300
"""Seconds between two looks for what is too old."""
MEGABYTE = 1_000_000
GONE = "it is not there any more"
PLACES = {"Probe": "", "Measure": "measure", "Train": "train"}
"""Where a model can be opened: the words of the link, and the path of the place."""
HOLDERS = "Whoever has this link"


@dataclass(frozen=True)
class Belonging:
    """One thing of a visitor's.

    `says` is told beside its name, `when` for how long it is kept and how large it is; `far` is the
    share that is done of what is going. `opens` are addresses by the words of their links, `verbs`
    what else can be done with it, by the names of VERBS.
    """

    id: str
    name: str
    says: str
    when: str
    opens: dict[str, str]
    verbs: Sequence[str] = ("delete",)
    far: float | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of belongings: how they are listed, taken away and shared, and what deletes one.

    `gone` is what the button that deletes says, `warning` what goes with it, for the question
    before. `files` writes what a visitor takes away of one into a folder, `link` gives the link
    to one, and who may see it. `more` is where another one is made, and the words that lead there.
    """

    title: str
    none: str
    warning: str
    listed: Callable[[Store, str], list[Belonging]]
    delete: Callable[[Store, Engine, str, str], None]
    files: Callable[[Store, str, str], Sequence[Path]] = lambda store, visitor, which: ()
    link: Callable[[Store, str, str], tuple[str, str]] = lambda store, visitor, which: ("", "")
    gone: str = "Delete"
    more: tuple[str, str] = ("", "")


def moment(seconds: float) -> str:
    """Return a time for people, in the clock of the app's machine."""
    when = datetime.fromtimestamp(seconds)
    today = datetime.now().date()
    near = {timedelta(-1): "yesterday", timedelta(0): "today", timedelta(1): "tomorrow"}
    year = "" if when.year == today.year else f" {when.year}"
    day = near.get(when.date() - today, f"{when.day} {when:%B}{year}")
    return f"{day}, {when:%H:%M}"


def size(count: int) -> str:
    """Return a number of bytes for people."""
    return f"{count / MEGABYTE:.1f} MB" if count >= MEGABYTE / 10 else f"{count / 1000:.1f} kB"


def _files(store: Store, visitor: str) -> list[Belonging]:
    return [
        Belonging(
            files.id,
            ", ".join(files.names),
            _rows(visitor, files) if files.upload else "made here",
            f"until {moment(files.expires)} · {size(files.size)}",
            {"Open": link_to("measure", texts=f"file:{files.id}")} if files.upload else {},
            ("files", "delete"),
        )
        for files in files_of(visitor)
    ]


def _rows(visitor: str, upload: StoredFiles) -> str:
    """Say how many rows an upload has, and when it came."""
    came = f"uploaded {moment(upload.created)}"
    try:
        rows = len(open_upload(visitor, str(upload_called(visitor, upload.id))))
    except UserError:  # Measure says what is wrong with it, and asks
        return f"{came}, waits for how it is read"
    return f"{rows:,} row{'s' * (rows != 1)}, {came}"


def _runs(store: Store, visitor: str) -> list[Belonging]:
    waiting = store.ids(RunRow.state == "queued")
    return [_run(run, waiting) for run in store.runs(visitor)]


def _run(run: StoredRun, waiting: Sequence[str]) -> Belonging:
    going, done, cells = run.state in OPEN, len(run.results), len(run.cells)
    far, when, verbs = None, f"{moment(run.finished or run.created)}{_until(run)}", ["files"]
    if run.state == "queued":
        at = waiting.index(run.id) + 1 if run.id in waiting else 1
        when = f"waits, place {at} in line" if at > 1 else "next in line"
    elif going:
        left = worked(run) / done * (cells - done) if done else 0
        far, when = done / cells, f"{done} of {cells}{f' · {duration(left)} left' * bool(done)}"
    elif bytes_kept := stored_bytes(run):
        when += f" · {size(bytes_kept)}"
    if going:
        verbs = ["stop"]
    elif run.results:
        verbs = ["files", "share", "delete"]
    else:
        verbs = ["share", "delete"]
    words, address = link_to_runs(run.kind, [run.id], run.plan.get("task", ""))
    opens = {"Open": address} if address else {}
    title = run_title(run)
    name = title if title.startswith(words) else f"{words} · {title}"
    return Belonging(run.id, name, state_in_words(run).lower(), when, opens, verbs, far)


def _until(run: StoredRun) -> str:
    days = settings().keep_days
    return f", kept until {moment(run.finished + days * DAY)}" if days and run.finished else ""


def _run_files(store: Store, visitor: str, which: str) -> Sequence[Path]:
    run = own_run(store, visitor, which)
    path = fresh_folder(visitor, taken=True) / f"{run.kind}-{run.id}.json"
    if run.kind in RUN_FILES:
        return RUN_FILES[run.kind](run, path.parent)
    return [write_json(run_json(run), path)]


def _run_link(store: Store, visitor: str, which: str) -> tuple[str, str]:
    run = own_run(store, visitor, which)
    grant = share(store, visitor, which)
    address = link_to_runs(run.kind, [which], run.plan.get("task", ""), [grant])[1]
    return address, f"{HOLDERS} reads the run and uses its model, until you take it back here."


def _models(store: Store, visitor: str) -> list[Belonging]:
    kept = [
        Belonging(
            run.id,
            run.kept,
            f"trained here: {run_title(run)}",
            f"{moment(run.finished or run.created)} · {size(kept_bytes(run.kept))}",
            model_opens(run.kept, run.plan.get("task", "")),
            ("files", "share", "delete"),
        )
        for run in store.runs(visitor)
        if run.kept
    ]

    def origin(address: str) -> str:
        if is_served(address):
            return "at an address"
        return "on disk" if Path(address).is_absolute() else "of the hub"

    return kept + [
        Belonging(
            row.name,
            row.name,
            f"{origin(row.address)}, brought by you",
            f"since {moment(row.created)}",
            model_opens(row.name, row.task),
        )
        for row in brought(store, visitor)
    ]


def model_opens(name: str, task: str) -> dict[str, str]:
    """Return the addresses at which a model is opened, by the words of their links."""
    given = {"task": task} if task else {}
    keys = {"measure": "models"}
    return {
        words: link_to(path, **given, **{keys.get(path, "model"): name})
        for words, path in PLACES.items()
    }


def _delete_model(store: Store, engine: Engine, visitor: str, which: str) -> None:
    if which in {row.name for row in brought(store, visitor)}:
        take_away(store, visitor, which)
    else:
        delete_model(store, visitor, which)


def _model_files(store: Store, visitor: str, which: str) -> Sequence[Path]:
    check_room(store, visitor)
    name = own_run(store, visitor, which).kept
    folder = fresh_folder(visitor, taken=True) / name
    export_model(Path(find(name)), folder)
    return list(folder.iterdir())


def _links(store: Store, visitor: str) -> list[Belonging]:
    runs = {run.id: _run(run, ()) for run in store.runs(visitor)}
    return [
        Belonging(
            grant.id,
            runs[grant.run].name,
            f"opened by {grant.holders} other{'s' * (grant.holders != 1)}",
            f"since {moment(grant.created)}",
            runs[grant.run].opens,
            ("share", "delete"),
        )
        for grant in grants(store, visitor)
        if grant.run in runs
    ]


def _link_again(store: Store, visitor: str, which: str) -> tuple[str, str]:
    run = next(grant.run for grant in grants(store, visitor) if grant.id == which)
    return _run_link(store, visitor, run)


def _surveys(store: Store, visitor: str) -> list[Belonging]:
    return [_survey(store, survey) for survey in own_surveys(store, as_token(visitor))]


def _survey(store: Store, survey: Survey) -> Belonging:
    days, opens = settings().keep_days, link_to("learn", **{"class": survey.id})
    says = f"class, {respondents(store, survey.id)} in it"
    when = f"until {moment(survey.ends)}"
    if survey.kind != "lesson":
        opens = link_to("measure", view="people", task=survey.content["task"], set=survey.id)
        when = f"until {moment(survey.created + days * DAY)}" if days else "until you delete it"
    if survey.kind == "annotation":
        annotated = AnnotationSet(survey)
        texts = sum(not item.control for item in annotated.items.values())
        done = progress_of(store, annotated).share
        says = f"set of {texts:,} texts, {100 * done:.0f} % answered"
    elif survey.kind == "round":
        says = f"round: {Board(tries(store, survey.id)).words}"
    if survey.ended:
        when = f"ended {moment(survey.ends)}"
    verbs = ("files", *(() if survey.ended else ("share", "end")), "delete")
    return Belonging(survey.id, survey.title, says, when, {"Open": opens}, verbs)


def _survey_files(store: Store, visitor: str, which: str) -> Sequence[Path]:
    survey, folder = own_survey(store, visitor, which), fresh_folder(visitor, taken=True)
    if survey.kind == "annotation":
        write_files(store, AnnotationSet(survey), None, folder)
        return list(folder.iterdir())
    if survey.kind == "round":
        write_round(store, Round(survey), folder)
        return list(folder.iterdir())
    return [CLASS_FILES["guesses"](store, survey, folder)]


def _survey_link(store: Store, visitor: str, which: str) -> tuple[str, str]:
    path = GUEST_PATHS[own_survey(store, visitor, which).kind]
    return link_to_guest(path, which), f"{HOLDERS} can answer, on a page without the places."


def _answers(store: Store, visitor: str) -> list[Belonging]:
    return [
        Belonging(
            survey.id,
            survey.title,
            f"{count} answer{'s' * (count != 1)} of yours",
            f"asked {moment(survey.created)}",
            {} if survey.ended else {"Open": link_to_guest(GUEST_PATHS[survey.kind], survey.id)},
        )
        for survey in answered_surveys(store, visitor)
        for written in [own_keys(store, survey.id, visitor)]
        for count in [len(answers_of(store, survey.id, visitor)) + len(written)]
    ]


CLASS_FILES: dict[str, Callable[[Store, Survey, Path], Path]] = {}
"""What writes the guesses of a class into a folder: whoever has the lessons."""
REMEMBERED: dict[str, Callable[[object, Task], list[Belonging]]] = {}
"""What lists what a browser keeps itself, by what it remembers: whoever has the lessons."""
RUN_FILES: dict[str, Callable[[StoredRun, Path], Sequence[Path]]] = {}
"""What writes the files of a run into a folder, by the kind of the run; others are one of JSON."""
KINDS = {
    "runs": Kind(
        "Runs",
        "None yet. What you start in Measure or Train stands here.",
        "Its points, files, model and the links to it go too.",
        _runs,
        delete_run,
        _run_files,
        _run_link,
        more=("New run", "train?aim=inoculate"),
    ),
    "files": Kind(
        "Files",
        "None yet. What you upload in Measure stands here, and what came of it.",
        "The files cannot be downloaded any more.",
        _files,
        lambda store, engine, visitor, which: delete_files(visitor, which),
        lambda store, visitor, which: paths_of(visitor, which),
        more=("Score a file", "measure?texts=file"),
    ),
    "models": Kind(
        "Models",
        "None yet. A finished run can keep its model; Bring a model takes one from elsewhere.",
        "It goes from the lists of models; a run that made it stays, with its points.",
        _models,
        _delete_model,
        _model_files,
        _run_link,
    ),
    "links": Kind(
        "Links that you gave",
        "None yet. Copy link beside a run of yours makes one.",
        "Who opened it can no longer read the run or use its model.",
        _links,
        lambda store, engine, visitor, which: revoke(store, visitor, which),
        link=_link_again,
        gone="Take back",
    ),
    "sets": Kind(
        "Sets and classes",
        "None yet. A set or a round in Ask people and a class in Learn stand here.",
        "All answers to it go too.",
        _surveys,
        lambda store, engine, visitor, which: delete_survey(store, visitor, which),
        _survey_files,
        _survey_link,
    ),
    "answers": Kind(
        "Your answers",
        "None yet. What you answer behind a link stands here.",
        "Your votes, your nickname and what you wrote go; the set or round stays.",
        _answers,
        lambda store, engine, visitor, which: delete_answers(store, visitor, which),
    ),
}
"""The kinds by the name that addresses and buttons have for them."""


def belongings(store: Store, visitor: str) -> dict[str, list[Belonging]]:
    """Return all that belongs to a visitor, by kind, nothing of nobody's. Raises StoreError."""
    known = as_token(visitor)
    return {name: kind.listed(store, visitor) if known else [] for name, kind in KINDS.items()}


def remembered(kept: object, task: Task) -> list[Belonging]:
    """Return what a browser itself remembers, as things of its visitor's."""
    return [row for listed in REMEMBERED.values() for row in listed(kept, task)]


def belonging(store: Store, visitor: str, kind: str, which: str) -> Belonging:
    """Return one thing of a visitor's. Raises RunError where they have none such."""
    for row in KINDS[kind].listed(store, visitor) if kind in KINDS and as_token(visitor) else ():
        if row.id == which:
            return row
    raise RunError(GONE)


def count_of(store: Store, visitor: str) -> int:
    """Return how many things belong to a visitor, without looking into them. Raises StoreError."""
    token = as_token(visitor)
    counted = (
        (RunRow, is_owner(visitor)),
        (RunRow, is_owner(visitor) & (RunRow.kept != "")),
        (BroughtRow, BroughtRow.visitor == token),
        (GrantRow, GrantRow.owner == token),
        (Survey, Survey.owner == token),
        (RespondentRow, RespondentRow.visitor == token),
    )
    queries = [select(func.count()).select_from(table).where(of) for table, of in counted]
    with store.database.session() as session:
        return len(files_of(visitor)) + sum(session.scalar(query) or 0 for query in queries)


def download(store: Store, visitor: str, kind: str, row: Belonging) -> Path:
    """Return the file that a visitor takes away of a thing; several are packed into one.

    Raises a UserError where they cannot be written.
    """
    paths = KINDS[kind].files(store, visitor, row.id)
    if len(paths) == 1:
        return paths[0]
    packed = fresh_folder(visitor, taken=True) / f"{kind}-{datetime.now():%Y-%m-%d}.zip"
    with writing(packed), zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.write(path, path.name)
    if kind != "files":  # what was written to be packed alone
        for name in {path.relative_to(folder_of(visitor)).parts[0] for path in paths}:
            shutil.rmtree(folder_of(visitor) / name)
    return packed


def delete(store: Store, engine: Engine, visitor: str, kind: str, which: str) -> None:
    """Delete one thing of a visitor's. Raises a UserError where a visitor has none such."""
    belonging(store, visitor, kind, which)
    KINDS[kind].delete(store, engine, visitor, which)
    delete_taken(visitor)  # of it too


def delete_all(store: Store, engine: Engine, visitor: str) -> None:
    """Delete all that belongs to a visitor, and forget which links they opened."""
    for kind in KINDS.values() if as_token(visitor) else ():
        for row in kind.listed(store, visitor):  # without what went with the kinds before
            kind.delete(store, engine, visitor, row.id)
    delete_taken(visitor)
    forget_opened_links(store, visitor)


def remove_old(store: Store) -> None:
    """Remove the files, runs and surveys that are too old, and what is left of deleted runs."""
    try:
        delete_old_files()
        remove_old_runs(store)
        days = settings().keep_days
        remove_old_surveys(store, time.time() - days * DAY if days else 0.0)
    except UserError as problem:  # the database may be back at the next look
        log.error("what is too old could not be removed: %s", problem)
    except OSError:  # the disk too
        log.exception("what is too old could not be removed")


def remove_old_regularly(store: Store) -> None:
    """Look from now on, in a thread that ends with the app; several apps may look at once."""

    def look() -> None:
        while True:
            remove_old(store)
            time.sleep(SWEEP_SECONDS)

    Thread(target=look, daemon=True, name="expiry").start()
