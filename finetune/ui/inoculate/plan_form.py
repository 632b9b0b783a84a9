"""The form of the Inoculate tab: what is typed there, read into plans and sets."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from finetune.training.data import Asked
from finetune.trials.challenges import UserFiles, challenges
from finetune.trials.inoculation import KIND, fast_notes
from finetune.trials.params import PARAMS
from finetune.trials.planning import Choices, Planned, draft, planned
from finetune.ui.choosing import choices_of, from_page, learning_note, wait_note
from probe.data.names import stem_of
from probe.errors import ExperimentError, UserError
from probe.first_import import first_import
from probe.limits import visitor_bounds
from probe.models import bundled
from probe.models.library import AnyModel
from probe.tasks.task import Task, offered_tasks
from probe.ui.html.elements import alert, join

LIMITS = tuple(param for param in PARAMS[KIND] if param.field.startswith("thresholds."))
UPLOADS = tuple(param for param in PARAMS[KIND] if param.title and param.type == Path | None)
"""The thresholds and the files that the form has, in their order."""
FIELDS = (
    *("models", "challenges", "sizes", "lrs", "seeds", "mode", "max_epochs", "patience", "batch"),
    "include_epoch0",
    *(param.name for param in (*LIMITS, *UPLOADS)),
    "own_name",
    "train",
)
"""The fields of the form, in their order."""


def choices(*values: Any) -> tuple[Choices, ...]:  # Any: what the components hold
    """Return what is chosen, for each challenge and model, in the order of FIELDS.

    Uploaded files are one challenge and the only one. Raises ExperimentError, ModelError.
    """
    shown = dict(zip(FIELDS, values, strict=True))
    models, chosen, name = (shown.pop(each) for each in ("models", "challenges", "own_name"))
    paths = {param.name: shown.pop(param.name) for param in UPLOADS}
    train = shown.pop("train")
    files = files_of(paths, train)
    if own := files.challenge or files.challenge_train:
        chosen = [name.strip() or stem_of(own)]
        if any(chosen[0] in challenges(task) for task in offered_tasks()):
            known = f"there is a challenge called {chosen[0]} already"
            raise ExperimentError(f"{known}; give yours a name")
    if not models:
        raise ExperimentError("choose at least one model")
    if not chosen:
        raise ExperimentError("choose at least one challenge, or upload your own challenge")
    shown |= {"sizes": ", ".join(shown["sizes"]), "batch": shown["batch"] or None}
    given = from_page(KIND, **shown)
    return tuple(
        choices_of(KIND, model, files, challenge=challenge, **given)
        for challenge in dict.fromkeys(chosen)
        for model in dict.fromkeys(models)
    )


def files_of(paths: dict[str, str | None], train: float | None) -> UserFiles:
    """Return the files that are uploaded, by option. Raises ExperimentError."""
    given: dict[str, Any] = {name: Path(path) for name, path in paths.items() if path}
    whole = given.pop("challenge_file", None)
    parts = {"challenge_train", "challenge_test"} & set(given)
    if whole and parts:
        raise ExperimentError("upload one challenge file or two, not all three")
    if len(parts) == 1:
        raise ExperimentError("upload both challenge files, to train on and to test on, or neither")
    drawn: dict[str, Any] = {"challenge": whole}  # Any: as above
    if whole:
        if train is None or train < 1:
            raise ExperimentError("Pairs to train on: give a number from 1")
        drawn |= {"train": int(train)}
    return UserFiles(**given, **drawn, asked=Asked(bounds=visitor_bounds()))


def jobs_of(chosen: Sequence[Choices]) -> tuple[Planned, ...]:
    """Return each plan with its sets, all of them checked. Raises a sentence for the person."""
    sets, jobs = dict[tuple[str, Task], Any](), list[Planned]()
    for each in chosen:
        key = each["challenge"], each.task
        jobs.append(planned(each, sets.get(key), bounded=True))
        sets[key] = jobs[-1].data
    return tuple(jobs)


def forecast(
    *values: object, loaded: Callable[[str], AnyModel | None] = lambda name: None
) -> Markup:
    """Say about how long the sweep takes, or what is wrong with the plan.

    The sets of the first challenge stand for those of all: they are about as large. A model that is
    `loaded` is not loaded once more.
    """
    with first_import:
        from finetune.trials.duration import overflow_note

    try:
        chosen = choices(*values)
        first = [each for each in chosen if each["challenge"] == chosen[0]["challenge"]]
        jobs = [(job, loaded(job.plan.model)) for job in jobs_of(first)]
        several = len(chosen) // len(first)
        wait = several * sum(job.seconds(model) for job, model in jobs)
        notes = [
            *fast_notes([draft(each) for each in chosen]),
            *(overflow_note(job.plan, job.data, model) for job, model in jobs),
        ]
    except UserError as trouble:
        return alert(trouble)
    plans = [job.plan for job, _ in jobs]
    rates = "; ".join(
        f"{bundled.title_of(Path(plan.model).name)} {', '.join(f'{lr:g}' for lr in plan.lrs)}"
        for plan in plans
    )
    trainings = several * sum(job.trainings() for job, _ in jobs)
    learning = learning_note(plans[0].mode, f"Learning rate: {rates}")
    alerts = join(map(alert, filter(None, notes)))
    return wait_note(wait, trainings, len(chosen)) + learning + alerts
