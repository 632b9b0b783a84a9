"""The panel for a data set of the hub: what it fetches is the file of the tab."""

from functools import partial

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
from probe.runs.store import Store
from probe.ui.api.hub_dataset import fetch_for, is_open
from probe.ui.events import QUIET
from probe.ui.html.elements import alert, note
from probe.ui.page import Page

ABOUT = (
    "One split of a data set, as owner/name:split. Where it has several configurations: "
    "owner/name:configuration/split; a fixed version is owner/name@revision. It is fetched only "
    "when you press the button, and read as an uploaded file is."
)


def show(store: Store, visitor: str, name: str | None) -> tuple[str | None, Markup]:
    """Fetch a data set; return the place of the file and one sentence."""
    try:
        dataset = fetch_for(store, visitor, name)
    except UserError as trouble:
        return None, alert(trouble)
    return str(dataset.path), note(f"{dataset.words}: loaded.")


def build(page: Page, upload: gr.File, elem_id: str) -> None:
    """Lay out the panel, hidden where the hub is closed; what it fetches goes to `upload`."""
    with gr.Accordion(
        "Or a data set of the Hugging Face hub",
        open=False,
        visible=is_open(),
        elem_id=f"{elem_id}-hub",
    ):
        gr.HTML(note(ABOUT))
        with gr.Row(elem_classes="hub-name"):
            name = gr.Textbox(
                label="Data set of the hub",
                placeholder="owner/name:split",
                scale=4,
                min_width=220,
                elem_id=f"{elem_id}-hub-name",
            )
            go = gr.Button("Fetch", size="sm", min_width=90, elem_id=f"{elem_id}-hub-fetch")
        message = gr.HTML(elem_id=f"{elem_id}-hub-message")
    gr.on(
        [go.click, name.submit],
        partial(show, page.core.store),
        [page.owner, name],
        [upload, message],
        concurrency_id="load",
        concurrency_limit=1,
        **{**QUIET, "show_progress": "minimal"},
    )
