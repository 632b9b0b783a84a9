"""The places of the app, each a page with an address, and what their views are built with."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import gradio as gr

from probe.models.library import ModelCache
from probe.runs.access import ModelAccess
from probe.runs.engine import Engine
from probe.runs.gallery import FOLDER
from probe.runs.store import Store
from probe.settings import settings
from probe.tasks.nli import NLI
from probe.tasks.task import Task, offered_tasks, task_named
from probe.ui.events import QUIET
from probe.ui.html.elements import not_for_task
from probe.ui.html.header import header
from probe.ui.server.checked_blocks import CheckedBlocks
from probe.ui.visitors.owner import browser_memory, browser_token, open_for_visitor
from probe.ui.visitors.visitor_files import HOUR

Answer = Callable[..., Any]  # Any: a handler's values, and gradio's updates of components
RENEW = "() => Math.random()"
"""Changes a hidden number, whatever it was."""
VISITOR = "window.visitor ??= Promise.withResolvers()"
"""Kept once the browser has its token."""
SHOWN = f"""let width = 0, event = "expand";
const tell = () => ({VISITOR}).promise.then(() => {{
  if (!element.parentElement.clientWidth) return;
  trigger(event);
  event = "select";
}});
new ResizeObserver(([{{ contentRect }}]) => {{
  const hidden = !width;
  width = contentRect.width;
  if (hidden && width) tell();
}}).observe(element.parentElement);"""
"""Tells that a view is shown, for the first time or again: what is hidden is not laid out."""
ADDRESSED = """((key, names, tasks) => () => {
  const link = new URLSearchParams(window.location.search), kept = { __type__: "update" };
  const view = link.get(key), task = tasks.includes(link.get("task")) ? link.get("task") : tasks[0];
  window.showTask(task);
  return [
    task,
    ...(names.length > 1 ? [names.includes(view) ? { ...kept, selected: view } : kept] : []),
  ];
})(%s)"""
"""Takes the task and the view that the page's address names, before anybody can press one."""


@dataclass(frozen=True)
class Core:
    """What the pages work with; one of each serves everybody who looks at them.

    `gallery` is the folder of finished runs that everybody may look at.
    """

    cache: ModelCache
    store: Store
    engine: Engine
    gallery: Path = FOLDER

    @property
    def models(self) -> ModelAccess:
        """The models, each for who may use it."""
        return ModelAccess(self.cache, self.store)


@dataclass(frozen=True)
class Page:
    """What a view is built with: the core, and the page around the view.

    `owner` holds the token by which a browser finds its runs again, `memory` what it remembers of
    the lessons, `task` the name of the task, which stays as long as the page is open; `shown` tells
    when the view is shown. `own_marks` are those of `mark_of`.
    """

    core: Core
    blocks: gr.Blocks
    owner: gr.BrowserState
    memory: gr.BrowserState
    task: gr.Textbox
    shown: gr.HTML
    own_marks: list[gr.Number]
    shared: Any = None  # Any: what the place's views have in common

    def mark_of(self, *events: Any, after: Iterable[gr.events.Dependency] = ()) -> gr.Number:
        """Return a hidden mark that changes with any of these events, and after these answers.

        An answer that is given more than once listens to a mark alone. What is told while its
        answer is being made is answered once more after it, and for that gradio (6.31) sends all
        that listens to the event first answered. Had two answers listened to it, each would have
        the other sent again: without end where both are slow, and over what a person has chosen
        meanwhile. They would also wait for one another.
        """
        mark = gr.Number(0, label="last asked for", render=False)
        self.own_marks.append(mark)
        if events:
            gr.on(list(events), None, None, mark, js=RENEW, **QUIET)
        for answered in after:
            answered.then(None, None, mark, js=RENEW, **QUIET)
        return mark

    def on_open(
        self, answer: Answer, inputs: Any, outputs: Any, **settings: Any
    ) -> gr.events.Dependency:
        """Fill what outputs show when the view is first shown; what was chosen meanwhile stays.

        The owner has a token by then, and the task is the one that the address names.
        """
        kept = keeping_choices(answer, outputs)
        filled: gr.events.Dependency = self.shown.expand(kept, inputs, outputs, **settings or QUIET)
        return filled

    def on_return(
        self, answer: Answer, inputs: Any, outputs: Any, **settings: Any
    ) -> gr.events.Dependency:
        """Answer when the view is shown again."""
        mark = self.mark_of(self.shown.select)
        again: gr.events.Dependency = mark.change(answer, inputs, outputs, **settings or QUIET)
        return again

    def on_show(self, answer: Answer, inputs: Any, outputs: Any) -> None:
        """Answer whenever the view is shown."""
        self.on_open(answer, inputs, outputs)
        self.on_return(answer, inputs, outputs)


@dataclass(frozen=True)
class View:
    """A view: its name in addresses, its title, what lays it out, and which tasks have it (all)."""

    name: str
    title: str
    build: Callable[[Page], None]
    suits: Callable[[Task], bool] | None = None


@dataclass(frozen=True)
class Place:
    """A page: its path ("" is the first), its title, and its views, of which `key` names one.

    `shared` lays out above them what they have in common.

    `in_bar` is whether the other pages lead there, and its own to them.
    """

    path: str
    title: str
    views: Sequence[View]
    key: str = "view"
    shared: Callable[[Page], Any] | None = None  # Any: as of `Page`
    in_bar: bool = True


def build_pages(places: Sequence[Place], core: Core) -> gr.Blocks:
    """Return the app with these places."""
    hours = settings().keep_hours
    blocks = CheckedBlocks(title="NLI Clinic", delete_cache=(HOUR, hours * HOUR))
    blocks.pages = [(place.path, place.title, False) for place in places]
    with blocks:
        for place in places:
            blocks.current_page = place.path
            _build_place(blocks, place, places, core)
        blocks.current_page = ""
    return blocks


def _build_place(blocks: gr.Blocks, place: Place, places: Sequence[Place], core: Core) -> None:
    bar = [(each.path, each.title) for each in places if each.in_bar] if place.in_bar else []
    gr.HTML(header(bar, place.path, place.key), elem_id="header", padding=False)
    owner, memory = browser_token(), browser_memory()
    task = gr.Textbox(NLI.name, visible=False, label="task")
    own_marks: list[gr.Number] = []

    def page(name: str, shared: Any = None) -> Page:
        shown = gr.HTML(
            padding=False, elem_id=f"shown-{name}", elem_classes="shown", js_on_load=SHOWN
        )
        return Page(core, blocks, owner, memory, task, shown, own_marks, shared)

    def build(view: View) -> None:
        within = page(view.name, shared)
        _build_for_tasks(view, within) if view.suits else view.build(within)

    shared = place.shared(page(f"{place.path}-above")) if place.shared else None
    addressed: list[Any] = [task]
    if len(place.views) == 1:
        build(place.views[0])
    else:
        with gr.Tabs(elem_classes="views") as tabs:
            for view in place.views:
                with gr.Tab(view.title, id=view.name, elem_id=f"view-{view.name}"):
                    build(view)
        addressed.append(tabs)
    names = [view.name for view in place.views]
    tasks = [each.name for each in offered_tasks()]
    given = f"{json.dumps(place.key)}, {json.dumps(names)}, {json.dumps(tasks)}"
    blocks.load(None, None, addressed, js=ADDRESSED % given, **QUIET)
    opened = open_for_visitor(blocks, core.store, owner)
    opened.then(None, None, None, js=f"() => ({VISITOR}).resolve()", **QUIET)
    with gr.Column(visible=False):  # gradio makes a form of the marks, which would take room
        for mark in own_marks:
            mark.render()  # type: ignore[no-untyped-call]  # gradio


def _build_for_tasks(view: View, page: Page) -> None:
    """Lay out a view of some tasks alone; for the others a sentence stands in its place."""
    absent = gr.HTML(visible=False)
    with gr.Column() as present:
        view.build(page)

    def show(name: str) -> list[Any]:  # Any: gradio's updates
        chosen = task_named(name)
        suits = view.suits is None or view.suits(chosen)
        others = [task.choice for task in offered_tasks() if view.suits and view.suits(task)]
        return [
            gr.HTML(not_for_task(view.title, chosen, others), visible=not suits),
            gr.Column(visible=suits),
        ]

    page.on_open(show, page.task, [absent, present])


def keeping_choices(answer: Answer, outputs: Any) -> Answer:
    """Return an answer to a first showing that sets no value which its component begins with.

    Such a value stands on the page already, and the answer may come late: a person who has chosen
    another one meanwhile keeps it.
    """
    parts: Sequence[Any] = outputs if isinstance(outputs, list) else [outputs]

    @wraps(answer)
    def opened(*given: Any) -> Any:
        answers = answer(*given)
        if isinstance(answers, dict):
            return {part: _without_first_value(part, value) for part, value in answers.items()}
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
