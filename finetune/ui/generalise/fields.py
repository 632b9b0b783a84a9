"""The fields of the Generalise tab, laid out; `form` says what they mean."""

from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.experiments.generalisation.conditions import FILE, GRIDS
from finetune.ui.generalise.form import MAX_LOSS, REPEATS, SIZES
from finetune.ui.generalise.samples import (
    file_shown,
    fitting_vary,
    kind_columns,
    kinds_shown,
)
from finetune.ui.generalise.titles import skill_choices, skills, vary_choices
from finetune.ui.inoculate.plan_fields import mode_choice, number, several, whole
from finetune.ui.inoculate.plan_form import USUAL_RATE
from probe.errors import UserError
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.ui.api.hub_dataset import is_open
from probe.ui.events import CHANGING, QUIET
from probe.ui.html.elements import alert, note
from probe.ui.page import Page
from probe.ui.panels import hub_dataset
from probe.ui.visitors.visitor_files import own_file

OFFERED_SIZES = (*SIZES, "4000", "20000")
ABOUT_SETTINGS = (
    "As published: 50, 200, 1000 and 4000 examples, five repeats, all weights. Each repeat splits "
    "the templates anew; of several learning rates the one is taken that does best on held-out "
    "examples of what is trained on. The loss is ours: the paper draws the line by eye."
)


def build_fields(page: Page) -> list[Any]:  # Any: components share no useful type
    """Lay out what is always seen: the skill, its examples or a file, what varies."""
    first = skills(NLI)[0]
    skill = gr.Radio(skill_choices(NLI), value=first, label="Skill", elem_id="generalise-skill")
    file = gr.File(
        label="Your table",
        type="filepath",
        height=150,
        visible=False,
        elem_id="generalise-file",
    )
    hub = hub_dataset.build(page, [file], "generalise-file", shown=False)
    column = gr.Dropdown(
        [],
        label="Column that names the kind of each row",
        visible=False,
        elem_id="generalise-column",
        **CHANGING,
    )
    shown = gr.HTML(
        kinds_shown(first, fitting_vary(first, "")), elem_id="generalise-samples", padding=False
    )
    vary = gr.Radio(
        [(grid.title, name) for name, grid in GRIDS.items()],
        value=fitting_vary(first, ""),
        label="Vary",
        elem_id="generalise-vary",
        elem_classes="seg",
    )
    gr.on(
        [skill.change, file.change, column.input, vary.input, page.marks.next.change],
        follow,
        [page.owner, page.task, skill, file, column, vary],
        [file, column, shown, vary],
        trigger_mode="always_last",
        **QUIET,
    )
    gr.on([skill.change, page.marks.next.change], hub_shown, [page.task, skill], hub, **QUIET)
    return [skill, file, column, vary]


def build_settings() -> list[Any]:
    """Lay out what is rarely changed, folded."""
    with gr.Accordion(
        "Settings: examples, repeats, rates",
        open=False,
        elem_id="generalise-settings",
        elem_classes="fold",
    ):
        sizes = several(
            list(OFFERED_SIZES),
            value=list(SIZES),
            label="Train on this many examples",
            elem_id="generalise-sizes",
        )
        with gr.Row():
            repeats = whole(REPEATS, label="Repeats", elem_id="generalise-repeats")
            lrs = gr.Textbox(
                USUAL_RATE, label="Learning rates", min_width=110, elem_id="generalise-lrs"
            )
        mode = mode_choice("generalise-mode")
        max_loss = number(
            MAX_LOSS,
            label="“Learnt the set” from this loss on, points",
            elem_id="generalise-loss",
        )
        gr.HTML(note(ABOUT_SETTINGS), padding=False)
    return [sizes, repeats, lrs, mode, max_loss]


def offered(task: Task) -> list[Any]:
    """Return an update for each field, then for each setting: what a task has to choose from."""
    first = skills(task)[0]
    of_file = first == FILE
    return [
        gr.Radio(skill_choices(task), value=first),
        gr.File(visible=of_file),
        gr.Dropdown(visible=False) if not of_file else gr.skip(),
        _vary(first, ""),
        *[gr.skip()] * 5,
    ]


def follow(
    owner: str, task_name: str, skill: str, file: str | None, column: str | None, vary: str | None
) -> tuple[Any, Any, Markup, Any]:
    """Show what belongs to the chosen skill: its examples and what varies, or a file's kinds."""
    task = task_named(task_name)
    chosen = _offered_skill(task, skill)
    if chosen != FILE:
        fitting = fitting_vary(chosen, vary)
        hidden = gr.Dropdown(visible=False)
        return gr.File(visible=False), hidden, kinds_shown(chosen, fitting), _vary(chosen, fitting)
    names, kind, shown = _of_file(owner, file, column, task)
    offered_columns = gr.Dropdown(choices=names, value=kind, visible=bool(file))
    return gr.File(visible=True), offered_columns, shown, _vary(chosen, "")


def hub_shown(task_name: str, skill: str) -> gr.Accordion:
    """Offer a data set of the hub where a file is asked for, and the hub is open."""
    of_file = _offered_skill(task_named(task_name), skill) == FILE
    return gr.Accordion(visible=of_file and is_open())


def _offered_skill(task: Task, skill: str) -> str:
    """Return the skill, or the first of the task where the task has not that one."""
    return skill if skill in skills(task) else skills(task)[0]


def _of_file(
    owner: str, file: str | None, column: str | None, task: Task
) -> tuple[list[str], str | None, Markup]:
    """Return the columns that may name kinds, the one that is taken, and what is said of it."""
    try:
        names = kind_columns(str(own_file(owner, file)), task) if file else []
        kind = column if column in names else next(iter(names), None)
        return names, kind, file_shown(file, kind, task)
    except UserError as trouble:
        return [], None, alert(trouble)


def _vary(skill: str, vary: str) -> Any:
    """Offer what may vary in a skill; nothing is shown where a file's column says it."""
    if skill == FILE:
        return gr.Radio(visible=False)
    choices = vary_choices(skill)
    return gr.Radio(choices, value=fitting_vary(skill, vary), visible=True)
