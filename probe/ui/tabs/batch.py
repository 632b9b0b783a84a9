"""The Batch tab: a whole file, with partial results as they come."""

from typing import Any, get_args

import gradio as gr
from gradio.events import Dependency

from probe.models.classifier import Precision
from probe.tasks.nli import NLI
from probe.transforms.availability import ready
from probe.ui.answers.pacing import StopRequests
from probe.ui.api import batch as batch_api
from probe.ui.batch_tables import ALL, FILTERS
from probe.ui.choices import refresh_models
from probe.ui.events import QUIET
from probe.ui.page import Page
from probe.ui.panels import options, templates
from probe.ui.panels.guard import build_guard, offer
from probe.ui.panels.upload import build_columns, build_file, guess_on_upload
from probe.ui.tabs.batch_run import Outputs, run, turn

FILE_LABEL = "CSV, TSV, JSON lines or Parquet; also the MNLI and SNLI releases"


def build(page: Page) -> None:
    """Put the tab together."""
    upload, columns = _file(page)
    model, asked = _settings(page)
    with gr.Row():
        go = gr.Button("Score the file", variant="primary", elem_id="score")
        halt = gr.Button("Stop", elem_id="halt")
    shown, guard, kept, number = _results()
    inputs = [page.owner, upload, *columns, model, *asked]
    scoring = _score_on(go, halt, page, inputs, shown)
    scoring.then(offer, [shown.paging, guard], [shown.files, guard], **QUIET)
    place = [shown.rows, shown.place, number]
    gr.on([kept.input, number.input], turn, [shown.paging, kept, number], place, **QUIET)
    batch_api.build(page.core.models)
    refresh_models(page, model)


def _score_on(
    go: gr.Button, halt: gr.Button, page: Page, inputs: list[Any], shown: Outputs
) -> Dependency:
    """Score when the one button is pressed, and stop when the other is; return the scoring."""
    stops = StopRequests()

    def score(request: gr.Request, *values: Any) -> Any:
        yield from run(page.core.models, stops, request.session_hash, *values)

    stops.heed(go, halt, shown.progress)
    return go.click(
        score, inputs, shown.outputs, concurrency_id="batch", concurrency_limit=1, **QUIET
    )


def _file(page: Page) -> tuple[gr.File, list[gr.Dropdown]]:
    """Lay out the file with its columns and first rows, and the templates that make one."""
    with gr.Row():
        with gr.Column(scale=5, min_width=300):
            upload = build_file(FILE_LABEL, "upload")
        with gr.Column(scale=7, min_width=300):
            columns = build_columns()
            guessed = gr.HTML(elem_id="columns-guessed")
    templates.build(page, upload)
    preview = gr.HTML(elem_id="preview")
    guess_on_upload(page, upload, columns, preview, guessed)
    return upload, columns


def _settings(page: Page) -> tuple[gr.Dropdown, list[Any]]:  # Any: components share no useful type
    """Lay out the model, and what is done: transforms, seed, precision, options."""
    names = gr.Dropdown(
        ready(NLI),
        value=["sort", "shuffle", "drop"],
        multiselect=True,
        allow_custom_value=True,
        label="Transforms; join names with + for a chain",
        elem_id="batch-transforms",
    )
    with gr.Row():
        model = gr.Dropdown(
            page.core.models.names(""), label="Model", min_width=130, allow_custom_value=True
        )
        seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
        precision = gr.Dropdown(
            list(get_args(Precision)), value="auto", label="Precision", min_width=100
        )
    with gr.Accordion("Options of the transforms", open=False):
        controls = options.build()
    return model, [names, seed, precision, *controls]


def _results() -> tuple[Outputs, gr.Checkbox, gr.Dropdown, gr.Number]:
    """Lay out the results, whether to guard the files, the filter and number of a page of rows."""
    shown = Outputs(
        progress=gr.HTML(elem_id="batch-progress"),
        cards=gr.HTML(elem_id="batch-cards"),
        plot=gr.Plot(visible=False, show_label=False, elem_id="batch-plot"),
        measures=gr.HTML(elem_id="measures"),
        baselines=gr.HTML(elem_id="baselines"),
        files=gr.Files(visible=False, label="Scored file and summary", elem_id="files"),
        paging=gr.Textbox("", label="results", visible=False),
    )
    guard = build_guard(shown.files, shown.paging, "batch-guard")
    with gr.Row(visible=False) as shown.turning:
        kept = gr.Dropdown([ALL, *FILTERS], value=ALL, label="Show", min_width=180)
        number = gr.Number(1, label="Page", precision=0, minimum=1, min_width=80, elem_id="page")
    shown.place, shown.rows = gr.HTML(), gr.HTML(elem_id="lines")
    return shown, guard, kept, number
