"""The panel for a model of one's own: a hub id or a folder, and its label order."""

from functools import partial
from html import escape
from typing import Any

import gradio as gr

from probe.errors import ModelError, UserError
from probe.models.cache import ModelCache
from probe.models.errors import UnclearLabels
from probe.models.user_models import LoadedModel, require_open
from probe.tasks.task import read_labels
from probe.ui.widgets import alert, model_names

ABOUT = (
    "A hub's model, as owner/name or owner/name@revision, or the full path of a folder. It is "
    "fetched only when you press the button; safetensors only, and no code of its own is run."
)


def open_own(cache: ModelCache, name: str | None, labels: str | None) -> LoadedModel:
    """Load what a visitor named. Raises ModelError or LabelError."""
    named = (name or "").strip()
    if not named:
        raise ModelError("say which model: a hub's owner/name, or a folder")
    require_open(named)
    return cache.open(named, read_labels(labels or ""))


def show(cache: ModelCache, name: str | None, labels: str | None) -> list[Any]:
    """Load a model; return what is told, the field for its labels, the list of models.

    The fields are None where nothing was ever typed.
    """
    try:
        opened = open_own(cache, name, labels)
    except UnclearLabels as unclear:
        return [alert(unclear), _ask(unclear), gr.skip()]
    except UserError as trouble:
        return [alert(trouble), gr.skip(), gr.skip()]
    chosen = opened.classifier.name
    warning = "".join(alert(words) for words in (opened.warning, opened.doubt) if words)
    return [
        f'<p class="fine" role="status">{escape(opened.words)}</p>{warning}',
        gr.Textbox(
            label=f"Which output is which? Now {', '.join(opened.classifier.order)}",
            info="",
            visible=bool(labels or warning),
        ),
        gr.Dropdown(choices=list(dict.fromkeys([*model_names(), chosen])), value=chosen),
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


def load_api(cache: ModelCache, model: str, labels: str) -> dict[str, Any]:
    """Answer the HTTP endpoint: what was loaded, under which name it can be asked."""
    try:
        opened = open_own(cache, model, labels)
    except UserError as trouble:
        raise gr.Error(str(trouble)) from trouble
    label_check, classifier = opened.label_check, opened.classifier
    return {
        "model": classifier.name,
        "model_revision": classifier.revision,
        "labels": list(classifier.order),
        "plain_pairs_right": label_check.right if label_check else None,
        "plain_pairs": label_check.of if label_check else None,
        "warning": opened.warning or opened.doubt,
    }


def build(cache: ModelCache, model: gr.Dropdown) -> gr.events.Dependency:
    """Lay out the panel; what it loads is chosen in `model`. Return the event that loads."""
    with gr.Accordion("Your own model", open=False, elem_id="own-model"):
        gr.HTML(f'<p class="fine">{ABOUT}</p>')
        name = gr.Textbox(label="Hub id or folder", placeholder="owner/name", elem_id="own-name")
        labels = gr.Textbox(label="Which output is which?", visible=False, elem_id="own-labels")
        go = gr.Button("Load", size="sm", elem_id="own-load")
        told = gr.HTML(elem_id="own-told")
    # other labels belong to another model
    quiet: dict[str, Any] = {"api_visibility": "private"}
    name.change(
        lambda: gr.Textbox("", visible=False), None, labels, show_progress="hidden", **quiet
    )
    loaded: gr.events.Dependency = gr.on(
        [go.click, name.submit, labels.submit],
        partial(show, cache),
        [name, labels],
        [told, labels, model],
        concurrency_id="load",
        concurrency_limit=1,
        show_progress="minimal",
        **quiet,
    )

    def load_model(model: str, labels: str = "") -> dict[str, Any]:
        """Load a hub's model or a folder, so that /probe and /batch can be asked for it."""
        return load_api(cache, model, labels)

    gr.api(load_model, api_name="load_model", concurrency_id="load")
    return loaded
