"""Which runs are looked at: a browser's own ones and those of the gallery."""

from collections.abc import Sequence

from finetune.report.sweep import model_name
from probe.errors import UnknownRun
from probe.runs.store import Run, Store


def own(store: Store, owner: str, ids: Sequence[str]) -> list[Run]:
    """Return the runs that are this owner's, in the order of the ids; others are passed over.

    Raises StoreError.
    """
    found = []
    for run_id in ids:
        try:
            run = store.get(run_id)
        except UnknownRun:
            continue
        if owner and run.owner == owner:
            found.append(run)
    return found


def of_gallery(
    gallery: Sequence[Run], models: Sequence[str], challenges: Sequence[str]
) -> list[Run]:
    """Return the gallery's runs of these models on these challenges."""
    return [
        run for run in gallery if model_name(run) in models and run.plan.challenge in challenges
    ]


def models_of(gallery: Sequence[Run]) -> list[str]:
    """Return the models of the gallery."""
    return list(dict.fromkeys(model_name(run) for run in gallery))


def challenges_of(gallery: Sequence[Run]) -> list[str]:
    """Return the challenges of the gallery."""
    return list(dict.fromkeys(run.plan.challenge for run in gallery))


def newest_sweep(runs: Sequence[Run]) -> list[str]:
    """Return the ids of the runs that were started with the newest one; `runs` newest first."""
    return [run.id for run in runs if _sweep(run) == _sweep(runs[0])]


def _sweep(run: Run) -> str:
    """Return what the runs that were started together have in common; a run alone has its id."""
    return str(run.artefacts.get("sweep", run.id))
