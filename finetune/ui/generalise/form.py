"""The form of the Generalise tab: what is chosen and typed there, read into a run."""

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from finetune.training.data import Asked
from finetune.training.recipes import Mode
from finetune.trials.challenges import UserFiles
from finetune.trials.generalisation import FILE, KIND
from finetune.trials.planning import Choices, planned
from finetune.ui.choosing import choices_of, from_page, learning_note, seeds_of, wait_note
from finetune.ui.generalise.samples import named_column
from probe.errors import ExperimentError
from probe.limits import visitor_bounds
from probe.runs.run import RunRequest
from probe.ui.html.elements import note


def choices(
    model: str,
    skill: str,
    file: str | None,
    column: str | None,
    vary: str | None,
    sizes: Sequence[str],
    repeats: float | None,
    lrs: str,
    mode: Mode,
    max_loss: float | None,
) -> Choices:
    """Return what the page's values choose, in the order of its fields. Raises UserError."""
    values = from_page(
        KIND,
        sizes=", ".join(sizes),
        seeds=seeds_of(repeats),
        lrs=lrs,
        mode=mode,
        max_loss=max_loss,
    )
    asked = Asked(bounds=visitor_bounds())
    if skill != FILE:
        values |= {"phenomenon": skill, "vary": vary or ""}
        return choices_of(KIND, model, UserFiles(asked=asked), **values)
    if not file:
        raise ExperimentError(
            "choose a file of your own: a table with the task's texts, a label, and a column that "
            "names the kind of each row"
        )
    values["condition"] = named_column(file, column)
    return choices_of(KIND, model, UserFiles(challenge=Path(file), asked=asked), **values)


def requests(*values: object) -> list[RunRequest]:
    """Return the run that the page's values ask for. Raises a sentence for the person."""
    return [planned(choices(*values), bounded=True).request()]  # type: ignore[arg-type]  # what the components hold


def forecast(*values: object) -> Markup:
    """Say about how long the run takes, and what is tried. Raises a sentence for the person."""
    _, skill, file, *_ = values
    if skill == FILE and not file:
        return note("Once there is a file, it stands here how long the run takes.")
    asked = planned(choices(*values), bounded=True)  # type: ignore[arg-type]  # as above
    seconds = asked.seconds()
    rates = ", ".join(f"{lr:g}" for lr in asked.plan.lrs)
    return wait_note(seconds, asked.trainings()) + learning_note(
        asked.plan.mode, f"Learning rates: {rates}"
    )
