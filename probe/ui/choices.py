"""What several tabs let a person choose from."""

from typing import Any, get_args

import gradio as gr

from probe.models.library import entries
from probe.ui.events import QUIET


def model_names() -> list[str]:
    """Return the models that can be chosen."""
    return [entry.name for entry in entries()]


def refresh_models(tab: gr.Tab, models: gr.Dropdown) -> None:
    """Offer a model that came meanwhile as soon as the tab is opened."""
    tab.select(lambda: gr.Dropdown(choices=model_names()), None, models, **QUIET)


def require_choice(name: str, value: str, choices: object) -> Any:  # Any: one of its values
    """Return the value if the Literal `choices` has it. Raises gr.Error naming the choices."""
    if value not in get_args(choices):
        raise gr.Error(f"{name} {value!r} is not one of {', '.join(get_args(choices))}")
    return value
