"""What several tabs let a person choose from."""

import gradio as gr

from probe.models.library import entries
from probe.ui.events import QUIET


def model_names() -> list[str]:
    """Return the models that can be chosen."""
    return [entry.name for entry in entries()]


def refresh_models(tab: gr.Tab, models: gr.Dropdown) -> None:
    """Offer a model that came meanwhile as soon as the tab is opened."""
    tab.select(lambda: gr.Dropdown(choices=model_names()), None, models, **QUIET)
