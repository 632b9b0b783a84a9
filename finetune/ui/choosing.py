"""What the page's fields hold, read into what is chosen for a run, and how long that takes."""

from typing import Any

from markupsafe import Markup

from finetune.training.recipes import MODES, Mode
from finetune.trials import inoculation
from finetune.trials.challenges import UserFiles
from finetune.trials.params import PARAMS
from finetune.trials.planning import NO_FILES, Choices
from probe.errors import ExperimentError
from probe.models.library import require_on_disk, task_of_model, without_labels
from probe.terms import capitalised
from probe.text.duration import duration_words
from probe.ui.html.elements import note

MAX_REPEATS = 20


def choices_of(
    kind: str,
    model: str,
    files: UserFiles = NO_FILES,
    **values: Any,  # Any: as `Param` says
) -> Choices:
    """Return what is chosen for a run. Raises ModelError where its model cannot be taken."""
    require_on_disk(model)
    task = task_of_model(model)
    if task.has_spans and kind != inoculation.KIND:
        raise without_labels(model)
    return Choices(kind, task, {"model": model, **values}, files)


def from_page(kind: str, **shown: Any) -> dict[str, Any]:  # Any: as above
    """Return values of parameters as they are shown there: shares in percent or points."""
    units = {each.name: each.unit for each in PARAMS[kind]}
    return {
        name: value if value is None or units[name] == 1 else round(value / units[name], 6)
        for name, value in shown.items()
    }


def seeds_of(repeats: float | None) -> str:
    """Return the seeds of some repeats. Raises ExperimentError."""
    if repeats is None or not 1 <= repeats <= MAX_REPEATS:
        raise ExperimentError(f"Repeats must be a whole number from 1 to {MAX_REPEATS}")
    return ",".join(map(str, range(int(repeats))))


def wait_note(seconds: float, trainings: int, runs: int = 1) -> Markup:
    """Say about how long runs take."""
    several = f"{runs} runs: " if runs > 1 else ""
    work = f"for {trainings} trainings on one core" if trainings else "on one core"
    return note(
        f"{capitalised(f'{several}{duration_words(seconds)} {work}')}. You may close the page."
    )


def learning_note(mode: Mode, rates: str) -> Markup:
    """Say which weights learn, and at which rates."""
    return note(f"{MODES[mode].summary} {rates}.")
