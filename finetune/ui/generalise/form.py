"""The form of the Generalise tab: what is chosen and typed there, read into plan and data."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from finetune.training.data import Asked
from finetune.training.recipes import MODES, Mode, default_rate
from finetune.trials.base import numbers
from finetune.trials.challenges import UserFiles
from finetune.trials.generalisation import read_data
from finetune.trials.generalisation_plan import (
    FILE,
    THRESHOLDS,
    Plan,
    SourceData,
    Thresholds,
    cells,
    check,
    run_request,
    usual_rates,
    with_conditions,
)
from finetune.ui.generalise.samples import named_column
from finetune.ui.inoculate.plan_form import USUAL_RATE
from probe import limits
from probe.data.hub_dataset import source_name
from probe.data.names import stem_of
from probe.errors import ExperimentError
from probe.first_import import first_import
from probe.limits import visitor_bounds
from probe.models.library import require_on_disk, task_of_model
from probe.runs.run import RunRequest, environment
from probe.tasks.task import Task
from probe.terms import capitalised
from probe.text.duration import duration_words
from probe.ui.html.elements import note

SIZES = ("50", "200", "1000")
REPEATS, MAX_REPEATS = 2, 20
MAX_LOSS = 100 * THRESHOLDS.loss
"""What the form begins with; the loss is in points."""


@dataclass(frozen=True)
class Form:
    """What is asked for. `skill` is a kind of templates, or FILE: then `file` and `column` count.

    Lists of numbers are texts with commas between; `max_loss` is in points.
    """

    model: str
    skill: str
    vary: str
    sizes: str = ", ".join(SIZES)
    seeds: str = "0, 1"
    lrs: str = USUAL_RATE
    mode: Mode = "fast"
    max_loss: float | None = MAX_LOSS
    max_epochs: int = Plan.max_epochs
    file: str | None = None
    column: str | None = None


def form_of(
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
) -> Form:
    """Return the form of the page's values, in the order of its fields. Raises ExperimentError."""
    if repeats is None or not 1 <= repeats <= MAX_REPEATS:
        raise ExperimentError(f"Repeats must be a whole number from 1 to {MAX_REPEATS}")
    seeds = ",".join(map(str, range(int(repeats))))
    return Form(
        model,
        skill,
        vary or "",
        ", ".join(sizes),
        seeds,
        lrs,
        mode,
        max_loss,
        file=file,
        column=column,
    )


def plan_of(form: Form) -> tuple[Plan, SourceData]:
    """Return the plan, of no more cells than a visitor may have, and what it works on.

    Raises a sentence for the person.
    """
    require_on_disk(form.model)
    task = task_of_model(form.model)
    data = data_of(form, task)
    plan = Plan(
        form.model,
        stem_of(Path(form.file)) if form.skill == FILE and form.file else form.skill,
        FILE if form.skill == FILE else form.vary,
        (),
        (),
        sizes=numbers("Examples", form.sizes, int),
        lrs=rates_of(form),
        seeds=numbers("Seeds", form.seeds, int),
        mode=form.mode,
        max_epochs=form.max_epochs,
        thresholds=_thresholds(form.max_loss),
        task=task.name,
    )
    whole = with_conditions(plan, data)
    limits.check("max_cells", len(cells(whole)))
    check(whole)
    return whole, data


def data_of(form: Form, task: Task) -> SourceData:
    """Return the bundled examples of a task, and the rows of a file where it is asked for one."""
    files = UserFiles(asked=Asked(bounds=visitor_bounds()))
    if form.skill != FILE:
        return read_data(files, task=task)
    if not form.file:
        raise ExperimentError(
            "choose a file of your own: a table with the task's texts, a label, and a column that "
            "names the kind of each row"
        )
    return read_data(files, Path(form.file), named_column(form.file, form.column), task)


def rates_of(form: Form) -> tuple[float, ...]:
    """Read learning rates; the word, or none, is the usual one and a lower."""
    if form.lrs.strip().lower() in ("", USUAL_RATE):
        return usual_rates(default_rate(form.model, form.mode))
    return numbers("Learning rates", form.lrs, float)


def _thresholds(points: float | None) -> Thresholds:
    if points is None:
        raise ExperimentError("give the loss in points from which on the set alone was learnt")
    return Thresholds(round(points / 100, 6))


def request_of(form: Form) -> RunRequest:
    """Return the run that a form asks for. Raises a sentence for the person."""
    plan, data = plan_of(form)
    if form.skill != FILE or not form.file:
        return run_request(plan, data, environment())
    own = {"challenge-file": source_name(Path(form.file)), "condition": form.column}
    return run_request(plan, data, environment(), {"sources": own})


def requests(*values: object) -> list[RunRequest]:
    """Return the run that the page's values ask for. Raises a sentence for the person."""
    return [request_of(form_of(*values))]  # type: ignore[arg-type]  # what the components hold


def forecast(*values: object) -> Markup:
    """Say about how long the run takes, and what is tried. Raises a sentence for the person."""
    with first_import:
        from finetune.trials.duration import generalisation_seconds

    form = form_of(*values)  # type: ignore[arg-type]  # as above
    if form.skill == FILE and not form.file:
        return note("Once there is a file, it stands here how long the run takes.")
    plan, data = plan_of(form)
    wait = duration_words(generalisation_seconds(plan, data))
    trainings = sum(bool(cell.size) for cell in cells(plan))
    rates = ", ".join(f"{lr:g}" for lr in plan.lrs)
    return note(
        f"{capitalised(wait)} for {trainings} trainings on one core. You may close the page."
    ) + note(f"{MODES[plan.mode].summary} Learning rates: {rates}.")
