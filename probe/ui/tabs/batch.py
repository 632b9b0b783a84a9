"""Score: one model on all the texts, as they are and changed, with partial results as they come."""

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.events import Dependency
from markupsafe import Markup

from probe.ui.answers.file_line import FILES_AT_ONCE, FileLine
from probe.ui.answers.pacing import StopRequests
from probe.ui.answers.turns import visitor_of
from probe.ui.api import batch as batch_api
from probe.ui.api import hub_dataset as hub_api
from probe.ui.events import CHANGING, EACH, LAST, PRESSED, QUIET, in_turn, scroll_to
from probe.ui.measure.choice import Choice, build_link
from probe.ui.measure.scripts import CHANGED, asked, fresh
from probe.ui.page import Page
from probe.ui.panels import options
from probe.ui.panels.changes import build_changes
from probe.ui.panels.guard import ResultFiles, build_guard
from probe.ui.results.batch_tables import ALL, ANY, FILTERS
from probe.ui.tabs import background_result, batch_background
from probe.ui.tabs.batch_background import Background
from probe.ui.tabs.batch_outputs import Outputs
from probe.ui.tabs.batch_rows import choose, press_figure, press_page
from probe.ui.tabs.batch_run import run

PLAIN: dict[str, Any] = {"show_label": False, "container": False, "elem_classes": "picks"}
READING = "() => window.told('Reading the file …')"
ASKED, FRESH = asked("batch-results"), fresh("batch-results")
TELL = "html => window.tellProgress?.(html)"
ASK = "on => { if (on && window.Notification) Notification.requestPermission(); return on; }"


def build(page: Page) -> None:
    """Put the view together."""
    choice: Choice = page.shared
    line = FileLine()
    with gr.Column(elem_classes="card", elem_id="score-form"):
        changes = build_changes(page, "batch-transforms")
        controls, go, later, halt = _choices(choice)
        trouble = gr.HTML(elem_id="batch-trouble")
        progress = gr.HTML(elem_id="batch-progress")
    background, listed = batch_background.build(page)
    shown, files = _results()
    shown.trouble, shown.progress, shown.halt = trouble, progress, halt
    scoring = Scoring(page, background, line, StopRequests(), shown)
    scoring.stops.heed(shown.halt, shown.progress)
    scored = scoring.on(go, later, [*choice.inputs, changes, *controls])
    scored.then(background.show, page.owner, listed.outputs, **QUIET)
    for ready in (scored, background_result.build(page, background, listed, shown)):
        files.offer_on(ready.then)
    shown.progress.change(None, shown.progress, None, js=TELL, **QUIET)
    shown.figures.change(None, shown.progress, None, js=FRESH, **QUIET)
    scored.then(None, shown.progress, None, js=FRESH, **QUIET)
    for control in (changes, *controls):
        heard = control.release if isinstance(control, gr.Slider) else control.input
        heard(None, None, None, js=CHANGED, **QUIET)
    _browse(shown)
    batch_api.build(page.core.models, line)
    hub_api.build(page.core.store)


@dataclass(frozen=True)
class Scoring:
    """What scores a file when a button is pressed."""

    page: Page
    background: Background
    line: FileLine
    stops: StopRequests
    shown: Outputs

    def on(self, go: gr.Button, later: gr.Button, inputs: list[Any]) -> Dependency:
        """Score when a button is pressed; return the scoring.

        `later` scores in the background, as a large file always is. Both have one event, so that
        gradio drops a press of either while one is answered: a file is not scored twice.
        """

        def answer(event: gr.EventData, request: gr.Request, *values: Any) -> Any:
            self.stops.withdraw(request.session_hash)
            place, models = visitor_of(request), self.page.core.models
            in_background = event.target is later
            yield from run(
                models, self.background, self.stops, self.line, place, in_background, *values
            )

        presses = [go.click, later.click]
        gr.on(presses, None, None, self.shown.trouble, js=READING, **QUIET)
        scored: Dependency = gr.on(
            presses,
            answer,
            inputs,
            self.shown.outputs,
            js=ASKED,
            trigger_mode="once",
            concurrency_id="batch",
            concurrency_limit=FILES_AT_ONCE,
            **QUIET,
        )
        return scored


def _choices(
    choice: Choice,
) -> tuple[list[Any], gr.Button, gr.Button, gr.Button]:  # Any: components
    """Lay out the options of the changes, folded, and the buttons that score."""
    with gr.Accordion("Settings: options of the changes", open=False, elem_classes="fold"):
        tell = gr.Checkbox(label="Tell me when a file is finished", elem_id="tell")
        controls = options.build()
    tell.input(None, tell, tell, js=ASK, **QUIET)
    with gr.Row(elem_classes="tools"):
        go = gr.Button("Score", variant="primary", elem_id="score", min_width=0, interactive=False)
        later = gr.Button(
            "Score in the background", elem_id="score-later", min_width=0, interactive=False
        )
        choice.allow(go, later)
        halt = gr.Button("Stop", visible=False, elem_id="halt", min_width=0)
        build_link(choice, "score")
    return controls, go, later, halt


def _results() -> tuple[Outputs, ResultFiles]:
    """Lay out the results, and whether to guard the files."""
    shown = Outputs()
    with gr.Column(visible=False, elem_id="batch-results", elem_classes="measured") as results:
        shown.results = results
        with gr.Row(elem_id="batch-head"):
            shown.head = gr.HTML(elem_id="batch-name")
            shown.scored = _download("Download scored file", "primary", "batch-scored")
            shown.pairs = _download("Made texts", "secondary", "batch-pairs")
        shown.figures = gr.HTML(elem_id="batch-figures", js_on_load=PRESSED)
        with gr.Column(elem_classes="card", elem_id="batch-rows"):
            with gr.Row(visible=False, elem_id="batch-filters") as shown.browse:
                gr.HTML(Markup("<h3>Rows</h3>"))
                shown.kept = gr.Radio(list(FILTERS), value=ALL, label="Rows", **PLAIN)
                shown.label = gr.Dropdown(
                    [ANY], value=ANY, label="Label", **CHANGING, show_label=False, container=False
                )
            shown.rows = gr.HTML(elem_id="lines")
            shown.pager = gr.HTML(elem_id="pager", js_on_load=PRESSED)
        with gr.Column(visible=False, elem_classes="card") as shown.taken:
            shown.files = gr.Files(
                label="All files of this result", elem_id="files", interactive=False
            )
            shown.forms = gr.HTML(elem_id="batch-forms")
            shown.paging = gr.Textbox("", label="results", visible=False)
            files = build_guard(
                shown.files, shown.paging, "batch-guard", scored=shown.scored, pairs=shown.pairs
            )
    shown.change = gr.Textbox("", label="change", visible=False)
    return shown, files


def _download(words: str, variant: Any, elem_id: str) -> gr.DownloadButton:  # Any: a literal
    return gr.DownloadButton(words, variant=variant, visible=False, elem_id=elem_id, min_width=0)


def _browse(shown: Outputs) -> None:
    """Turn over the rows: by filter and label, by page, and by a press on a figure."""
    rows = [shown.rows, shown.pager]
    asked = [shown.paging, shown.kept, shown.label]
    chosen = [shown.kept, shown.label, shown.change]
    turn, narrowed = in_turn("batch-rows"), [shown.kept.input, shown.label.input]
    gr.on(narrowed, choose, asked, [*rows, shown.change], **LAST, **turn)
    shown.pager.click(press_page, [*asked, shown.change], rows, **EACH, **turn)
    pressed = shown.figures.click(press_figure, shown.paging, [*rows, *chosen], **EACH, **turn)
    pressed.then(None, None, None, js=scroll_to("batch-rows"), **QUIET)
