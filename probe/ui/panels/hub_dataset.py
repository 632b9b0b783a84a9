"""The panel for a data set of the hub: what it fetches becomes an uploaded file of the view."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
from probe.runs.store import Store
from probe.ui.api.files import fetch_for, is_open
from probe.ui.events import WAITED_FOR
from probe.ui.html.elements import alert, note
from probe.ui.page import Page

ABOUT = (
    "One split of a data set of the Hugging Face hub, as owner/name:split. Where it has several "
    "configurations: owner/name:configuration/split; a fixed version is owner/name@revision. It is "
    "fetched only when you press the button, and read as an uploaded file is."
)


def show(store: Store, visitor: str, name: str | None) -> tuple[str | None, Markup]:
    """Fetch a data set; return the place of the file and one sentence."""
    try:
        dataset = fetch_for(store, visitor, name)
    except UserError as trouble:
        return None, alert(trouble)
    return str(dataset.path), note(f"{dataset.words}: loaded.")


def show_as(
    store: Store, uses: Sequence[str], visitor: str, name: str | None, use: str | None
) -> list[Any]:  # Any: a place, or gradio's update that leaves a file as it is
    """Fetch a data set for a use, or the first; return what each use's file is, and a sentence."""
    place, words = show(store, visitor, name)
    chosen = use if use in uses else uses[0]
    return [*(place if each == chosen else gr.skip() for each in uses), words]


def build(
    page: Page, uploads: Sequence[gr.File], elem_id: str, shown: bool = True, folded: bool = True
) -> gr.Accordion:
    """Lay out the panel, hidden where the hub is closed; what it fetches goes to an upload.

    Where there are several, a person chooses which by its label.
    """
    uses = [str(upload.label) for upload in uploads]
    panel = gr.Accordion(
        "A data set of the hub",
        open=not folded,
        visible=shown and is_open(),
        elem_id=f"{elem_id}-hub",
        elem_classes="fold",
    )
    with panel:
        gr.HTML(note(ABOUT))
        use = gr.Dropdown(
            uses, value=uses[0], label="Use it as", visible=len(uses) > 1, elem_id=f"{elem_id}-use"
        )
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
        partial(show_as, page.core.store, uses),
        [page.owner, name, use],
        [*uploads, message],
        concurrency_id="load",
        concurrency_limit=1,
        **WAITED_FOR,
    )
    return panel
