"""The form of the Repair tab: what is chosen and typed there, read into a run."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from finetune.training.recipes import Mode
from finetune.trials.calibration import CALIBRATION
from finetune.trials.challenges import UserFiles, read_source_data
from finetune.trials.datasets import labelled
from finetune.trials.mitigation import MITIGATION
from finetune.trials.planning import Choices, planned
from finetune.trials.transfer import TRANSFER
from finetune.ui.choosing import choices_of, from_page, learning_note, seeds_of, wait_note
from finetune.ui.repair.titles import ALL, METHODS, compared, tidy
from probe.errors import ExperimentError
from probe.runs.run import RunRequest
from probe.tasks.task import Task
from probe.ui.html.elements import NOTHING, note

SIZE, REPEATS = 1000, 1
"""What the form begins with."""


def choices(
    model: str,
    method: str,
    transforms: Sequence[str],
    sizes: Sequence[str],
    repeats: float | None,
    lr: str,
    compare: bool,
    share: float | None,
    gradient_share: float | None,
    mode: Mode,
) -> Choices:
    """Return what the page's values choose, in the order of its fields. Raises UserError."""
    if method not in METHODS:
        raise ExperimentError(f"choose a method: {', '.join(METHODS)}")
    kind, chosen = METHODS[method].kind, tidy(transforms)
    values: dict[str, Any] = {  # Any: as their parameters say
        "sizes": ", ".join(sizes),
        "seeds": seeds_of(repeats),
        "lr": lr,
        "mode": mode,
    }
    if kind != TRANSFER.kind:
        values["methods"] = compared(method, compare)
    if kind != CALIBRATION.kind:
        values |= {"transforms": () if chosen == [ALL] else chosen, "share": share}
    if kind == MITIGATION.kind:
        values["gradient_share"] = gradient_share
    return choices_of(kind, model, **from_page(kind, **values))


def usual_size(task: Task) -> int:
    """Return how many examples a training has if nobody asks for another number."""
    return min(SIZE, len(labelled(read_source_data(UserFiles(), task)).pool))


def requests(*values: object) -> list[RunRequest]:
    """Return the run that the page's values ask for. Raises a sentence for the person."""
    return [planned(choices(*values), bounded=True).request()]  # type: ignore[arg-type]  # what the components hold


def forecast(*values: object) -> Markup:
    """Say about how long the run takes, and what is compared. Raises a sentence for the person."""
    asked = planned(choices(*values), bounded=True)  # type: ignore[arg-type]  # as above
    seconds = asked.seconds()
    plan, trainings = asked.plan, asked.trainings()
    others = ", ".join(METHODS[name].term.title for name in getattr(plan, "methods", ())[1:])
    rate = f"Learning rate: {plan.training.lr:g}"
    learning = learning_note(plan.training.mode, rate)
    beware = Markup('<p class="fine beware"><span class="badge keep">beware</span> {}</p>')
    return (
        wait_note(seconds, trainings)
        + (learning if trainings else note("No weight of the model changes."))
        + (note(f"Compared with: {others}.") if others else NOTHING)
        + Markup().join(map(beware.format, asked.warnings))
    )
