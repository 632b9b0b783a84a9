"""What Train can find out, one aim a row, and the way from its form to runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.training.data import Asked
from finetune.training.recipes import CONTEXT, MODES, mode_words, require_mode
from finetune.trials import generalisation, inoculation
from finetune.trials.challenges import UserFiles
from finetune.trials.params import GRID_RATES, PARAMS, USUAL_RATE, Param, param_of
from finetune.trials.planning import NO_FILES, Choices, Planned, draft, planned
from probe.errors import ExperimentError
from probe.first_import import first_import
from probe.limits import visitor_bounds
from probe.models.bundled import title_of
from probe.models.library import (
    AnyModel,
    asked_in_words,
    is_asked,
    task_of_model,
    without_labels,
)
from probe.runs.gallery import OWNER
from probe.runs.run import StoredRun
from probe.tasks.examples import bundled_examples
from probe.tasks.task import Task, task_named
from probe.terms import capitalised
from probe.text.duration import duration_words
from probe.ui.html.elements import join, note
from probe.ui.page import Page
from probe.ui.run_tab.shown import RunView

Named = Mapping[str, Any]  # Any: what components hold, by the names of their fields
Fields = dict[str, Any]  # Any: components, by the same names
Changes = dict[str, dict[str, Any]]  # Any: what is set of components, by the same names
BEWARE = Markup('<p class="fine beware"><span class="badge keep">beware</span> {}</p>')
SUBJECTS = ("challenge", "phenomenon")
"""The parameters that say on what a run works, beside its files."""


def called(run: StoredRun, of: str) -> str:
    """Name a run by its model and what it is of, and say of an own one where it is quick."""
    how = run.plan.get("training", run.plan)
    mode = how.get("mode")
    quick = "" if run.owner == OWNER or mode == "full" else f", {mode_words(mode or 'fast')}"
    return f"{title_of(Path(run.plan['model']).name)} · {of}{quick}"


def no_updates(values: Named, task: Task, owner: str) -> Changes:
    """Return that nothing follows what is chosen."""
    return {}


def no_words(plan: Any) -> str:  # Any: a plan of a kind
    """Return that there is nothing to be said of a plan."""
    return ""


@dataclass(frozen=True)
class Aim:
    """What one may want to find out, as a row of the form.

    `question` says it in plain words. `view` lists and shows its runs, whose kinds are those that
    `kind` chooses among. `build` lays out its own fields and returns them by name; `offered` is
    what is set of them for a task, `follow` once something was chosen. `about` shows examples of
    what is chosen. `choices` reads the form, one for each run. `needs` says what is lacking before
    a time can be told, "" for nothing; `also` what else a plan comes to.
    """

    question: str
    view: RunView
    build: Callable[[Page], Fields]
    about: Callable[[Named, Task, str], Markup]
    choices: Callable[[Named], Sequence[Choices]]
    offered: Callable[[Task], Changes]
    kind: Callable[[Named], str]
    follow: Callable[[Named, Task, str], Changes] = no_updates
    suits: Callable[[Task], bool] = lambda task: not task.has_spans
    needs: Callable[[Named], str] = lambda values: ""
    also: Callable[[Any], str] = no_words


def choices_of(
    kind: str,
    model: str,
    files: UserFiles = NO_FILES,
    **values: Any,  # Any: as `Param` says
) -> Choices:
    """Return what is chosen for a run, by whom its model may be used.

    Raises ModelError or ExperimentError where its model cannot be taken.
    """
    task, asked = task_of_model(model), is_asked(model)
    if asked and kind != inoculation.KIND:
        raise asked_in_words(model)
    if task.has_spans and kind != inoculation.KIND:
        raise without_labels(model)
    if mode := values.get("mode"):
        require_mode(Path(model).name, asked, mode)
    return Choices(kind, task, {"model": model, **values}, files)


def on_page(kind: str) -> tuple[Param, ...]:
    """Return the parameters of a kind that the page shows; a generalisation has its own file."""
    return tuple(
        param
        for param in PARAMS[kind]
        if param.title and (param.type != Path | None or kind != generalisation.KIND)
    )


def uploads_of(kind: str) -> tuple[str, ...]:
    """Return the names of a kind's files that the page takes."""
    return tuple(param.name for param in on_page(kind) if param.type == Path | None)


def files_in(kind: str, values: Named) -> dict[str, Any]:  # Any: as `UserFiles` has them
    """Return by name the files that are uploaded for a kind, and within which bounds."""
    given = {name: Path(values[name]) for name in uploads_of(kind) if values.get(name)}
    return {**given, "asked": Asked(bounds=visitor_bounds())}


def field_of(param: Param) -> Any:  # Any: a component
    """Lay out the field of a parameter."""
    name: dict[str, Any] = {
        "label": param.title,
        "elem_id": f"train-{param.name.replace('_', '-')}",
    }
    begins = shown(param, param.on_page(published=False))
    if param.type == Path | None:
        return gr.File(type="filepath", height=150, **name)
    if param.choices:
        # the form shows those that the chosen models have
        modes = [(mode.summary, key) for key, mode in MODES.items() if key in param.choices]
        return gr.Radio(modes, value=begins, elem_classes="lines", **name)
    if param.type is bool:
        return gr.Checkbox(begins, **name)
    if param.reads == "sizes":
        return gr.Dropdown(
            begins, value=begins, multiselect=True, allow_custom_value=True, interactive=True,
            **name,
        )  # fmt: skip
    if param.reads:
        return gr.Textbox(begins, min_width=110, **name)
    precision: dict[str, Any] = {"precision": 0} if param.type in (int, int | None) else {}
    return gr.Number(begins, min_width=110, **precision, **name)


def shown(param: Param, value: Any) -> Any:  # Any: as `Param` says
    """Return a value as its field shows it: shares in percent or points, sizes as a list."""
    if param.name == "sizes":
        return str(value).split(",")
    return value if param.unit == 1 or value is None else round(value * param.unit, 6)


def read_values(kind: str, values: Named) -> dict[str, Any]:  # Any: as above
    """Return the parameters of a kind, files apart, by what their fields show."""
    read = dict[str, Any]()
    for param in on_page(kind):
        if param.type == Path | None or param.name not in values:
            continue
        value = values[param.name]
        if param.name == "sizes":
            value = ", ".join(value or ())
        elif param.unit != 1 and value is not None:
            value = round(value / param.unit, 6)
        read[param.name] = value
    return read


def usual_sizes(
    kind: str, task: Task, published: bool, skill: str = "", in_prompt: bool = False
) -> list[str]:
    """Return the numbers of examples to begin with; all in place of more than the task has.

    Templates make their own, and the papers took more of some skills. A prompt takes few.
    """
    if in_prompt:
        return [str(size) for size in inoculation.IN_PROMPT]
    if task.has_spans:
        return ["5", "10", "all"]  # the bundled passages give few questions to train on
    param = param_of(kind, "sizes")
    given: list[str] = shown(param, param.on_page(published))
    if kind == generalisation.KIND:
        more = published and generalisation.PUBLISHED_SIZES.get(skill)
        return more.split(",") if more else given
    there = len(bundled_examples(task, "pool"))
    sizes = [size for size in given if size != "all" and int(size) <= there]
    return sizes if sizes == given else [*sizes, "all"]


def all_of(sizes: Sequence[str], pool: Callable[[], int]) -> str:
    """Return sizes, each a number, where a kind knows no word for all there are."""
    return ", ".join(str(pool()) if size == "all" else size for size in sizes or ())


def jobs_of(chosen: Sequence[Choices]) -> list[Planned]:
    """Return each plan with what it works on, all checked. Raises a sentence for the person."""
    data, jobs = dict[Any, Any](), list[Planned]()
    for each in chosen:
        key = (each.task.name, *(each.values.get(name) for name in SUBJECTS))
        jobs.append(planned(each, data.get(key), bounded=True))
        data[key] = jobs[-1].data
    return jobs


def chosen_in(values: Named, aim: Aim) -> Sequence[Choices]:
    """Return what the form chooses. Raises a sentence for the person."""
    if not values["models"]:
        raise ExperimentError("choose at least one model")
    return aim.choices(values)


def forecast(
    values: Named, aim: Aim, loaded: Callable[[str], AnyModel | None] = lambda name: None
) -> Markup:
    """Say about how long the runs take and what is trained. Raises a sentence for the person.

    What the first works on stands for all: the others are about as large. A model that is `loaded`
    is not loaded once more.
    """
    if lacking := aim.needs(values):
        return note(lacking)
    chosen = chosen_in(values, aim)
    drafts = [draft(each) for each in chosen]  # each is named well, before the first is measured
    first = [
        each
        for each in chosen
        if all(each.values.get(name) == chosen[0].values.get(name) for name in SUBJECTS)
    ]
    jobs = [(job, loaded(job.plan.model)) for job in jobs_of(first)]
    several = len(chosen) // len(first)
    seconds = several * sum(job.seconds(model) for job, model in jobs)
    trainings = several * sum(job.trainings() for job, _ in jobs)
    runs = f"{len(chosen)} runs: " if len(chosen) > 1 else ""
    plural = "s" if trainings != 1 else ""
    work = f"for {trainings} training{plural} on one core" if trainings else "on one core"
    wait = capitalised(f"{runs}{duration_words(seconds)} {work}")
    said = [f"{wait}. You may close the page.", _learning([job for job, _ in jobs], trainings)]
    said += filter(None, (aim.also(job.plan) for job, _ in jobs[:1]))
    sweeps = chosen[0].kind == inoculation.KIND and not chosen[0].task.has_spans
    if sweeps and jobs[0][0].plan.mode == "full":
        said.append(_by_rates(jobs, several))
    return join(map(note, said)) + join(map(BEWARE.format, _notes(drafts, jobs)))


def _learning(jobs: Sequence[Planned], trainings: int) -> str:
    """Say which weights learn, and at which rates."""
    if not trainings:
        in_prompt = getattr(jobs[0].plan, "mode", "") == CONTEXT
        return MODES[CONTEXT].summary if in_prompt else "No weight of the model changes."
    rates = dict[str, str]()
    for job in jobs:
        how = getattr(job.plan, "training", job.plan)
        lrs = getattr(how, "lrs", None) or (how.lr,)
        rates[title_of(Path(job.plan.model).name)] = ", ".join(f"{lr:g}" for lr in lrs)
    several = len(rates) > 1
    told = "; ".join(f"{name} {lrs}" if several else lrs for name, lrs in rates.items())
    plural = "s" if "," in told else ""
    return f"{MODES[how.mode].summary} Learning rate{plural}: {told}."


RATES = [("One rate", USUAL_RATE), ("Liu's grid", GRID_RATES)]
"""The published choices of learning rates, as they are called and as `lrs` takes them."""


def _by_rates(jobs: Sequence[tuple[Planned, AnyModel | None]], several: int) -> str:
    """Say how long the published choices of rates take: one, and the grid."""
    (job, _), told = jobs[0], list[str]()
    grid = inoculation.liu_rates(task_named(job.plan.task))
    for title, name in RATES:
        rates = grid if name == GRID_RATES else job.plan.lrs[:1]
        each = [(replace(job, plan=replace(job.plan, lrs=rates)), model) for job, model in jobs]
        seconds = several * sum(job.seconds(model) for job, model in each)
        told.append(f"{title}: {duration_words(seconds)}")
    return f"{', '.join(told)}, on one core."


def _notes(
    drafts: Sequence[Any], jobs: Sequence[tuple[Planned, AnyModel | None]]
) -> Iterator[str]:  # Any: plans of one kind
    """Yield what to beware of, each once."""
    if isinstance(drafts[0], inoculation.Plan):
        with first_import:
            from finetune.trials.duration import overflow_note

        yield from inoculation.fast_notes(drafts)
        yield from filter(None, (overflow_note(job.plan, job.data, model) for job, model in jobs))
    else:
        yield from dict.fromkeys(words for job, _ in jobs for words in job.warnings)
