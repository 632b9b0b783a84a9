"""The page: what a tab is built with, and the tabs put together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from probe.models.cache import ModelCache
from probe.runs.compute.engine import Engine
from probe.runs.gallery import FOLDER
from probe.runs.model_access import ModelAccess
from probe.runs.store import Store
from probe.settings import ASSETS, settings
from probe.ui.events import QUIET
from probe.ui.server.checked_blocks import CheckedBlocks
from probe.ui.task_choice import build_choice, task_in
from probe.ui.visitors.owner import browser_memory, browser_token, open_for_visitor
from probe.ui.visitors.visitor_files import HOUR

FIRST_TAB = "probe"
"""The tab that is open where a link names none."""


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

    `owner` holds the token by which a browser finds its runs again, `opened` is the event after
    which it holds one; `memory` holds what it remembers of the lessons, `task` the name of the
    chosen task, and `tab` is the tab itself.
    """

    core: Core
    blocks: gr.Blocks
    owner: gr.BrowserState
    opened: gr.events.Dependency
    memory: gr.BrowserState
    task: gr.Radio
    tab: gr.Tab


@dataclass(frozen=True)
class TabEntry:
    """A tab: its name in permalinks, its title, and what lays it out."""

    id: str
    title: str
    build: Callable[[Page], None]


def build_page(tabs: Sequence[TabEntry], core: Core) -> gr.Blocks:
    """Return the page with these tabs."""
    blocks: gr.Blocks
    hours = settings().keep_hours
    with CheckedBlocks(title="NLI Clinic", delete_cache=(HOUR, hours * HOUR)) as blocks:
        with gr.Row(elem_id="masthead"):
            header = (ASSETS / "header.html").read_text(encoding="utf-8")
            gr.HTML(header, elem_id="header", padding=False)
            task = build_choice()
        owner, memory = browser_token(), browser_memory()
        opened = open_for_visitor(blocks, core.store, owner)
        with gr.Tabs(selected=FIRST_TAB) as shown:
            for entry in tabs:
                with gr.Tab(entry.title, id=entry.id) as tab:
                    entry.build(Page(core, blocks, owner, opened, memory, task, tab))
        names = {entry.id for entry in tabs}

        def open_tab(request: gr.Request) -> tuple[Any, Any]:  # Any: gradio's own mark to skip
            """Open the tab and choose the task that a permalink names."""
            query = request.query_params
            name = query.get("tab", "")
            selected = gr.Tabs(selected=name) if name in names else gr.skip()
            return selected, task_in(query).name if "task" in query else gr.skip()

        blocks.load(open_tab, None, [shown, task], **QUIET)
    return blocks
