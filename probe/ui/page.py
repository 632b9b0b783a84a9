"""The places of the app, each a page with an address, and what their views are built with."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from inspect import isgeneratorfunction
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import UserError
from probe.models.library import ModelCache
from probe.runs.access import ModelAccess, as_token, browser_secret, redeem
from probe.runs.engine import Engine
from probe.runs.gallery import FOLDER
from probe.runs.store import Store
from probe.settings import settings
from probe.tasks.nli import NLI
from probe.tasks.task import Task, offered_tasks, task_named
from probe.ui.events import LAST, QUIET
from probe.ui.html.elements import not_for_task
from probe.ui.html.header import COUNTED, count, header
from probe.ui.server.checked_blocks import CheckedBlocks
from probe.ui.visitors.belongings import count_of, remembered
from probe.ui.visitors.visitor_files import HOUR

MAX_GRANTS = 50
"""Runs that one link opens at most."""


def browser_token() -> gr.BrowserState:
    """Return the token's place.

    It belongs outside the views: gradio mounts a view's parts only when that is opened, and until
    then the token would read as none.
    """
    return gr.BrowserState("", storage_key="nli-clinic-owner", secret=browser_secret())


def browser_memory() -> gr.BrowserState:
    """Return the place where a browser keeps what its visitor saw and guessed in the lessons.

    It belongs outside the views, as the token does.
    """
    return gr.BrowserState({}, storage_key="nli-clinic-lessons", secret=browser_secret())


def welcome(store: Store, visitor: str, grants: str, kept: object = None) -> Markup:
    """Let a visitor use what their link lets its holder use; return how much is kept of them.

    That is in the app, and `kept` in the browser.
    """
    for grant in grants.split(",")[:MAX_GRANTS] if grants else ():
        with suppress(UserError):  # the view that shows the run says that it is not there
            redeem(store, visitor, grant)
    with suppress(UserError):  # what needs the database says what is wrong with it
        return count(count_of(store, visitor) + len(remembered(kept, NLI)))
    return count(0)


Answer = Callable[..., Any]  # Any: a handler's values, and gradio's updates of components
ANSWERED = ("input", "submit", "clear")
"""The events of what tells that a view is shown by which it tells that an answer has come."""
VISITOR = "window.visitor ??= Promise.withResolvers()"
"""Kept once the browser has its token."""
SHOWN = f"""let width = 0, event = "expand";
const tell = () => ({VISITOR}).promise.then(() => {{
  if (!element.parentElement.clientWidth) return;
  trigger(event);
  event = "select";
}});
element.closest("[id^=shown-]").tell = trigger;
new ResizeObserver(([{{ contentRect }}]) => {{
  const hidden = !width;
  width = contentRect.width;
  if (hidden && width) tell();
}}).observe(element.parentElement);"""
"""Tells that a view is shown, for the first time or again: what is hidden is not laid out."""
ADDRESSED = """((key, names, tasks) => token => {
  const link = new URLSearchParams(window.location.search), kept = { __type__: "update" };
  const view = link.get(key), task = tasks.includes(link.get("task")) ? link.get("task") : tasks[0];
  const digits = [...crypto.getRandomValues(new Uint8Array(16))];
  const known = window.returning = /^[0-9a-f]{32}$/.test(token);
  window.showTask(task);
  return [
    known ? kept : digits.map(each => each.toString(16).padStart(2, "0")).join(""), task,
    ...(names.length > 1 ? [names.includes(view) ? { ...kept, selected: view } : kept] : []),
  ];
})(%s)"""
"""Gives a browser that comes first a token, and takes the task and the view that the page's address
names, before anybody can press one."""
KNOWN = (
    "() => { if (%snew URLSearchParams(window.location.search).has('grant')) "
    f"({VISITOR}).resolve(); }}"
)
"""Lets the views be filled: where a link lets its holder use something, after it does."""
WELCOMED = """(...known) =>
  window.returning || new URLSearchParams(window.location.search).has("grant")
    ? known : new Promise(() => {})"""
"""Asks the app only where a link lets its holder use something, or something may be kept of who
comes again."""


@dataclass(frozen=True)
class Core:
    """What the pages work with; one of each serves everybody who looks at them.

    `gallery` is the folder of finished runs that everybody may look at; `behind` is what a view
    wants done once the first page is served (`serving.load_behind`).
    """

    cache: ModelCache
    store: Store
    engine: Engine
    gallery: Path = FOLDER
    behind: list[Callable[[], object]] = field(default_factory=list)

    @property
    def models(self) -> ModelAccess:
        """The models, each for who may use it."""
        return ModelAccess(self.cache, self.store)


@dataclass(frozen=True)
class Page:
    """What a view is built with: the core, and the page around the view.

    `kept` shows in the head how many things are kept of the visitor, `owner` holds the token by
    which a browser finds its runs again, `memory` what it remembers of the lessons, `task` the name
    of the task, which stays as long as the page is open; `shown` tells when the view is shown, and
    by `answered`, one for each mark, that an answer has come.
    """

    core: Core
    blocks: gr.Blocks
    kept: gr.HTML
    owner: gr.BrowserState
    memory: gr.BrowserState
    task: gr.Textbox
    shown: gr.HTML
    answered: Iterator[str]
    shared: Any = None  # Any: what the place's views have in common

    def mark_of(self, *events: Any, after: Iterable[gr.events.Dependency] = ()) -> "Mark":
        """Return what changes with any of these events, and after these answers.

        An answer that is given more than once listens to a mark alone. What is told while its
        answer is being made is answered once more after it, and for that gradio (6.31) sends all
        that listens to the event first answered. Had two answers listened to it, each would have
        the other sent again: without end where both are slow, and over what a person has chosen
        meanwhile. They would also wait for one another. What comes after a mark is sent alone.
        """
        told = list(events)
        if answers := list(after):
            name = next(self.answered)
            told.append(getattr(self.shown, name))
            tell = f"() => document.getElementById('{self.shown.elem_id}').tell('{name}')"
            for each in answers:
                each.then(None, js=tell, **QUIET)
        return Mark(gr.on(told, None, js="() => []", **QUIET))

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
class Mark:
    """Tells answers that something has happened (`Page.mark_of`)."""

    told: gr.events.Dependency

    def change(
        self, fn: Answer | None, inputs: Any, outputs: Any, **settings: Any
    ) -> gr.events.Dependency:
        """Answer; what is told meanwhile is answered then."""
        answered: gr.events.Dependency = self.told.then(fn, inputs, outputs, **{**LAST, **settings})
        return answered


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
    kept = gr.HTML(elem_id="kept", padding=False, js_on_load=COUNTED)
    owner, memory = browser_token(), browser_memory()
    task = gr.Textbox(NLI.name, visible=False, label="task")

    def page(name: str, shared: Any = None) -> Page:
        shown = gr.HTML(
            padding=False, elem_id=f"shown-{name}", elem_classes="shown", js_on_load=SHOWN
        )
        return Page(core, blocks, kept, owner, memory, task, shown, iter(ANSWERED), shared)

    def build(view: View) -> None:
        within = page(view.name, shared)
        _build_for_tasks(view, within) if view.suits else view.build(within)

    shared = place.shared(page(f"{place.path}-above")) if place.shared else None
    addressed: list[Any] = [owner, task]
    if len(place.views) == 1:
        build(place.views[0])
    else:
        with gr.Tabs(elem_classes="views") as tabs:
            for view in place.views:
                with gr.Tab(view.title, id=view.name, elem_id=f"view-{view.name}"):
                    build(view)
        addressed.append(tabs)
    if shared:
        shared.built()
    names = [view.name for view in place.views]
    tasks = [each.name for each in offered_tasks()]
    given = f"{json.dumps(place.key)}, {json.dumps(names)}, {json.dumps(tasks)}"
    come = blocks.load(None, owner, addressed, js=ADDRESSED % given, **QUIET)

    def welcomed(token: str | None, kept: object, request: gr.Request) -> Markup:
        return welcome(core.store, as_token(token), request.query_params.get("grant", ""), kept)

    # what fills the views needs the token, which is there once this has ended
    come.then(None, js=KNOWN % "!", **QUIET)
    opened = come.then(welcomed, [owner, memory], kept, js=WELCOMED, **QUIET)
    opened.then(None, js=KNOWN % "", **QUIET)


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
    another one meanwhile keeps it. Of an answer in several steps that holds for each.
    """

    def kept(answers: Any) -> Any:
        if isinstance(answers, Mapping):
            return {part: _without_first_value(part, each) for part, each in answers.items()}
        if not isinstance(outputs, list):
            return _without_first_value(outputs, answers)
        return [_without_first_value(*pair) for pair in zip(outputs, answers, strict=True)]

    @wraps(answer)
    def opened(*given: Any, **named: Any) -> Any:
        return kept(answer(*given, **named))

    @wraps(answer)
    def opened_in_steps(*given: Any, **named: Any) -> Any:
        yield from map(kept, answer(*given, **named))

    return opened_in_steps if isgeneratorfunction(answer) else opened


def _without_first_value(part: Any, update: Any) -> Any:
    """Return an update, or a value, without the value that the component was built with."""
    if isinstance(update, gr.blocks.Block):
        if "value" in (given := update.constructor_args) and given["value"] == part.value:
            del given["value"]
        return update
    chosen = hasattr(part, "value") and not isinstance(part, gr.HTML)
    return gr.skip() if chosen and update == part.value else update
