"""The fields of the Generalise tab, laid out; `form` says what they mean."""

from typing import Any

import gradio as gr
from markupsafe import Markup

from finetune.trials.generalisation import FILE, GRIDS, KIND
from finetune.trials.params import USUAL_RATE, param_of
from finetune.ui.generalise.samples import (
    file_shown,
    fitting_vary,
    kind_columns,
    kinds_shown,
)
from finetune.ui.generalise.titles import skill_choices, skills, vary_choices
from finetune.ui.inoculate.plan_fields import mode_choice, number, several, whole
from probe.errors import UserError
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.ui.api.hub_dataset import is_open
from probe.ui.events import CHANGING, QUIET
from probe.ui.html.elements import alert, note
from probe.ui.page import Page
from probe.ui.panels import hub_dataset
from probe.ui.task_choice import labelled
from probe.ui.visitors.visitor_files import own_file

SIZES, REPEATS = param_of(KIND, "sizes").begins.split(","), 2
"""What the form begins with."""
LOSS = param_of(KIND, "max_loss")
OFFERED_SIZES = (*SIZES, "4000", "20000")
ABOUT_SETTINGS = (
    "As published: 50, 200, 1000 and 4000 examples, five repeats, all weights. Each repeat splits "
    "the templates anew; of several learning rates the one is taken that does best on held-out "
    "examples of what is trained on. The loss is ours: the paper draws the line by eye."
)


class Fields:
    """What is always seen on one page: the skill, its examples or a file, what varies."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._fields: list[Any] = []  # Any: components share no useful type
        self._shown: list[Any] = []

    def build(self) -> list[Any]:
        """Lay them out; return those that say what is trained."""
        first = skills(NLI)[0]
        skill = gr.Radio(skill_choices(NLI), value=first, label="Skill", elem_id="generalise-skill")
        file = gr.File(
            label="Your table",
            type="filepath",
            height=150,
            visible=False,
            elem_id="generalise-file",
        )
        hub = hub_dataset.build(self._page, [file], "generalise-file", shown=False)
        column = gr.Dropdown(
            [],
            label="Column that names the kind of each row",
            visible=False,
            elem_id="generalise-column",
            **CHANGING,
        )
        samples = gr.HTML(
            kinds_shown(first, fitting_vary(first, "")), elem_id="generalise-samples", padding=False
        )
        vary = gr.Radio(
            [(grid.title, name) for name, grid in GRIDS.items()],
            value=fitting_vary(first, ""),
            label="Vary",
            elem_id="generalise-vary",
            elem_classes="seg",
        )
        self._fields = [skill, file, column, vary]
        self._shown = [file, hub, column, samples, vary]
        return self._fields

    def follow(self, offered: gr.events.Dependency) -> None:
        """Show what belongs to a skill once it is chosen, or offered for the task."""
        skill, file, column, vary = self._fields
        told = [skill.change, file.change, column.input, vary.input]
        asked = [self._page.owner, self._page.task, *self._fields]
        mark = self._page.mark_of(*told, after=[offered])
        mark.change(follow, asked, self._shown, **QUIET)


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
            round(LOSS.begins * LOSS.unit, 6),
            label=LOSS.title,
            elem_id="generalise-loss",
        )
        gr.HTML(note(ABOUT_SETTINGS), padding=False)
    return [sizes, repeats, lrs, mode, max_loss]


def offered(task: Task) -> list[Any]:
    """Return an update for each field, then for each setting: what a task has to choose from.

    The other fields follow the skill.
    """
    return [gr.Radio(skill_choices(task), value=skills(task)[0]), *[gr.skip()] * 8]


def follow(
    owner: str, task_name: str, skill: str, file: str | None, column: str | None, vary: str | None
) -> list[Any]:
    """Show what belongs to the chosen skill: its examples and what varies, or a file's kinds.

    Returns updates of the file, the hub's data set, the column, the examples and what varies.
    """
    if skill != FILE:
        fitting = fitting_vary(skill, vary)
        hidden = [part(visible=False) for part in (gr.File, gr.Accordion, gr.Dropdown)]
        varying = gr.Radio(vary_choices(skill), value=fitting, visible=True)
        return [*hidden, kinds_shown(skill, fitting), varying]
    names, kind, shown = _of_file(owner, file, column, labelled(task_named(task_name)))
    columns = gr.Dropdown(choices=names, value=kind, visible=bool(file))
    hub = gr.Accordion(visible=is_open())
    return [gr.File(visible=True), hub, columns, shown, gr.Radio(visible=False)]


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
