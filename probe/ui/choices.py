"""What several tabs let a person choose from."""

from typing import Any, get_args

import gradio as gr

from probe.ui.events import QUIET
from probe.ui.page import Page


def refresh_models(page: Page, models: gr.Dropdown) -> None:
    """Offer the visitor's own models, and those that came meanwhile, when the tab is opened."""
    names = page.core.models.names
    page.tab.select(lambda owner: gr.Dropdown(choices=names(owner)), page.owner, models, **QUIET)


def require_choice(name: str, value: str, choices: object) -> Any:  # Any: one of its values
    """Return the value if the Literal `choices` has it. Raises gr.Error naming the choices."""
    if value not in get_args(choices):
        raise gr.Error(f"{name} {value!r} is not one of {', '.join(get_args(choices))}")
    return value
