"""The page: what a tab is built with, and the tabs put together."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from probe.models.library import ModelCache
from probe.runs.access import ModelAccess
from probe.runs.engine import Engine
from probe.runs.gallery import FOLDER
from probe.runs.store import Store
from probe.settings import ASSETS, settings
from probe.tasks.task import Task, offered_tasks, task_named
from probe.ui.events import QUIET
from probe.ui.html.elements import not_for_task
from probe.ui.opening import Answer, Front, TaskMarks, keeping_choices, open_link
from probe.ui.server.checked_blocks import CheckedBlocks
from probe.ui.task_choice import build_choice
from probe.ui.visitors.owner import browser_memory, browser_token, open_for_visitor
from probe.ui.visitors.visitor_files import HOUR

FIRST_TAB = "probe"
"""The tab that is open where a link names none."""
RENEW = "() => Math.random()"
"""Changes a hidden number, whatever it was."""


@dataclass(frozen=True)
class Core:
    """What the page works with; one of each serves everybody who looks at it.

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
    """What a tab is built with: the core, and the page around the tab.

    `tabs` names all of the page. `owner` holds the token by which a browser finds its runs again,
    `memory` what it remembers of the lessons, `task` the name of the chosen task; `marks` tell the
    tab the task that it is first shown with and the next ones, `own_marks` are those of `mark_of`.
    """

    core: Core
    tabs: Sequence[str]
    blocks: gr.Blocks
    owner: gr.BrowserState
    memory: gr.BrowserState
    task: gr.Radio
    marks: TaskMarks
    own_marks: list[gr.Number]

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
        """Fill what outputs show when the tab is first shown; what was chosen meanwhile stays.

        The owner has a token by then, and the task is the chosen one.
        """
        kept = keeping_choices(answer, outputs)
        filled: gr.events.Dependency = self.marks.first.change(kept, inputs, outputs, **settings)
        return filled

    def on_next_task(
        self, answer: Answer, inputs: Any, outputs: Any, **settings: Any
    ) -> gr.events.Dependency:
        """Answer each other task that the tab is shown with after that."""
        mark = self.mark_of(self.marks.next.change)
        changed: gr.events.Dependency = mark.change(answer, inputs, outputs, **settings)
        return changed

    def on_return(
        self, answer: Answer, inputs: Any, outputs: Any, **settings: Any
    ) -> gr.events.Dependency:
        """Answer when the tab is shown again with the task that it had."""
        mark = self.mark_of(self.marks.again.change)
        again: gr.events.Dependency = mark.change(answer, inputs, outputs, **settings)
        return again

    def on_show(self, answer: Answer, inputs: Any, outputs: Any) -> None:
        """Answer whenever the tab is shown, and each other task that is chosen meanwhile."""
        self.on_task(answer, inputs, outputs)
        self.on_return(answer, inputs, outputs, **QUIET)

    def on_task(
        self, answer: Answer, inputs: Any, outputs: Any, **settings: Any
    ) -> list[gr.events.Dependency]:
        """Answer the task that the tab is first shown with, and each other one."""
        settings = settings or QUIET
        return [
            self.on_open(answer, inputs, outputs, **settings),
            self.on_next_task(answer, inputs, outputs, **settings),
        ]


@dataclass(frozen=True)
class TabEntry:
    """A tab: its name in permalinks, its title, what lays it out, and which tasks have it (all)."""

    id: str
    title: str
    build: Callable[[Page], None]
    suits: Callable[[Task], bool] | None = None


def build_page(tabs: Sequence[TabEntry], core: Core) -> gr.Blocks:
    """Return the page with these tabs."""
    blocks: gr.Blocks
    hours = settings().keep_hours
    names = [entry.id for entry in tabs]

    with CheckedBlocks(title="NLI Clinic", delete_cache=(HOUR, hours * HOUR)) as blocks:
        with gr.Row(elem_id="masthead"):
            header = (ASSETS / "header.html").read_text(encoding="utf-8")
            gr.HTML(header, elem_id="header", padding=False)
            task = build_choice()
        owner, memory = browser_token(), browser_memory()
        own_marks: list[gr.Number] = []
        with gr.Column(visible=False):  # gradio makes a form of the marks, which would take room
            front = Front(names, FIRST_TAB)
        with gr.Tabs(selected=FIRST_TAB) as shown:
            open_link(blocks, shown, front, task)
            front.follow(open_for_visitor(blocks, core.store, owner), task)
            for entry in tabs:
                with gr.Tab(entry.title, id=entry.id) as tab:
                    front.note(entry.id, tab)
                    marks = front.marks[entry.id]
                    page = Page(core, names, blocks, owner, memory, task, marks, own_marks)
                    _build_for_tasks(entry, page) if entry.suits else entry.build(page)
        with gr.Column(visible=False):  # outside the tabs, as those of the tasks
            for mark in own_marks:
                mark.render()  # type: ignore[no-untyped-call]  # gradio
    return blocks


def _build_for_tasks(entry: TabEntry, page: Page) -> None:
    """Lay out a tab of some tasks alone; for the others a sentence stands in its place."""
    absent = gr.HTML(visible=False)
    with gr.Column() as present:
        entry.build(page)

    def show(name: str) -> list[Any]:  # Any: gradio's updates
        chosen = task_named(name)
        suits = entry.suits is None or entry.suits(chosen)
        others = [task.choice for task in offered_tasks() if entry.suits and entry.suits(task)]
        return [
            gr.HTML(not_for_task(entry.title, chosen, others), visible=not suits),
            gr.Column(visible=suits),
        ]

    page.on_task(show, page.task, [absent, present])
