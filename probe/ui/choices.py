"""What several tabs let a person choose from."""

from collections.abc import Iterable

import gradio as gr

from probe.models.bundled import title_of
from probe.ui.events import QUIET
from probe.ui.page import Page


def model_choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return models as one chooses them, those that come with the app by their titles."""
    return [(title_of(name), name) for name in names]


def refresh_models(page: Page, models: gr.Dropdown) -> None:
    """Offer the visitor's own models, and those that came meanwhile, when the tab is opened."""
    names = page.core.models.names
    page.tab.select(lambda owner: gr.Dropdown(choices=names(owner)), page.owner, models, **QUIET)
