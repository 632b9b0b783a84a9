"""Which models a visitor may choose and use.

Bundled models, and those that the machine's owner made or put into the home, are everyone's. The
model that a visitor's run left belongs to that visitor and to who holds a link to the run.
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import not_, select

from probe.errors import ModelError, StoreError
from probe.models.bundled import BUNDLED
from probe.models.cache import ModelCache
from probe.models.errors import UnclearLabels
from probe.models.library import AnyModel, entries, model_folders
from probe.models.user_models import LoadedModel, require_open
from probe.runs.access import granted_runs, is_owner, share
from probe.runs.database.tables import RunRow
from probe.runs.owners import COMMAND_LINE
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.task import TASKS, Label, Task, offered_tasks


@dataclass(frozen=True)
class ModelAccess:
    """The models of the page, each for who may use it.

    A model of the hub or a folder that one visitor opened can be named by all others.
    """

    cache: ModelCache
    store: Store

    def names(self, visitor: str, task: Task = NLI) -> list[str]:
        """Return the models on disk that a visitor can choose for a task.

        While the run database cannot be read, whose the others are is not known: the bundled ones.
        """
        here = [entry for entry in entries() if entry.task is None or asks_alike(entry.task, task)]
        try:
            hidden = hidden_models(self.store, visitor)
        except StoreError:
            return [entry.name for entry in here if entry.source == "bundled"]
        return [entry.name for entry in here if entry.name not in hidden]

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
        self.cache.require(name, () if name in BUNDLED else hidden_models(self.store, visitor))

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
        here = _name_of_folder(name)
        if here == Path(here).name:  # neither a hub's owner/name nor the path of a folder
            self.cache.require(here, hidden)
        try:
            opened = self.cache.open(here, order, task, template)
        except UnclearLabels as unclear:
            require_size(name, len(unclear.outputs), task)
            raise
        require_task(opened.model, task)
        return opened


def asks_alike(first: Task, second: Task) -> bool:
    """Whether two tasks ask about the same texts: inference in two or three classes does."""
    return first.example is second.example


def require_size(name: str, outputs: int, task: Task) -> None:
    """Refuse a model with fewer or more outputs than a task has labels. Raises ModelError."""
    if outputs not in {len(own.labels) for own in TASKS.values() if asks_alike(own, task)}:
        raise ModelError(
            f"the model {name!r} has {outputs} outputs, and {task.title.lower()} has the labels "
            f"{', '.join(task.labels)}; choose its task, or another model"
        )


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


def _name_of_folder(name: str) -> str:
    """Return a model's name for the path of its folder beside the others, else what was named."""
    folders = {folder.resolve() for folder in model_folders().values()}
    path = Path(name).resolve() if Path(name).is_absolute() else Path()
    return path.name if path.parent in folders else name
