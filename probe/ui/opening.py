"""What a tab is filled with when it is first shown, and why what was chosen since stays."""

import json
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

import gradio as gr

from probe.tasks.task import offered_tasks
from probe.ui.events import QUIET

Answer = Callable[..., Any]  # Any: a handler's values, and gradio's updates of components
FOLLOW = """(names => (opened, front, task, ...marks) => {
  const [first, next, again] = [0, 1, 2].map(mark => 3 * names.indexOf(front) + mark);
  const told = marks.map(() => ({ __type__: "update" }));
  if (opened && !marks[first]) told[first] = task;
  else if (opened && (marks[next] || marks[first]) !== task) told[next] = task;
  else if (opened) told[again] = String(Number(marks[again]) + 1);
  return told;
})(%s)"""
"""Tells the tab in front the task, in the mark of its first showing or in that of another task; or
that it is shown again as it was."""


OPEN_LINK = """((names, tasks) => () => {
  const link = new URLSearchParams(window.location.search), kept = { __type__: "update" };
  const tab = link.get("tab"), task = link.get("task"), shown = { ...kept, selected: tab };
  return [
    ...(names.includes(tab) ? [shown, tab] : [kept, kept]),
    tasks.includes(task) ? task : kept,
  ];
})(%s, %s)"""
"""Opens the tab and chooses the task that the page's address names, before anybody can press one:
an answer of the app could come after that."""


class TaskMarks(NamedTuple):
    """Hidden marks of a tab, empty until it is shown.

    `first` names the task that the tab is first shown with, once the page has opened; `next` each
    other one that it is shown with from then on; `again` counts how often it was shown once more
    with the same one. They stand outside the tabs, where they are kept before a tab is shown, and
    in the browser, so that a tab whose session the app has dropped is not filled anew.
    """

    first: gr.Textbox
    next: gr.Textbox
    again: gr.Textbox


class Front:
    """Which tab is in front, and what the tabs are told of it: a hidden tab asks for nothing."""

    def __init__(self, names: Sequence[str], first: str) -> None:
        """Lay out the marks of the tabs; the one called `first` is in front at the beginning."""
        self.opened = gr.Checkbox(False, label="the page has opened", visible=False)
        self.name = _mark(first, "tab-in-front")
        self.marks = {
            name: TaskMarks(
                _mark("", f"{name}-first-task"),
                _mark("", f"{name}-next-task"),
                _mark("0", f"{name}-again"),
            )
            for name in names
        }

    def note(self, name: str, tab: gr.Tab) -> None:
        """Note when a tab comes in front; before its other events, for which gradio waits."""
        tab.select(None, None, self.name, js=f"() => {json.dumps(name)}", **QUIET)

    def follow(self, opened: gr.events.Dependency, task: gr.Radio) -> None:
        """Tell the tab in front the task, from when the page has opened."""
        opened.then(None, None, self.opened, js="() => true", **QUIET)
        marks = [mark for three in self.marks.values() for mark in three]
        gr.on(
            [self.opened.change, self.name.change, task.change],
            None,
            [self.opened, self.name, task, *marks],
            marks,
            js=FOLLOW % json.dumps(list(self.marks)),
            trigger_mode="multiple",
            **QUIET,
        )


def open_link(blocks: gr.Blocks, tabs: gr.Tabs, front: Front, task: gr.Radio) -> None:
    """Open the tab and choose the task that a permalink names, where the page offers them."""
    offered = [each.name for each in offered_tasks()]
    blocks.load(
        None,
        None,
        [tabs, front.name, task],
        js=OPEN_LINK % (json.dumps(list(front.marks)), json.dumps(offered)),
        **QUIET,
    )


def _mark(value: str, elem_id: str) -> gr.Textbox:
    return gr.Textbox(value, label=elem_id, visible=False, elem_id=elem_id)


def keeping_choices(answer: Answer, outputs: Any) -> Answer:
    """Return an answer to a tab's first showing that sets no value which its component begins with.

    Such a value stands on the page already, and the answer may come late: a person who has chosen
    another one meanwhile keeps it.
    """
    parts: Sequence[Any] = outputs if isinstance(outputs, list) else [outputs]

    @wraps(answer)
    def opened(*given: Any) -> Any:
        answers = answer(*given)
        if not isinstance(outputs, list):
            return _without_first_value(parts[0], answers)
        return [_without_first_value(*pair) for pair in zip(parts, answers, strict=True)]

    return opened


def _without_first_value(part: Any, update: Any) -> Any:
    """Return an update, or a value, without the value that the component was built with."""
    if isinstance(update, gr.blocks.Block):
        if "value" in (given := update.constructor_args) and given["value"] == part.value:
            del given["value"]
        return update
    return gr.skip() if hasattr(part, "value") and update == part.value else update
