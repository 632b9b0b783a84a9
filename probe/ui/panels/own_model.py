"""The panel for a model of one's own: a hub id or a folder, its label order and template."""

from functools import partial
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
from probe.models.classifier import Classifier
from probe.models.errors import SeveralCheckpoints, UnclearLabels
from probe.models.library import AnyModel
from probe.runs.access import ModelAccess
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
    template: str | None = "",
) -> list[Any]:
    """Load a model of a task; return a message, the field for its labels, the list of models.

    Then come the field for its template and that of its name, in which the latest checkpoint of a
    folder of several is offered. The fields are None where nothing was ever typed.
    """
    asked, left = task_named(task), gr.skip()
    try:
        loaded = open_own(models, visitor, name, labels, asked, template)
    except UnclearLabels as unclear:
        return [alert(unclear), _ask(unclear), left, left, left]
    except SeveralCheckpoints as several:
        return [alert(several), left, left, left, gr.Textbox(several.checkpoints[0])]
    except UserError as trouble:
        return [alert(trouble), left, left, left, left]
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
        _template_of(loaded.model),
        left,
    ]


def _template_of(model: AnyModel) -> gr.Textbox:
    """Show how a decoder's texts become one, to be changed."""
    if not isinstance(model, Classifier) or not model.frame:
        return gr.Textbox("", visible=False)
    return gr.Textbox(model.template, placeholder=model.frame, visible=True)


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
        template = gr.Textbox(
            label="How are its texts put into one?",
            info="Each text once, by its name in braces; if empty, as its tokenizer joins them.",
            visible=False,
            elem_id="own-template",
        )
        go = gr.Button("Load", size="sm", elem_id="own-load")
        message = gr.HTML(elem_id="own-message")
    # other labels and another template belong to another model
    name.change(lambda: [gr.Textbox("", visible=False)] * 2, None, [labels, template], **QUIET)
    loaded: gr.events.Dependency = gr.on(
        [go.click, name.submit, labels.submit, template.submit],
        partial(show, page.core.models),
        [page.owner, name, labels, task, template],
        [message, labels, model, template, name],
        concurrency_id="load",
        concurrency_limit=1,
        **WAITED_FOR,
    )
    models_api.build(page.core.models)
    return loaded
