"""Which runs are looked at: a browser's own ones, those shown to it, and those of the gallery."""

from collections.abc import Iterable, Sequence

from finetune.report.inoculation import model_name, task_of
from finetune.trials.inoculation import KIND, InoculationRun, inoculation_runs
from probe.models.library import DEFAULT
from probe.runs import access
from probe.runs.access import asks_alike
from probe.runs.store import Store
from probe.tasks.task import Task


def chosen_runs(store: Store, owner: str, ids: Sequence[str]) -> list[InoculationRun]:
    """Return the runs that a visitor may read, in the order of the ids; others are passed over.

    Raises StoreError.
    """
    return list(inoculation_runs(access.chosen_runs(store, owner, ids)))


def listed_runs(store: Store, owner: str) -> tuple[InoculationRun, ...]:
    """Return all runs that a visitor may read, newest first, without cells. Raises StoreError."""
    return inoculation_runs(access.readable_runs(store, owner, KIND))


def own_runs(store: Store, owner: str) -> list[InoculationRun]:
    """Return those that are the visitor's own. Raises StoreError."""
    return [run for run in listed_runs(store, owner) if run.owner == owner]


def of_gallery(
    gallery: Sequence[InoculationRun], models: Sequence[str], challenges: Sequence[str]
) -> list[InoculationRun]:
    """Return the gallery's runs of these models on these challenges."""
    return [
        run for run in gallery if model_name(run) in models and run.plan.challenge in challenges
    ]


def models_of(gallery: Sequence[InoculationRun]) -> list[str]:
    """Return the models of the gallery."""
    return list(dict.fromkeys(model_name(run) for run in gallery))


def challenges_of(gallery: Sequence[InoculationRun]) -> list[str]:
    """Return the challenges of the gallery."""
    return list(dict.fromkeys(run.plan.challenge for run in gallery))


def of_task(runs: Iterable[InoculationRun], task: Task) -> list[InoculationRun]:
    """Return the runs of models that are asked what a task asks."""
    return [run for run in runs if asks_alike(task_of(run), task)]


def first_model(gallery: Sequence[InoculationRun]) -> list[str]:
    """Return the model of the gallery that a newcomer sees, none where the gallery is empty."""
    models = models_of(gallery)
    return [DEFAULT] if DEFAULT in models else models[:1]


def newest_sweep(runs: Sequence[InoculationRun]) -> list[str]:
    """Return the ids of the runs that were started with the newest one; `runs` newest first."""
    return [run.id for run in runs if _sweep(run) == _sweep(runs[0])]


def _sweep(run: InoculationRun) -> str:
    """Return what the runs that were started together have in common; a run alone has its id."""
    return str(run.artefacts.get("sweep", run.id))
