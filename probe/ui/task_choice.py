"""The choice of the task, once for all tabs, at the top of the page."""

from collections.abc import Mapping

import gradio as gr

from probe.errors import LabelError
from probe.tasks.nli import NLI
from probe.tasks.task import Task, offered_tasks, task_named


def build_choice() -> gr.Radio:
    """Lay out the choice; its value is the task's name."""
    choices = [(task.choice, task.name) for task in offered_tasks()]
    return gr.Radio(
        choices,
        value=NLI.name,
        label="Task",
        show_label=False,
        container=False,
        interactive=True,
        elem_id="task",
    )


def task_in(query: Mapping[str, str]) -> Task:
    """Return the task that a link names, inference where it names none that is offered."""
    try:
        task = task_named(query.get("task", NLI.name))
    except LabelError:
        return NLI
    return task if task in offered_tasks() else NLI


def query_for(task: Task, query: Mapping[str, str]) -> Mapping[str, str]:
    """Return what a link says where it names this task, nothing where it names another."""
    return query if task_in(query) is task else {}


def has_labels(task: Task) -> bool:
    """Whether a task's answers are labels: Repair and Generalise know no other."""
    return not task.has_spans


def labelled(task: Task) -> Task:
    """Return a task that is answered with labels: inference in place of any other.

    For the others Repair and Generalise stand hidden.
    """
    return task if has_labels(task) else NLI
