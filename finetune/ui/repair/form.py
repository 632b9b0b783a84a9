"""The form of the Repair tab: what is chosen and typed there, read into plan and data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from finetune.training.recipes import MODES, Mode, default_rate
from finetune.trials import calibration as calibration
from finetune.trials import calibration as calibration_runs
from finetune.trials import mitigation as mitigation
from finetune.trials import mitigation as mitigation_runs
from finetune.trials import transfer as transfer
from finetune.trials import transfer as transfer_runs
from finetune.trials.base import Training, numbers
from finetune.trials.challenges import UserFiles, read_source_data
from finetune.trials.datasets import SourceData, labelled
from finetune.trials.mitigation import quick_cost
from finetune.trials.word_salad import salad_names
from finetune.ui.inoculate.plan_form import USUAL_RATE
from finetune.ui.repair.titles import ALL, METHODS, compared, tidy
from probe import limits
from probe.errors import ExperimentError
from probe.first_import import first_import
from probe.models.library import require_on_disk, task_of_model, without_labels
from probe.runs.run import RunRequest, environment
from probe.tasks.task import Task
from probe.terms import capitalised
from probe.text.duration import duration_words
from probe.ui.html.elements import NOTHING, note

SIZE = 1000
REPEATS, MAX_REPEATS = 1, 20
SHARE = 100 * mitigation.SHARE
"""What the form begins with; shares are in percent."""


@dataclass(frozen=True)
class Form:
    """What is asked for. The first of `methods` is the one whose model stays.

    Lists of numbers are texts with commas between, `lr` is one rate; shares are from 0 to 1. No
    `transforms` are all that the task has.
    """

    model: str
    methods: tuple[str, ...]
    transforms: tuple[str, ...] = ()
    sizes: str = str(SIZE)
    seeds: str = "0"
    lr: str = USUAL_RATE
    share: float = mitigation.SHARE
    gradient_share: float = mitigation.SHARE
    mode: Mode = "fast"
    epochs: int = Training.epochs

    @property
    def kind(self) -> str:
        """The kind of the run. Raises ExperimentError where there are no methods of one kind."""
        kinds = dict.fromkeys(METHODS[name].kind for name in self.methods if name in METHODS)
        if len(kinds) != 1 or not set(self.methods) <= set(METHODS):
            raise ExperimentError(f"choose a method: {', '.join(METHODS)}")
        return next(iter(kinds))


def form_of(
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
) -> Form:
    """Return the form of the page's values, in the order of its fields. Raises ExperimentError."""
    if repeats is None or not 1 <= repeats <= MAX_REPEATS:
        raise ExperimentError(f"Repeats must be a whole number from 1 to {MAX_REPEATS}")
    chosen = tidy(transforms)
    return Form(
        model,
        compared(method, compare) if method in METHODS else (str(method),),
        () if chosen == [ALL] else tuple(chosen),
        ", ".join(sizes),
        ",".join(map(str, range(int(repeats)))),
        lr,
        _share("Examples that are broken too", share),
        _share("The same of those that ask the model", gradient_share),
        mode,
    )


def _share(name: str, percent: float | None) -> float:
    if percent is None or not 0 <= percent <= 100:
        raise ExperimentError(f"{name}: give a share from 0 to 100 percent")
    return round(percent / 100, 6)


def source_of(task: Task) -> SourceData:
    """Return the bundled examples of a task that have a gold label."""
    return labelled(read_source_data(UserFiles(), task))


def usual_size(task: Task) -> int:
    """Return how many examples a training has if nobody asks for another number."""
    return min(SIZE, len(source_of(task).pool))


Plan = calibration.Plan | mitigation.Plan | transfer.Plan


@dataclass(frozen=True)
class Builder:
    """How a kind's plan is made of a form, checked and requested, and which cells it has."""

    plan: Callable[[Form, Task, Training], Any]  # Any: each kind has a plan of its own
    check: Callable[[Any, SourceData], None]
    cells: Callable[[Any], Sequence[Any]]
    request: Callable[..., RunRequest]


def _calibration(form: Form, task: Task, training: Training) -> calibration.Plan:
    methods: Any = form.methods  # Any: texts, which check() compares with the methods
    return calibration.Plan(form.model, training, methods, *_draws(form), task=task.name)


def _mitigation(form: Form, task: Task, training: Training) -> mitigation.Plan:
    methods: Any = form.methods  # Any: as above
    return mitigation.Plan(
        form.model,
        training,
        methods,
        *_draws(form),
        share=form.share,
        gradient_share=form.gradient_share,
        task=task.name,
        transforms=form.transforms,
    )


def _transfer(form: Form, task: Task, training: Training) -> transfer.Plan:
    names = form.transforms or salad_names(task)
    return transfer.Plan(
        form.model, training, names, *_draws(form), share=form.share, task=task.name
    )


def _draws(form: Form) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return numbers("Examples", form.sizes, int), numbers("Seeds", form.seeds, int)


BUILDERS: Mapping[str, Builder] = {
    calibration_runs.KIND: Builder(
        _calibration, calibration.check, calibration.cells, calibration_runs.run_request
    ),
    mitigation_runs.KIND: Builder(
        _mitigation, mitigation.check, mitigation.cells, mitigation_runs.run_request
    ),
    transfer_runs.KIND: Builder(
        _transfer, transfer.check, transfer.cells, transfer_runs.run_request
    ),
}
"""How each kind of run is asked for."""


def plan_of(form: Form) -> tuple[Plan, SourceData]:
    """Return the plan, of no more cells than a visitor may have, and what it works on.

    Raises a sentence for the person.
    """
    require_on_disk(form.model)
    build, task = BUILDERS[form.kind], task_of_model(form.model)
    if task.has_spans:
        raise without_labels(form.model)
    source = source_of(task)
    plan: Plan = build.plan(form, task, training_of(form))
    limits.check("max_cells", len(build.cells(plan)))
    build.check(plan, source)
    return plan, source


def training_of(form: Form) -> Training:
    """Return how to train; the word, or none, is the usual rate. Raises ExperimentError."""
    if form.lr.strip().lower() in ("", USUAL_RATE):
        return Training(default_rate(form.model, form.mode), form.mode, form.epochs)
    rates = numbers("Learning rate", form.lr, float)
    if len(rates) != 1:
        raise ExperimentError("give one learning rate")
    return Training(rates[0], form.mode, form.epochs)


def request_of(form: Form) -> RunRequest:
    """Return the run that a form asks for. Raises a sentence for the person."""
    plan, source = plan_of(form)
    return BUILDERS[form.kind].request(plan, source, environment())


def requests(*values: object) -> list[RunRequest]:
    """Return the run that the page's values ask for. Raises a sentence for the person."""
    return [request_of(form_of(*values))]  # type: ignore[arg-type]  # what the components hold


def estimate(plan: Plan, source: SourceData) -> float:
    """Return about how many seconds a run takes. Raises a sentence for the person."""
    with first_import:
        from finetune.trials.duration import repair_seconds

    return repair_seconds(plan, source)


def forecast(*values: object) -> Markup:
    """Say about how long the run takes, and what is compared. Raises a sentence for the person."""
    form = form_of(*values)  # type: ignore[arg-type]  # as above
    plan, source = plan_of(form)
    wait = duration_words(estimate(plan, source))
    trainings = sum(bool(cell.size) for cell in BUILDERS[form.kind].cells(plan))
    work = f"for {trainings} trainings on one core" if trainings else "on one core"
    others = ", ".join(METHODS[name].term.title for name in form.methods[1:])
    beside = f" Compared with: {others}." if others else ""
    learning = f"{MODES[plan.training.mode].summary} Learning rate: {plan.training.lr:g}."
    return (
        note(f"{capitalised(wait)} {work}. You may close the page.")
        + note((learning if trainings else "No weight of the model changes.") + beside)
        + _beware(plan)
    )


def _beware(plan: Plan) -> Markup:
    """Say what quick training costs where it costs much."""
    cost = quick_cost(plan) if isinstance(plan, mitigation.Plan) else ""
    return (
        Markup('<p class="fine beware"><span class="badge keep">beware</span> {}</p>').format(cost)
        if cost
        else NOTHING
    )
