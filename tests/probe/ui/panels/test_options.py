"""The options of the transforms: which of them a task is shown."""

import gradio as gr
import pytest

from probe.tasks.task import offered_tasks, task_named
from probe.transforms.options import OPTIONS
from probe.transforms.registry import FAMILIES, REGISTRY
from probe.ui.panels import options


def titles_for(task_name: str) -> list[str]:
    """Return the titles of the families that are not marked as another task's."""
    with gr.Blocks() as page:
        options.build()
    columns = [part for part in page.blocks.values() if isinstance(part, gr.Column)]
    marked = [part for part in columns if f"of-{task_name}" in (part.elem_classes or [])]
    return [
        term.title for term in FAMILIES.values() for part in marked if term.title in heading(part)
    ]


def heading(column: gr.Column) -> str:
    return str(column.children[0].value)


@pytest.mark.parametrize("name", [task.name for task in offered_tasks()])
def test_a_task_is_shown_the_options_of_its_transforms_alone(name: str) -> None:
    task = task_named(name)
    families = {each.family for each in REGISTRY.values() if each.suits(task)}
    assert titles_for(name) == [FAMILIES[key].title for key in FAMILIES if key in families]


def test_inference_has_no_options_of_distractors() -> None:
    assert "Distractors" not in titles_for("nli")
    assert "Distractors" in titles_for("reading")


def test_an_option_is_named_behind_its_meaning() -> None:
    with gr.Blocks():
        labels = [control.label for control in options.build()]
    assert labels[0] == "Share of the tokens that drop, repeat and replace keep · keep"
    assert [label.rpartition(" · ")[2] for label in labels] == list(OPTIONS)
