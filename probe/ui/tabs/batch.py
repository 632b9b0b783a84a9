"""The Batch tab: a whole file, with partial results as they come."""

from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import gradio as gr
from gradio.events import Dependency
from markupsafe import Markup

from probe.models.classifier import Precision
from probe.tasks.task import task_named
from probe.ui.answers.file_line import FILES_AT_ONCE, FileLine
from probe.ui.answers.pacing import StopRequests
from probe.ui.answers.turns import visitor_of
from probe.ui.api import batch as batch_api
from probe.ui.api import hub_dataset as hub_api
from probe.ui.choices import model_choices
from probe.ui.events import CHANGING, EACH, LAST, PRESSED, QUIET, in_turn, scroll_to
from probe.ui.html.elements import NOTHING, hint
from probe.ui.page import Page
from probe.ui.panels import hub_dataset, options, templates
from probe.ui.panels.changes import build_changes
from probe.ui.panels.guard import ResultFiles, build_guard
from probe.ui.panels.labelled_file import build_file
from probe.ui.results.batch_tables import ALL, ANY, FILTERS
from probe.ui.tabs import background_result, batch_background
from probe.ui.tabs.batch_background import Background
from probe.ui.tabs.batch_outputs import Outputs
from probe.ui.tabs.batch_rows import choose, press_figure, press_page
from probe.ui.tabs.batch_run import run

HINT = (
    "Score a whole file: how many answers are right, and how many stay when the text is changed "
    "until it says nothing any more."
)
PLAIN: dict[str, Any] = {"show_label": False, "container": False, "elem_classes": "picks"}
READING = "() => window.told('Reading the file …')"
TELL = "html => window.tellProgress?.(html)"
ASK = "on => { if (on && window.Notification) Notification.requestPermission(); return on; }"


def build(page: Page) -> None:
    """Put the tab together."""
    line = FileLine()
    with gr.Column(elem_id="batch-setup") as setup:
        gr.HTML(hint(HINT), padding=False)
        file = build_file(page, "upload")
        with file.details, gr.Column(elem_classes="card"):
            trouble = gr.HTML(elem_id="batch-trouble")
            asked, controls, go, later = _choices(page)
        hub_dataset.build(page, [file.upload], "upload")
        templates.build(page, file.upload)
        background, listed = batch_background.build(page)
    shown, files = _results()
    shown.setup, shown.trouble = setup, trouble
    inputs = [*(page.owner, page.task, file.upload, *asked, file.meanings), *file.columns]
    scoring = Scoring(page, background, line, StopRequests(), shown)
    scoring.stops.heed(shown.halt, shown.progress)
    scored = scoring.on(go, later, [*inputs, *controls])
    scored.then(background.show, page.owner, listed.outputs, **QUIET)
    for ready in (scored, background_result.build(page, background, listed, shown)):
        files.offer_on(ready.then)
    shown.progress.change(None, shown.progress, None, js=TELL, **QUIET)
    again = [file.upload, setup, shown.results, shown.progress]
    shown.again.click(_another, None, again, **QUIET)
    _browse(shown)
    batch_api.build(page.core.models, line)
    hub_api.build(page.core.store)


def _another() -> list[Any]:
    """Return to the choice of a file; what was scored stays in My data."""
    return [None, gr.Column(visible=True), gr.Column(visible=False), NOTHING]


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
            trigger_mode="once",
            concurrency_id="batch",
            concurrency_limit=FILES_AT_ONCE,
            **QUIET,
        )
        return scored


def _choices(
    page: Page,
) -> tuple[list[Any], list[Any], gr.Button, gr.Button]:  # Any: components
    """Lay out the model and the changes, under Settings the rest, and the buttons that score."""
    with gr.Row(elem_classes="choices"):
        with gr.Column(scale=1, min_width=170):
            known = model_choices(page.core.models.names(""))
            model = gr.Dropdown(known, label="Model", **CHANGING)
            go = gr.Button("Score the file", variant="primary", elem_id="score")
            later = gr.Button("Score in the background", elem_id="score-later")
        with gr.Column(scale=4, min_width=280):
            changes = build_changes(page, "batch-transforms")
    with gr.Accordion(
        "Settings: seed, precision, options of the changes", open=False, elem_classes="fold"
    ):
        with gr.Row():
            seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=100)
            precisions = list(get_args(Precision))
            precision = gr.Dropdown(precisions, value="auto", label="Precision", min_width=100)
            long = options.long_texts()
            tell = gr.Checkbox(label="Tell me when a file is finished", elem_id="tell")
        controls = options.build()
    tell.input(None, tell, tell, js=ASK, **QUIET)
    place = [page.owner, page.task]
    page.on_show(partial(_models, page), [*place, model], model)
    return [model, changes, seed, precision, long], controls, go, later


def _models(page: Page, owner: str, task_name: str, chosen: str | None) -> gr.Dropdown:
    """Offer the models of the task, and keep the chosen one where it is among them."""
    names = page.core.models.names(owner, task_named(task_name))
    first = names[0] if names else None
    return gr.Dropdown(choices=model_choices(names), value=chosen if chosen in names else first)


def _results() -> tuple[Outputs, ResultFiles]:
    """Lay out the results, and whether to guard the files."""
    shown = Outputs()
    with gr.Column(visible=False, elem_id="batch-results") as shown.results:
        with gr.Row(elem_id="batch-head"):
            shown.head = gr.HTML(elem_id="batch-name")
            shown.scored = _download("Download scored file", "primary", "batch-scored")
            shown.pairs = _download("Made texts", "secondary", "batch-pairs")
            shown.halt = gr.Button("Stop", elem_id="halt", min_width=0)
            shown.again = gr.Button("New file", elem_id="batch-again", min_width=0)
        shown.progress = gr.HTML(elem_id="batch-progress")
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
