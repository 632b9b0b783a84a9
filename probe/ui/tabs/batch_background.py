"""Files that are scored in the background: started, listed, stopped, taken up again, taken away."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.data.rows import Source
from probe.errors import ModelError, UserError
from probe.models.library import task_of_model
from probe.runs.access import as_token, asks_alike, start_runs
from probe.runs.engine import Engine
from probe.runs.run import OPEN, StoredRun
from probe.runs.store import Store
from probe.scoring.files import SCORING, ScoringRequest, scoring_request
from probe.tasks.task import Task
from probe.ui.events import PRESSED, QUIET
from probe.ui.html.background import background_runs
from probe.ui.html.elements import NOTHING, alert
from probe.ui.page import Page
from probe.ui.tab_outputs import TabOutputs
from probe.ui.visitors.visitor_files import check_start, own_file

SECONDS = 2.0
"""Between two looks how far the files are."""


@dataclass
class Outputs(TabOutputs):
    """What the page shows, in the order of the outputs; what is not given stays."""

    whole: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    listed: Any = field(default_factory=gr.skip)
    timer: Any = field(default_factory=gr.skip)
    trouble: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class Background:
    """What starts such files and what the buttons beside them do."""

    store: Store
    engine: Engine

    def start(
        self, visitor: str, path: Path, source: Source, model: str, task: Task,
        request: ScoringRequest,
    ) -> None:  # fmt: skip
        """Begin a visitor's file unless that is under way. Raises a sentence for the person."""
        check_start(self.store, visitor)
        own = task_of_model(model)
        if not asks_alike(own, task):
            raise ModelError(f"{model} answers {own.title.lower()}, not {task.title.lower()}")
        asked = scoring_request(own_file(visitor, path), source, model, own, request)
        try:
            (run,) = start_runs(self.store, self.engine, visitor, [asked])
        except UserError:
            SCORING.remove(asked.plan)
            raise
        if run.plan["folder"] != asked.plan["folder"]:  # that of the run under way
            SCORING.remove(asked.plan)

    def show(self, visitor: str) -> list[Any]:
        """List a visitor's files."""
        try:
            return self.listed(visitor).outputs
        except UserError as trouble:
            return Outputs(trouble=alert(trouble)).outputs

    def stop(self, run: StoredRun) -> None:
        """Stop a run; its parts that are done stay."""
        self.engine.cancel(run.id)

    def go_on(self, run: StoredRun) -> None:
        """Take a run up again with the parts it lacks."""
        self.engine.reopen(run.id)

    def listed(self, visitor: str) -> Outputs:
        """Return the list of a visitor's files. Raises StoreError."""
        runs = self.store.runs(visitor, "scoring") if as_token(visitor) else ()
        return Outputs(
            whole=gr.Column(visible=bool(runs)),
            listed=background_runs(runs),
            timer=gr.Timer(active=any(run.state in OPEN for run in runs)),
            trouble=NOTHING,
        )


def build(page: Page) -> tuple[Background, Outputs]:
    """Lay out the list; it is filled when the tab is opened and while anything goes on."""
    background = Background(page.core.store, page.core.engine)
    shown = Outputs(timer=gr.Timer(SECONDS, active=False))
    with gr.Column(visible=False, elem_classes="card", elem_id="batch-background") as shown.whole:
        gr.HTML(Markup('<h2 class="title">In the background</h2>'), padding=False)
        shown.listed = gr.HTML(js_on_load=PRESSED)
        shown.trouble = gr.HTML()
    page.on_show(background.show, page.owner, shown.outputs)
    shown.timer.tick(background.show, page.owner, shown.outputs, **QUIET)
    return background, shown
