"""What the tabs share: names to choose from, and one sentence where something is wrong."""

from html import escape
from typing import Any, get_args

import gradio as gr

from probe.models.library import entries


def model_names() -> list[str]:
    """Return the models that can be chosen."""
    return [entry.name for entry in entries()]


def alert(trouble: object) -> str:
    """Show one sentence in place of a result."""
    return f'<div class="problem" role="alert">{escape(str(trouble))}</div>'


def named(name: str, value: str, kind: object) -> Any:  # Any: one of the Literal's values
    """Return the value if the Literal `kind` has it. Raises gr.Error naming the choices."""
    if value not in get_args(kind):
        raise gr.Error(f"{name} {value!r} is not one of {', '.join(get_args(kind))}")
    return value
