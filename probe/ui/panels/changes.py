"""Which changes a text gets: presets, and a list with a search in which chains can be typed."""

from typing import Any

import gradio as gr

from probe.tasks.task import task_named
from probe.transforms.registry import PRESETS, choice, first_choice, presets, ready
from probe.ui.events import CHANGING, QUIET
from probe.ui.page import Page

LABEL = "Changes to the text; type a chain as drop+sort"


def build_changes(page: Page, elem_id: str) -> gr.Dropdown:
    """Lay out the presets and the list; both are those of the chosen task."""
    now = str(page.task.value)
    with gr.Row(elem_classes="presets", elem_id=f"{elem_id}-presets"):
        buttons = {title: _button(title, now) for title in PRESETS}
    chosen = gr.Dropdown(
        _choices(now),
        value=list(first_choice(task_named(now))),
        multiselect=True,
        label=LABEL,
        elem_id=elem_id,
        **CHANGING,
    )
    for title, button in buttons.items():
        button.click(_taking(title), page.task, chosen, **QUIET)
    page.on_open(offer, page.task, [chosen, *buttons.values()])
    return chosen


def offer(task_name: str) -> list[Any]:  # Any: gradio's updates
    """Return the list and the presets of a task; what is chosen in it the view says."""
    chosen = gr.Dropdown(choices=_choices(task_name))
    return [chosen, *(_button(title, task_name) for title in PRESETS)]


def _button(title: str, task_name: str) -> gr.Button:
    shown = title in presets(task_named(task_name))
    return gr.Button(title, size="sm", visible=shown, min_width=0, elem_classes="preset")


def _taking(title: str) -> Any:  # Any: a handler
    def take(task_name: str) -> list[str]:
        return list(presets(task_named(task_name)).get(title, ()))

    return take


def _choices(task_name: str) -> list[tuple[str, str | int | float]]:
    return [(choice(name), name) for name in ready(task_named(task_name))]
