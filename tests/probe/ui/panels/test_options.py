"""The options of the transforms: which of them a task is shown."""

import gradio as gr
import pytest

from probe.tasks.nli import NLI
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.transforms.options import OPTIONS, Options
from probe.transforms.registry import GROUPS, group_of, options_of
from probe.ui.panels import options


def titles_for(task_name: str) -> list[str]:
    """Return the titles of the families that are not marked as another task's."""
    with gr.Blocks() as page:
        options.build()
    columns = [part for part in page.blocks.values() if isinstance(part, gr.Column)]
    marked = [part for part in columns if f"of-{task_name}" in (part.elem_classes or [])]
    return [
        term.title for term in GROUPS.values() for part in marked if term.title in heading(part)
    ]


def heading(column: gr.Column) -> str:
    return str(column.children[0].value)


@pytest.mark.parametrize("task", offered_tasks(), ids=lambda task: task.name)
def test_a_task_is_shown_the_families_that_it_has_options_of(task: Task) -> None:
    families = {group_of(name) for name in options_of(task)}
    assert titles_for(task.name) == [GROUPS[key].title for key in GROUPS if key in families]


def test_what_was_set_for_another_task_is_not_read() -> None:
    with gr.Blocks():
        values = dict(zip(OPTIONS, (control.value for control in options.build()), strict=True))
    values |= {"antonym": "naik_code", "keep": 0.25}
    held = list(values.values())
    assert options.read(held, NLI) == Options(keep=0.25, antonym="naik_code")
    assert options.read(held, SENTIMENT) == Options(keep=0.25)


def test_inference_has_no_options_of_distractors() -> None:
    assert "Distractors" not in titles_for("nli")
    assert "Distractors" in titles_for("reading")


def test_an_option_is_named_behind_its_meaning() -> None:
    with gr.Blocks():
        labels = [control.label for control in options.build()]
    assert labels[0] == "Share of the tokens that drop, repeat and replace keep · keep"
    assert [label.rpartition(" · ")[2] for label in labels] == list(OPTIONS)
