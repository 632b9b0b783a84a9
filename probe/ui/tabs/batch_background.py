"""Files that are scored in the background: started, listed, stopped, taken up again, taken away."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.data.names import stem_of
from probe.data.source import Source, form_of
from probe.errors import ModelError, RunError, UserError
from probe.models.library import task_of_model
from probe.runs.access import own_run
from probe.runs.compute.engine import Engine
from probe.runs.model_access import asks_alike
from probe.runs.owners import as_token, start_runs
from probe.runs.run import OPEN, StoredRun
from probe.runs.store import Store
from probe.scoring.assembly import assemble
from probe.scoring.experiment import SCORING, scoring_request
from probe.scoring.files import Places, forms_words
from probe.scoring.folder import input_file
from probe.scoring.plan import read_plan
from probe.scoring.request import ScoringRequest
from probe.tasks.task import Task
from probe.ui.events import PRESSED, QUIET
from probe.ui.html.background import background_runs
from probe.ui.html.batch import figures
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.page import Page
from probe.ui.result_files import write_json
from probe.ui.tab_outputs import TabOutputs
from probe.ui.visitors.visitor_files import check_room, fresh_folder, own_file

SECONDS = 2.0
"""Between two looks how far the files are."""


@dataclass
class Outputs(TabOutputs):
    """What the page shows, in the order of the outputs; what is not given stays."""

    whole: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    listed: Any = field(default_factory=gr.skip)
    timer: Any = field(default_factory=gr.skip)
    trouble: Any = field(default_factory=gr.skip)
    figures: Any = field(default_factory=gr.skip)
    files: Any = field(default_factory=gr.skip)


@dataclass(frozen=True)
class Background:
    """What starts such files and what the buttons beside them do."""

    store: Store
    engine: Engine

    def start(
        self, visitor: str, path: Path, source: Source, model: str, task: Task,
        request: ScoringRequest,
    ) -> None:  # fmt: skip
        """Begin a visitor's file. Raises LimitError, ModelError, StoreError, FileError."""
        if not as_token(visitor):
            raise RunError("this browser keeps no secret by which its files could be found again")
        own = task_of_model(model)
        if not asks_alike(own, task):
            raise ModelError(f"{model} answers {own.title.lower()}, not {task.title.lower()}")
        check_room(self.store, visitor)
        asked = scoring_request(own_file(visitor, path), source, model, own, request)
        try:
            start_runs(self.store, self.engine, visitor, [asked])
        except UserError:
            SCORING.remove(asked.plan)
            raise

    def show(self, visitor: str) -> list[Any]:
        """List a visitor's files."""
        try:
            return self._listed(visitor).outputs
        except UserError as trouble:
            return Outputs(trouble=alert(trouble)).outputs

    def press(self, event: gr.EventData, visitor: str) -> list[Any]:
        """Do what a button says: what, and the run for which."""
        verb, _, run_id = str(getattr(event, "cell", "")).partition(":")
        try:
            run = own_run(self.store, visitor, run_id)
            VERBS[verb](self, run)
            shown = self._listed(visitor)
            if verb == TAKE:
                self._take(run, visitor, shown)
            return shown.outputs
        except UserError as trouble:
            return Outputs(trouble=alert(trouble)).outputs

    def stop(self, run: StoredRun) -> None:
        """Stop a run; its parts that are done stay."""
        self.engine.cancel(run.id)

    def go_on(self, run: StoredRun) -> None:
        """Take a run up again with the parts it lacks."""
        self.engine.reopen(run.id)

    def _listed(self, visitor: str) -> Outputs:
        runs = self.store.runs(visitor, "scoring") if as_token(visitor) else ()
        return Outputs(
            whole=gr.Column(visible=bool(runs)),
            listed=background_runs(runs),
            timer=gr.Timer(active=any(run.state in OPEN for run in runs)),
            trouble=NOTHING,
        )

    def _take(self, run: StoredRun, visitor: str, shown: Outputs) -> None:
        """Write a run's files for who takes them away. Raises FileError, LimitError."""
        check_room(self.store, visitor)
        plan, folder = read_plan(run.plan), fresh_folder(visitor)
        stem, form = stem_of(Path(plan.file)), form_of(input_file(plan.folder, plan.file))
        pairs = folder / f"{stem}-pairs.{form}" if plan.request.names else None
        places = Places(folder / f"{stem}-scored.{form}", pairs)
        assembled = assemble(run, places)
        told = write_json(assembled.shape, folder / f"{stem}-summary.json")
        files = [str(path) for path in (places.scored, told, pairs) if path]
        words = note(forms_words(assembled.shape["forms"]))
        shown.figures = figures(assembled.summary, plan.task, stem) + words
        shown.files = gr.Files(files, visible=True)


def nothing(background: Background, run: StoredRun) -> None:
    """Change nothing of a run."""


STOP, GO_ON, TAKE = "stop", "go-on", "take"
VERBS: Mapping[str, Callable[[Background, StoredRun], None]] = {
    STOP: Background.stop,
    GO_ON: Background.go_on,
    TAKE: nothing,
}


def build(page: Page) -> tuple[Background, Outputs]:
    """Lay out the list; it is filled when the tab is opened and while anything goes on."""
    background = Background(page.core.store, page.core.engine)
    shown = Outputs(timer=gr.Timer(SECONDS, active=False))
    with gr.Column(visible=False, elem_classes="card", elem_id="batch-background") as shown.whole:
        gr.HTML(Markup('<h2 class="title">In the background</h2>'), padding=False)
        shown.listed = gr.HTML(js_on_load=PRESSED)
        shown.trouble = gr.HTML()
        shown.figures = gr.HTML(elem_id="background-figures")
        shown.files = gr.Files(label="Files", visible=False, interactive=False)
    page.opened.then(background.show, page.owner, shown.outputs, **QUIET)
    page.tab.select(background.show, page.owner, shown.outputs, **QUIET)
    shown.timer.tick(background.show, page.owner, shown.outputs, **QUIET)
    shown.listed.click(background.press, page.owner, shown.outputs, **QUIET)
    return background, shown
