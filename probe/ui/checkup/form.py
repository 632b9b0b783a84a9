"""The form of a check-up: what is chosen above, read into a plan and its examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

from markupsafe import Markup

from probe import limits
from probe.checkup.experiment import run_request
from probe.checkup.measuring import Asked, Plan, estimate_seconds, new_plan, with_gold
from probe.data.file_options import option_words
from probe.data.hub_dataset import source_name
from probe.data.rows import read_rows
from probe.data.source import read_table
from probe.errors import CheckupError, FileError
from probe.limits import visitor_bounds
from probe.models.bundled import title_of
from probe.models.library import require_on_disk, require_parts, task_of_model
from probe.runs.run import RunRequest
from probe.tasks.examples import bundled_examples
from probe.tasks.task import Task
from probe.terms import capitalised
from probe.text.duration import duration_words
from probe.transforms import REGISTRY
from probe.ui.html.elements import note
from probe.ui.measure.choice import BUNDLED
from probe.ui.measure.choice import Asked as Choice
from probe.ui.measure.texts import columns_of, options_of

MAX_N, MAX_PER_SUBCASE = 1000, 500
"""Examples that are changed in each way, and pairs of a sub-case of HANS, at most."""
Examples = Sequence[Any]  # Any: the task's own


@dataclass(frozen=True)
class Form:
    """What is asked for: a model, a visitor's file or None for the app's examples, and how many.

    `columns` are as those of `LabelledFile`, guessed where there are none;
    `meanings` says as JSON what values of the labels mean.
    """

    model: str
    asked: Asked
    file: Path | None = None
    columns: tuple[str | None, ...] = (None, None)
    meanings: str = ""


def forms_of(models: Sequence[str], *values: Any) -> list[Form]:
    """Return the form of each model by the page's values: those of the choice, and how many.

    Raises CheckupError, FileError.
    """
    *chosen, n = values
    if n is None:
        raise CheckupError("Examples changed in each way must be a whole number")
    forms = []
    for model in models:
        choice = Choice.read("", task_of_model(model).name, [model], *chosen)
        asked = Asked(n=int(n), seed=choice.seed, long=choice.long)
        file = None if choice.source == BUNDLED else choice.file
        forms.append(Form(model, asked, file, choice.columns, choice.meanings))
    if not forms:
        raise CheckupError("choose a model above first")
    return forms


def plan_of(form: Form) -> tuple[Plan, Examples]:
    """Return the plan of a form, of no more than a visitor may ask, and its examples.

    Raises a sentence for the person.
    """
    require_on_disk(form.model)
    task = task_of_model(form.model)
    if form.asked.n > MAX_N or form.asked.per_subcase > MAX_PER_SUBCASE:
        raise CheckupError(
            f"the page changes up to {MAX_N:,} examples in each way and takes up to "
            f"{MAX_PER_SUBCASE} pairs for each sub-case of HANS; the command line takes more"
        )
    if form.file:
        reading, examples = _read(form.file, form.columns, form.meanings, task)
        name = source_name(form.file)
        plan = new_plan(form.model, task, form.asked, file=name, reading=reading)
    else:
        examples = bundled_examples(task, "test")
        plan = new_plan(form.model, task, form.asked)
    require_parts(task, form.asked.long)
    limits.check("max_cells", len(plan.parts))
    return plan, examples


def _read(
    file: Path, columns: tuple[str | None, ...], meanings: str, task: Task
) -> tuple[tuple[str, ...], Examples]:
    """Return how a file is read, in the options of the command, and its labelled examples."""
    options = options_of(columns, task, meanings)
    table = read_table(file, visitor_bounds(), options)
    chosen = columns_of(table, file, task, options)
    examples = with_gold([row.example for row in read_rows(table, chosen, task)], task)
    return option_words(options.said), examples


def request_of(form: Form) -> RunRequest:
    """Return the run that a form asks for. Raises a sentence for the person."""
    return run_request(*plan_of(form))


def requests(*values: Any) -> list[RunRequest]:
    """Return the runs that the page's values ask for. Raises a sentence for the person."""
    return [request_of(form) for form in forms_of(*values)]


def forecast(*values: Any) -> Markup:
    """Say what is examined and about how long it takes, or what has to be chosen first.

    Raises a sentence for the person.
    """
    try:
        forms = forms_of(*values)
    except (CheckupError, FileError) as lacking:
        return note(f"{capitalised(str(lacking))}.")
    plans = [plan_of(form) for form in forms]
    wait = duration_words(sum(starmap(estimate_seconds, plans)))
    plan, examples = plans[0]
    few, ways = min(plan.asked.n, len(examples)), sum(part in REGISTRY for part in plan.parts)
    where = plan.file or "the app's examples"
    changed = f"of which {few:,} are changed" if few < len(examples) else "all of them changed"
    models = " and ".join(title_of(each.model) for each, _ in plans)
    return note(
        f"{models} on {where}: {len(examples):,}, {changed} in each of {ways} ways. "
        f"{capitalised(wait)} on one core. You may close the page."
    )
