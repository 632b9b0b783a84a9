"""The panel for a model of one's own: a hub id or a folder, and its label order."""

from functools import partial
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
from probe.models.errors import UnclearLabels
from probe.runs.model_access import ModelAccess
from probe.tasks.nli import NLI
from probe.tasks.task import task_named
from probe.ui.api import models as models_api
from probe.ui.api.models import open_own
from probe.ui.choices import short_model_choices
from probe.ui.events import QUIET, WAITED_FOR
from probe.ui.html.elements import alert, join, note
from probe.ui.page import Page

ABOUT = (
    "A hub's model, as owner/name or owner/name@revision, or the full path of a folder. It is "
    "fetched only when you press the button; safetensors only, and no code of its own is run. "
    "From then on anybody here who names it can use it."
)


def show(
    models: ModelAccess,
    visitor: str,
    name: str | None,
    labels: str | None,
    task: str = NLI.name,
) -> list[Any]:
    """Load a model of a task; return a message, the field for its labels, the list of models.

    The fields are None where nothing was ever typed.
    """
    asked = task_named(task)
    try:
        loaded = open_own(models, visitor, name, labels, asked)
    except UnclearLabels as unclear:
        return [alert(unclear), _ask(unclear), gr.skip()]
    except UserError as trouble:
        return [alert(trouble), gr.skip(), gr.skip()]
    chosen, known = loaded.model.name, models.names(visitor, asked)
    warning = join(map(alert, loaded.warnings))
    return [
        Markup('<p class="fine" role="status">{}</p>{}').format(loaded.summary, warning),
        gr.Textbox(
            label=f"Which output is which? Now {', '.join(loaded.model.order)}",
            info="",
            visible=bool(labels or warning),
        ),
        gr.Dropdown(choices=short_model_choices(dict.fromkeys([*known, chosen])), value=chosen),
    ]


def _ask(unclear: UnclearLabels) -> gr.Textbox:
    """Ask for the order, and offer what the plain pairs say."""
    offered = ", ".join(unclear.suggested or ())
    hint = f"Offered: with this order it gets {unclear.right}." if offered else ""
    return gr.Textbox(
        value=offered,
        label=f"Which output is which? In the order of {', '.join(unclear.outputs)}",
        info=hint,
        visible=True,
    )


def build(page: Page, model: gr.Dropdown, task: gr.Textbox) -> gr.events.Dependency:
    """Lay out the panel; what it loads for the `task` is chosen in `model`.

    Returns the event that loads.
    """
    with gr.Accordion("Your own model", open=False, elem_id="own-model", elem_classes="fold"):
        gr.HTML(note(ABOUT))
        name = gr.Textbox(label="Hub id or folder", placeholder="owner/name", elem_id="own-name")
        labels = gr.Textbox(label="Which output is which?", visible=False, elem_id="own-labels")
        go = gr.Button("Load", size="sm", elem_id="own-load")
        message = gr.HTML(elem_id="own-message")
    # other labels belong to another model
    name.change(lambda: gr.Textbox("", visible=False), None, labels, **QUIET)
    loaded: gr.events.Dependency = gr.on(
        [go.click, name.submit, labels.submit],
        partial(show, page.core.models),
        [page.owner, name, labels, task],
        [message, labels, model],
        concurrency_id="load",
        concurrency_limit=1,
        **WAITED_FOR,
    )
    models_api.build(page.core.models)
    return loaded
