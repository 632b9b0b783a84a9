"""The endpoint over HTTP for a data set of the hub, and what the page does with one, too."""

from typing import Any

import gradio as gr

from probe.data.hub_dataset import FetchedDataset, fetch, read_reference
from probe.data.names import PREFIX
from probe.errors import FileError
from probe.limits import visitor_bounds
from probe.runs.store import Store
from probe.settings import settings
from probe.ui.api.arguments import Name, Token
from probe.ui.api.endpoint import endpoint, over_http
from probe.ui.visitors.visitor_files import check_room, fresh_folder


@over_http()
def build(store: Store) -> None:
    """Add `/hub_dataset`, with components of its own: a file needs one to travel in."""

    @endpoint
    def hub_dataset(name: Name, owner: Token) -> tuple[dict[str, Any], str]:
        """Fetch a split of a hub's data set, as a file that /batch and /compare take.

        Args:
            name: owner/name, owner/name:split or owner/name@revision:configuration/split.
            owner: The token of one's own runs, which /inoculate returns.
        """
        dataset = fetch_for(store, owner, name)
        source = dataset.source
        known = {"name": source.name, "revision": source.revision}
        return {**known, "config": source.config, "split": source.split}, str(dataset.path)

    with gr.Row(visible=False):
        asked = [gr.Textbox("", label="name"), gr.Textbox("", label="owner")]
        answered = [gr.JSON(label="source"), gr.File(label="file")]
        call = gr.Button()
    call.click(hub_dataset, asked, answered, api_name="hub_dataset", concurrency_id="load")


def is_open() -> bool:
    """Whether visitors may fetch from the hub, as NLI_CLINIC_OWN_MODELS says."""
    return "hub" in settings().user_models


def fetch_for(store: Store, visitor: str, name: str | None) -> FetchedDataset:
    """Fetch what a visitor named into their files. Raises FileError, LimitError."""
    if not is_open():
        raise FileError("data sets of the hub cannot be opened here")
    named = (name or "").strip().removeprefix(PREFIX)
    if not named:
        raise FileError("say which data set: owner/name:split")
    asked = read_reference(f"{PREFIX}{named}")
    check_room(store, visitor)
    return fetch(asked, fresh_folder(visitor), visitor_bounds())
