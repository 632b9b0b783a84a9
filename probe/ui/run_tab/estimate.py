"""About how long what a form asks for takes, said beside its button."""

from collections.abc import Callable, Iterable
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.ui.events import QUIET

MEASURING = Markup('<p class="fine">Measuring how long it takes …</p>')


def build_estimate(elem_id: str) -> gr.HTML:
    """Lay out the place of an estimate, which is still being made."""
    return gr.HTML(MEASURING, elem_id=elem_id, padding=False)


def follow_form(
    estimate: gr.HTML,
    forecast: Callable[..., Markup],
    form: list[Any],  # Any: components share no useful type
    shown: Iterable[gr.events.Dependency],
    changed: Iterable[Any],  # Any: events of components
) -> None:
    """Estimate anew after the tab is shown, for measuring takes a moment, and when a field changes.

    It is one event: an estimate of what stood there before must not come after that of what stands
    there.
    """
    asked = gr.State(0)
    for answer in shown:
        answer.then(lambda asked: asked + 1, asked, asked, **QUIET)
    events = [asked.change, *changed]
    gr.on(events, forecast, form, estimate, trigger_mode="always_last", **QUIET)
