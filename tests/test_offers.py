"""Each view of the app offers each task what the table of offers says, and nothing else."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from app import LESSONS, PLACES
from finetune.ui import train
from finetune.ui.generalise import skill_choices
from finetune.ui.inoculate import challenge_choices
from finetune.ui.repair import ALL, change_choices
from probe.analysis.slices import slices_of
from probe.models.library import ModelCache
from probe.tasks.task import Task, offered_tasks
from probe.transforms.options import OPTIONS
from probe.ui.annotation.own_sets import asked_of
from probe.ui.measure import templates
from probe.ui.panels import changes, options
from probe.ui.tabs import look_up
from probe.ui.tabs.probe import tab as probe_tab
from probe.ui.tabs.probe.view import open_link
from tests.support.offers import EVERY, VIEWS
from tests.support.pages.visitors import ME, page_models

Offered = Callable[[Task], set[str]]


def named(choices: Any) -> set[str]:  # Any: pairs of title and name
    """Return the names behind the titles of a list."""
    return {name for _, name in choices}


def without(group: str, *titles: str) -> str:
    """Return the name of a group of slices without the task's own word for a text."""
    for title in titles:
        group = group.replace(f" in the {title}", "").removeprefix(f"{title} ")
    return group


def set_options(build: Callable[[], list[Any]], task: Task) -> set[str]:
    """Return the options whose controls are in sight for a task."""
    with gr.Blocks():
        controls = build()
    named = zip(OPTIONS, controls, strict=True)
    return {f"set {name}" for name, control in named if in_sight(control, task)}


def in_sight(part: Any, task: Task) -> bool:
    """Whether neither a part of the page nor what it stands in is marked as other tasks' alone."""
    if part is None:
        return True
    marks = part.elem_classes or []
    return (f"of-{task.name}" in marks or "of-tasks" not in marks) and in_sight(part.parent, task)


def probe(task: Task) -> set[str]:
    """Return what Probe offers: changes, their options, and the button between two texts."""
    opened = open_link(page_models(), ME, {"task": task.name})
    tools = str(probe_tab.values_of(opened)["tools"])
    shown = named(probe_tab.changes(task)) | set_options(options.build, task)
    return shown | ({"swap"} if "Swap" in tools else set())


def batch(task: Task) -> set[str]:
    """Return what Score offers: changes, their options, and the panel that makes files."""
    chosen, *_ = changes.offer(task.name)
    panel, *_ = templates.offer(task.name)
    shown = named(chosen.choices) | set_options(options.build, task)
    return shown | ({"pairs from templates"} if panel.visible else set())


def compare(task: Task) -> set[str]:
    """Return what Compare offers: groups of slices."""
    titles = [task.title_of(field).lower() for field in task.fields]
    groups = [each.group for each in slices_of(task)]
    return {*groups, *(without(group, *titles) for group in groups)}


def looked_up(task: Task) -> set[str]:
    """Return what Look up shows: an entry for each change, and its other parts."""
    parts = list(look_up.parts_of(task, {}))
    return {part.name for part in parts} | {row.code for part in parts for row in part.rows}


CORE = SimpleNamespace(store=None, cache=ModelCache())
AIMS = {aim.view.name: aim for of in train.AIMS for aim in [of(SimpleNamespace(core=CORE))]}
OFFERED: dict[str, Offered] = {
    "lessons": lambda task: {lesson.name for lesson in LESSONS if task in lesson.tasks},
    "probe": probe,
    "score": batch,
    "compare": compare,
    "people": lambda task: named(asked_of(task)),
    "inoculate": lambda task: named(challenge_choices(task)),
    "repair": lambda task: named(change_choices(task)) - {ALL},
    "generalise": lambda task: named(skill_choices(task)),
    "look-up": looked_up,
}


IN = dict.fromkeys(("lessons", "look-up"), "learn") | dict.fromkeys(AIMS, "train")
"""The views in which others stand."""


def test_a_tab_offers_a_task_what_the_table_says() -> None:
    assert tuple(task.name for task in offered_tasks()) == EVERY


@pytest.mark.parametrize("task", offered_tasks(), ids=lambda task: task.name)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_offers_a_task_what_the_table_says(name: str, task: Task) -> None:
    meant = {each for each, tasks in VIEWS[name].items() if task.name in tasks}
    called = IN.get(name, name)
    (view,) = (view for place in PLACES for view in place.views if view.name == called)
    aimed = name not in AIMS or AIMS[name].suits(task)
    offered = OFFERED[name](task) if aimed and (view.suits is None or view.suits(task)) else set()
    assert offered & set(VIEWS[name]) == meant
