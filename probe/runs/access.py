"""Who may see a run: its owner, and who holds a link that the owner gave.

Reading by a link is all that it allows. What a visitor may not see is answered as what does not
exist, in as much time: nobody learns what is here.
"""

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock, Thread
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, delete, false, func, not_, or_, select, true, update
from sqlalchemy.exc import IntegrityError

from probe.errors import ModelError, StoreError, UnknownRun, UserError
from probe.limits import check
from probe.models.bundled import BUNDLED
from probe.models.errors import UnclearLabels
from probe.models.library import (
    AnyModel,
    LoadedModel,
    ModelCache,
    Opened,
    entries,
    model_folders,
    require_on_disk,
    require_open,
    served_names,
    task_of_model,
)
from probe.models.prediction_file import ANSWERS_OF
from probe.runs.database import BroughtRow, CellRow, GrantHolderRow, GrantRow, RunRow
from probe.runs.engine import Engine
from probe.runs.experiment import EXPERIMENTS, experiment_of
from probe.runs.models import remove_model_files
from probe.runs.run import RunRequest, StoredRun, ended
from probe.runs.store import IS_OPEN, Store
from probe.settings import make_home, settings
from probe.tasks.nli import NLI
from probe.tasks.task import TASKS, Label, Task, offered_tasks

DAY = 86_400
"""Seconds of a day."""
COMMAND_LINE = "command line"
"""The owner of the runs of the command line, whose user owns the machine."""
SCORED_HERE = "scored here"
"""Marks among its artefacts a file that was scored in the answer to a press: it takes no worker, so
that it is none of the runs that a visitor may start in a day."""
TOKEN = re.compile("[0-9a-f]{32}")
_starting = Lock()
"""Two pages of one owner may start runs at once: the second counts those of the first."""


def new_owner() -> str:
    """Return a token for a browser that has none."""
    return secrets.token_hex(16)


def as_token(owner: object) -> str:
    """Return what a browser says its token is, "" where it is none.

    Other owners have names, such as COMMAND_LINE: nobody is them by saying so.
    """
    return owner if isinstance(owner, str) and TOKEN.fullmatch(owner) else ""


def browser_secret() -> str:
    """Return the key that seals a browser's token, the same after a restart."""
    path = settings().home / "browser-secret"
    if not path.exists():
        make_home()
        with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            try:
                os.link(file.name, path)
            except FileExistsError:
                pass  # another app on this home has made one meanwhile
            except OSError:  # a disk without second names of a file
                shutil.copy(file.name, path)
    return path.read_text(encoding="utf-8")


def start_runs(
    store: Store, engine: Engine, owner: str, requests: Sequence[RunRequest]
) -> tuple[StoredRun, ...]:
    """Store a run for each request and hand them to the engine.

    Where runs of the owner's, open and not to be stopped, compute all of this already, they are
    returned: a button that is pressed twice starts its runs once. What the command line starts goes
    through no limit, nor through here.

    About how long each takes is measured beside its first steps, and kept with it; 0 until then.

    Raises LimitError where the owner asks for too much, StoreError, and ExperimentError for an
    unknown kind.
    """

    # in one process it would disturb the chance of what is trained
    told = {} if engine.in_process else {"seconds": 0.0}
    asked = [
        replace(each, artefacts={**told, **each.artefacts}) if each.seconds else each
        for each in requests
    ]

    def measure() -> None:
        for run, request in zip(runs, requests, strict=True):
            if request.seconds and run.artefacts.get("seconds") == 0:
                seconds = None
                with suppress(UserError):  # no time is said of it then
                    seconds = round(request.seconds(), 1)
                with suppress(UserError):  # deleted meanwhile, or no database
                    store.add_artefacts(run.id, {"seconds": seconds})

    with _starting:
        own = RunRow.owner == owner
        going = [run for run in store.runs_where(own, IS_OPEN) if not run.cancelling]
        under_way = []
        for request in requests:
            alike = experiment_of(request.kind).alike
            plan, inputs = json.loads(json.dumps([request.plan, request.inputs]))  # as stored
            under_way += [
                run
                for run in going
                if run.kind == request.kind
                and alike(run.plan, plan)
                and store.inputs(run.id) == inputs
            ][:1]
        if len(under_way) == len(requests):
            return tuple(under_way)
        for request in requests:
            check("max_cells", len(experiment_of(request.kind).cells(request.plan)))
        today = RunRow.created >= time.time() - DAY
        by_engine = RunRow.artefacts[SCORED_HERE].as_boolean().is_not(true())
        for limit, counted in {
            "max_open_runs": (own, IS_OPEN),
            "max_runs_a_day": (own, today, by_engine),
            "max_all_open_runs": (IS_OPEN,),
        }.items():
            check(limit, len(store.ids(*counted)) + len(requests))
        runs = tuple(store.create(owner, each) for each in asked)
    for run in runs:
        engine.submit(run.id)
    Thread(target=measure, daemon=True).start()
    return runs


class Grant(NamedTuple):
    """A link to a run, given by its owner; `holders` counts the visitors who opened it."""

    id: str
    run: str
    created: float
    holders: int


def is_owner(visitor: str) -> ColumnElement[bool]:
    """Return the condition of the runs that are a visitor's own; without a token none are."""
    token = as_token(visitor)
    return RunRow.owner == token if token else false()


def granted_runs(visitor: str) -> Select[Any]:  # Any: as of SQLAlchemy
    """Return the query of the runs whose links a visitor has opened."""
    held = select(GrantHolderRow.grant).where(GrantHolderRow.visitor == as_token(visitor))
    return select(GrantRow.run).where(GrantRow.id.in_(held))


def own_run(store: Store, visitor: str, run_id: str) -> StoredRun:
    """Return a visitor's own run. Raises UnknownRun."""
    return store.get(run_id, is_owner(visitor))


def readable_run(store: Store, visitor: str, run_id: str) -> StoredRun:
    """Return a run that is a visitor's own or behind a link that they opened. Raises UnknownRun."""
    return store.get(run_id, _readable(visitor))


def readable_runs(store: Store, visitor: str, kind: str) -> tuple[StoredRun, ...]:
    """Return the runs of a kind that a visitor may read, newest first, without their cells."""
    return store.runs_where(_readable(visitor), RunRow.kind == kind, with_cells=False)


def chosen_runs(store: Store, visitor: str, ids: Sequence[str]) -> list[StoredRun]:
    """Return the runs that a visitor may read, in the order of the ids; others are passed over."""
    runs = {run.id: run for run in store.runs_where(_readable(visitor), RunRow.id.in_(ids))}
    return [runs[run_id] for run_id in dict.fromkeys(ids) if run_id in runs]


def _readable(visitor: str) -> ColumnElement[bool]:
    return or_(is_owner(visitor), RunRow.id.in_(granted_runs(visitor)))


def share(store: Store, visitor: str, run_id: str) -> str:
    """Return the grant by which others may read an own run, one for each run. Raises UnknownRun."""
    own_run(store, visitor, run_id)
    for given in grants(store, visitor):
        if given.run == run_id:
            return given.id
    grant = secrets.token_urlsafe(16)
    with store.database.writing() as session:
        session.add(GrantRow(id=grant, run=run_id, owner=visitor, created=time.time()))
    return grant


def redeem(store: Store, visitor: str, grant: str) -> str:
    """Let a visitor read the run of a link from now on; return its id. Raises UnknownRun."""
    with store.database.session() as session:
        row = session.get(GrantRow, grant)
    if row is None or not as_token(visitor):
        raise UnknownRun("there is no run behind this link")
    if row.owner != visitor:
        # another page of the same visitor may be quicker
        with suppress(IntegrityError), store.database.writing() as session:
            session.merge(GrantHolderRow(grant=grant, visitor=visitor))
    return row.run


def grants(store: Store, visitor: str) -> tuple[Grant, ...]:
    """Return the links that a visitor gave, newest first."""
    holders = select(func.count()).where(GrantHolderRow.grant == GrantRow.id).scalar_subquery()
    rows = select(GrantRow.id, GrantRow.run, GrantRow.created, holders)
    own = rows.where(GrantRow.owner == as_token(visitor)).order_by(GrantRow.created.desc())
    with store.database.session() as session:
        return tuple(Grant(*row) for row in session.execute(own))


def revoke(store: Store, visitor: str, grant: str) -> None:
    """Take a link back: who opened it reads the run no longer. Raises UnknownRun."""
    if grant not in {given.id for given in grants(store, visitor)}:
        raise UnknownRun("there is no run behind this link")
    _delete_grants(store, GrantRow.id == grant)


def _delete_grants(store: Store, which: ColumnElement[bool]) -> None:
    ids = select(GrantRow.id).where(which)
    store.database.write(
        delete(GrantHolderRow).where(GrantHolderRow.grant.in_(ids)),
        delete(GrantRow).where(which),
    )


def forget_opened_links(store: Store, visitor: str) -> None:
    """Forget which links a visitor has opened."""
    opened = GrantHolderRow.visitor == as_token(visitor)
    store.database.write(delete(GrantHolderRow).where(opened))


@dataclass(frozen=True)
class ModelAccess:
    """The models of the page, each for who may use it.

    A model of the hub or a folder that one visitor opened can be named by all others.
    """

    cache: ModelCache
    store: Store

    def names(self, visitor: str, task: Task = NLI) -> list[str]:
        """Return the models that a visitor can choose for a task: on disk, and brought by them.

        While the run database cannot be read, whose the others are is not known: the bundled ones.
        """
        here = [entry for entry in entries() if entry.task is None or asks_alike(entry.task, task)]
        try:
            hidden, own = hidden_models(self.store, visitor), brought(self.store, visitor)
        except StoreError:
            return [entry.name for entry in here if entry.source == "bundled"]
        named = [row.name for row in own if asks_alike(TASKS[row.task], task)]
        served = [name for name, own in served_names().items() if asks_alike(own, task)]
        on_disk = [entry.name for entry in here if entry.name not in hidden]
        return [*on_disk, *served, *(name for name in named if name not in served)]

    def task(self, visitor: str, name: str) -> Task:
        """Return the task of a model on disk that a visitor can choose; inference for any other."""
        known = offered_tasks() if name else ()
        return next((task for task in known if name in self.names(visitor, task)), NLI)

    def share(self, visitor: str, name: str) -> str:
        """Return the grant by which others may use a model, "" where it is not a run's own one."""
        own = RunRow.kept == name, RunRow.kept != "", is_owner(visitor)
        with self.store.database.session() as session:
            run_id = session.scalar(select(RunRow.id).where(*own))
        return share(self.store, visitor, run_id) if run_id else ""

    def require(self, visitor: str, name: str) -> None:
        """Refuse a model that is not there or not for this visitor. Raises ModelError."""
        if name.startswith(ANSWERS_OF):
            raise ModelError(
                "a file holds answers to its own texts alone, and this asks a model: choose one"
            )
        if name not in BUNDLED and not self.cache.opened(name):
            self._remember(name)
        self.cache.require(name, () if name in BUNDLED else hidden_models(self.store, visitor))

    def _remember(self, name: str) -> None:
        """Know again how a model is read that somebody brought before the app was started."""
        with self.store.database.session() as session:
            row = session.scalars(select(BroughtRow).where(BroughtRow.name == name)).first()
        if row:
            require_open(row.address)
            labels = tuple(row.labels["order"]) or None
            self.cache.remember(name, Opened(row.address, labels, row.template))

    def for_run(self, visitor: str, name: str) -> tuple[Task, Opened]:
        """Return a model's task, and how a run's workers read it, brought or not.

        Raises ModelError for one that is not there or not for this visitor.
        """
        self.require(visitor, name)
        with self.store.database.session() as session:
            row = session.scalars(select(BroughtRow).where(BroughtRow.name == name)).first()
        if row is None or name in {entry.name for entry in entries()}:
            return task_of_model(name), Opened(name)
        order = row.labels["order"] if row.labels["given"] else ()
        return TASKS[row.task], Opened(row.address, tuple(order) or None, row.template)

    def get(self, visitor: str, name: str, task: Task = NLI) -> AnyModel:
        """Return a model, loaded. Raises ModelError, also for one of another task."""
        self.require(visitor, name)
        return require_task(self.cache.get(name), task)

    def open(
        self,
        visitor: str,
        name: str,
        order: tuple[Label, ...] | None = None,
        task: Task = NLI,
        template: str = "",
    ) -> LoadedModel:
        """Load the model that a visitor named: of the hub, a folder, here. Raises ModelError."""
        hidden = hidden_models(self.store, visitor)
        require_open(name, hidden)
        path = Path(name).resolve() if Path(name).is_absolute() else Path()
        folders = {folder.resolve() for folder in model_folders().values()}
        here = path.name if path.parent in folders else name
        if here == Path(here).name:  # neither a hub's owner/name nor the path of a folder
            self.cache.require(here, hidden)
        try:
            opened = self.cache.open(here, order, task, template)
        except UnclearLabels as unclear:
            alike = [own for own in TASKS.values() if asks_alike(own, task)]
            if len(unclear.outputs) in {len(own.labels) for own in alike}:
                raise
            raise ModelError(
                f"the model {name!r} has {len(unclear.outputs)} outputs, and "
                f"{task.title.lower()} has the labels {', '.join(task.labels)}; choose its task, "
                "or another model"
            ) from unclear
        require_task(opened.model, task)
        self._note(visitor, opened.model, given=bool(order or template))
        return opened

    def _note(self, visitor: str, model: AnyModel, given: bool) -> None:
        """Let a model that a visitor brought stand in their lists. Raises StoreError."""
        how = self.cache.opened(model.name)
        if not as_token(visitor) or how is None or model.name in {each.name for each in entries()}:
            return
        row = BroughtRow(
            visitor=visitor, name=model.name, address=how.address, task=model.task.name,
            labels={"order": how.labels or (), "given": given}, template=how.template,
            created=time.time(),
        )  # fmt: skip
        with suppress(IntegrityError), self.store.database.writing() as session:
            session.merge(row)


def brought(store: Store, visitor: str) -> tuple[BroughtRow, ...]:
    """Return the models of the hub and the folders that a visitor brought, newest first."""
    own = BroughtRow.visitor == as_token(visitor)
    with store.database.session() as session:
        return tuple(
            session.scalars(select(BroughtRow).where(own).order_by(BroughtRow.created.desc()))
        )


def require_for_runs(store: Store, visitor: str, name: str) -> None:
    """Refuse a model with which a visitor can start no run. Raises ModelError.

    One that was brought has to be read as its config and its name say: a run's workers know no
    more.
    """
    with store.database.session() as session:
        row = session.scalars(select(BroughtRow).where(BroughtRow.name == name)).first()
    if row is None or row.name in {each.name for each in entries()}:
        require_on_disk(name, hidden_models(store, visitor))
    elif row.labels["given"]:
        raise ModelError(
            f"a run reads the model {row.address} as its config and its name say, not with labels, "
            "a template or a prompt of your own; save it with names for its outputs, or bring it "
            "with a prompt that comes with the app"
        )
    else:
        require_open(row.address)


def take_away(store: Store, visitor: str, name: str) -> None:
    """Let a model that a visitor brought stand in their lists no longer."""
    own = BroughtRow.visitor == as_token(visitor), BroughtRow.name == name
    store.database.write(delete(BroughtRow).where(*own))


def asks_alike(first: Task, second: Task) -> bool:
    """Whether two tasks ask about the same texts: inference in two or three classes does."""
    return first.example is second.example


def require_task(model: AnyModel, task: Task) -> AnyModel:
    """Return a model of a task. Raises ModelError for one of another task."""
    own = model.task
    if not asks_alike(own, task):
        raise ModelError(
            f"{model.name} answers another task, {own.title.lower()}, and this is "
            f"{task.title.lower()}; choose its task, or a model of this one"
        )
    return model


def hidden_models(store: Store, visitor: str) -> frozenset[str]:
    """Return the models of runs that are neither this visitor's nor behind an opened link."""
    others = (
        RunRow.kept != "",
        RunRow.owner != COMMAND_LINE,
        not_(is_owner(visitor)),
        RunRow.id.not_in(granted_runs(visitor)),
    )
    with store.database.session() as session:
        return frozenset(session.scalars(select(RunRow.kept).where(*others)))


def stored_bytes(run: StoredRun) -> int:
    """Return the bytes that a run keeps; nothing of a kind that is not known."""
    experiment = EXPERIMENTS.get(run.kind)
    return experiment.stored_bytes(run.plan) if experiment else 0


def run_bytes(store: Store, visitor: str) -> int:
    """Return the bytes that all runs of a visitor keep."""
    return sum(map(stored_bytes, store.runs_where(is_owner(visitor), with_cells=False)))


def check_kept_models(store: Store, visitor: str, more: int) -> None:
    """Refuse runs that would keep more models than a visitor may have. Raises LimitError.

    A run that is still going counts as one that keeps its model.
    """
    keeps = or_(RunRow.kept != "", IS_OPEN)
    with store.database.session() as session:
        kept = session.scalar(select(func.count()).where(is_owner(visitor), keeps)) or 0
    check("max_kept_models", kept + more)


def model_bytes(store: Store, visitor: str) -> int:
    """Return how many bytes the models of a visitor's runs take."""
    with store.database.session() as session:
        names = session.scalars(select(RunRow.kept).where(is_owner(visitor), RunRow.kept != ""))
        return sum(map(kept_bytes, names))


def kept_bytes(name: str) -> int:
    """Return how many bytes a kept model takes, 0 where it is not there."""
    files = (settings().home / "models" / name).glob("*")
    return sum(path.stat().st_size for path in files)


NOBODY = "nobody"
"""The owner of deleted runs."""


def delete_run(store: Store, engine: Engine, visitor: str, run_id: str) -> None:
    """Delete a visitor's own run with its cells, its model and its links. Raises UnknownRun."""
    discard_run(store, engine, own_run(store, visitor, run_id))


def discard_run(store: Store, engine: Engine, run: StoredRun) -> None:
    """Delete a run, whosever it is: for who runs the app."""
    _delete_grants(store, GrantRow.run == run.id)
    store.database.write(update(RunRow).where(RunRow.id == run.id).values(owner=NOBODY))
    if ended(run):
        _remove(store, run)
    else:
        engine.cancel(run.id)


def delete_model(store: Store, visitor: str, run_id: str) -> None:
    """Delete the model of a visitor's own run; the run stays. Raises UnknownRun."""
    if name := own_run(store, visitor, run_id).kept:
        remove_model_files(name)
        store.set_kept(run_id, "")


def remove_old_runs(store: Store) -> None:
    """Remove deleted runs that have ended, and visitors' runs that ended NLI_CLINIC_KEEP_DAYS ago.

    The runs of the command line stay. What was put away for runs that were never stored, since an
    app ended in between, goes after as long.
    """
    days = settings().keep_days
    before = time.time() - (days or 0) * DAY
    old = (RunRow.finished < before) & (RunRow.finished > 0) & (RunRow.owner != COMMAND_LINE)
    going = or_(RunRow.owner == NOBODY, old) if days else RunRow.owner == NOBODY
    for run in store.runs_where(not_(IS_OPEN), going, with_cells=False):
        _remove(store, run)
    for experiment in EXPERIMENTS.values() if days else ():
        if experiment.sweep:
            runs = store.runs_where(RunRow.kind == experiment.kind, with_cells=False)
            experiment.sweep([run.plan for run in runs], before)


def _remove(store: Store, run: StoredRun) -> None:
    """Remove a run: the model first, since one that is no run's is everybody's."""
    if run.kept:
        remove_model_files(run.kept)
    if experiment := EXPERIMENTS.get(run.kind):
        experiment.remove(run.plan)
    _delete_grants(store, GrantRow.run == run.id)
    store.database.write(
        delete(CellRow).where(CellRow.run == run.id), delete(RunRow).where(RunRow.id == run.id)
    )
