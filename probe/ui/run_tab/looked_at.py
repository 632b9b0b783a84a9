"""Which runs a tab offers to look at: a browser's own, those shown to it, those of the gallery.

What is chosen is a text: the ids of the runs that are shown together, with commas between.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probe.models.library import DEFAULT
from probe.runs import access
from probe.runs.access import asks_alike
from probe.runs.gallery import OWNER
from probe.runs.run import StoredRun
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.ui.html.run import state_in_words
from probe.ui.run_tab.entry import RunTab


@dataclass(frozen=True)
class Offered:
    """The runs of a tab's kinds, by what a visitor may see of them."""

    entry: RunTab
    store: Store
    gallery: Sequence[StoredRun]

    def choices(self, owner: str, task: Task) -> list[tuple[str, str]]:
        """Return title and choice of all there is for a task, own runs first, newest first.

        Raises StoreError.
        """
        return [*self._own_choices(owner, task), *self._gallery_choices(task)]

    def first(self, owner: str, task: Task, model: str) -> str:
        """Return the newest run, else the gallery's of a model, else its first, "" without any."""
        if own := self._own_choices(owner, task):
            return own[0][1]
        groups = list(self._gallery_groups(task).values())
        of_model = [runs for runs in groups if runs[0].plan["model"] == model]
        return next(map(_choice, [*of_model, *groups]), "")

    def of_model(self, model: str, task: Task) -> str:
        """Return the gallery's runs of a model as a choice, "" where it has none."""
        return _choice(run for run in self._public(task) if run.plan["model"] == model)

    def runs(self, owner: str, choice: str) -> list[StoredRun]:
        """Return the chosen runs that a visitor may see; others are passed over.

        Raises StoreError.
        """
        ids = ids_of(choice)
        here = {run.id: run for run in (*self.gallery, *access.chosen_runs(self.store, owner, ids))}
        return [here[name] for name in ids if name in here and here[name].kind in self.entry.kinds]

    def _own_choices(self, owner: str, task: Task) -> list[tuple[str, str]]:
        runs = [
            run
            for kind in self.entry.kinds
            for run in access.readable_runs(self.store, owner, kind)
            if asks_alike(task_of(run), task)
        ]
        runs.sort(key=lambda run: run.created, reverse=True)
        return [(self._own_title(run, owner), run.id) for run in runs]

    def _own_title(self, run: StoredRun, owner: str) -> str:
        shown = "" if run.owner == owner else " (shown to you)"
        return f"{self.entry.title(run)} · {state_in_words(run).lower()}{shown}"

    def _gallery_choices(self, task: Task) -> list[tuple[str, str]]:
        groups = self._gallery_groups(task)
        return [(f"Ready-made: {title}", _choice(runs)) for title, runs in groups.items()]

    def _gallery_groups(self, task: Task) -> dict[str, list[StoredRun]]:
        groups: dict[str, list[StoredRun]] = {}
        for run in sorted(self._public(task), key=self._place):
            groups.setdefault(self.entry.group(run), []).append(run)
        return groups

    def _place(self, run: StoredRun) -> tuple[bool, int]:
        return run.plan["model"] != DEFAULT, self.entry.rank(run)

    def _public(self, task: Task) -> list[StoredRun]:
        return [
            run
            for run in self.gallery
            if run.kind in self.entry.kinds and asks_alike(task_of(run), task)
        ]


def task_of(run: StoredRun) -> Task:
    """Return the task of a run's model and examples."""
    return task_named(run.plan.get("task", NLI.name))


def ids_of(choice: str) -> list[str]:
    """Return the ids of a choice, or of the `run` of a link."""
    return [name for name in choice.split(",") if name]


def is_of_gallery(choice: str) -> bool:
    """Return whether a choice is of the gallery's runs alone, or of none."""
    return all(name.startswith(f"{OWNER}-") for name in ids_of(choice))


def _choice(runs: Iterable[StoredRun]) -> str:
    return ",".join(run.id for run in runs)
