"""What several tabs let a person choose from."""

import gradio as gr

from probe.ui.events import QUIET
from probe.ui.page import Page


def refresh_models(page: Page, models: gr.Dropdown) -> None:
    """Offer the visitor's own models, and those that came meanwhile, when the tab is opened."""
    names = page.core.models.names
    page.tab.select(lambda owner: gr.Dropdown(choices=names(owner)), page.owner, models, **QUIET)
