"""The Compare tab: several models on the same pairs."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import gradio as gr
from gradio.events import Dependency

from probe.analysis.comparison import Row
from probe.errors import ComparisonError, UserError
from probe.models.classifier import Precision
from probe.runs.model_access import ModelAccess
from probe.tasks.nli import NLI
from probe.ui.answers.pacing import StopRequests
from probe.ui.api import compare as compare_api
from probe.ui.choices import refresh_models
from probe.ui.events import CHANGING, PRESSED, QUIET
from probe.ui.html.compare_cells import PAGE_ROWS, chosen, matrix, page, slices
from probe.ui.html.elements import NOTHING, alert
from probe.ui.page import Page
from probe.ui.panels import hans
from probe.ui.panels.guard import build_guard, offer
from probe.ui.panels.upload import build_columns, build_file, guess_on_upload
from probe.ui.result_files import kept_comparison
from probe.ui.tabs.compare_run import BUNDLED, FILE, MAX_MODELS, PAIR, Outputs, run
from probe.ui.tabs.example_pairs import examples_of

TO_PAIRS = '() => document.getElementById("compare-cell")?.scrollIntoView({block: "nearest"})'


def first_two(names: Sequence[str]) -> list[str]:
    """Return the bundled model and the next one there is."""
    return sorted(names, key=lambda name: name != "minilm")[:2]


def choose_models(models: ModelAccess, visitor: str, query: Mapping[str, str]) -> list[Any]:
    """Read a permalink's models, or begin with the first two; say which are not here."""
    known = models.names(visitor)
    asked = [name for name in query.get("models", "").split(",") if name]
    missing = [name for name in asked if name not in known]
    trouble = alert(f"there is no model called {missing[0]!r} here") if missing else NOTHING
    here = list(dict.fromkeys(name for name in asked if name in known))[:MAX_MODELS]
    return [
        gr.Dropdown(choices=known, value=here or first_two(known)),
        gr.HTML(trouble, visible=bool(trouble)),
    ]


def show_source(source: str) -> tuple[gr.Column, gr.Column]:
    """Show the fields of what is compared on: those of a file, those of a pair."""
    return gr.Column(visible=source == FILE), gr.Column(visible=source == PAIR)


def choose_two(place: str, first: str, second: str) -> list[Any]:
    """Show the matrix and the slices of two other models, and no cell's pairs."""
    no_pairs = [NOTHING, gr.Number(visible=False), ""]
    try:
        if not place:
            raise ComparisonError("compare these models first")
        rows, names, a, b = two_of(place, first, second)
        if a == b:
            raise ComparisonError("choose two different models")
    except UserError as trouble:
        return [alert(trouble), NOTHING, *no_pairs]
    return [matrix(rows, names, a, b), slices(rows, names, a, b), *no_pairs]


def two_of(place: str, first: str, second: str) -> tuple[list[Row], list[str], int, int]:
    """Return the results with the key `place`: rows, models, and the numbers of two of them.

    Raises FileError, ComparisonError.
    """
    rows, names = kept_comparison(place)
    absent = [name for name in (first, second) if name not in names]
    if absent:
        raise ComparisonError(f"the model {absent[0]!r} was not compared here")
    return rows, names, names.index(first), names.index(second)


def press(event: gr.EventData, place: str, first: str, second: str) -> list[Any]:
    """Show the pairs of a cell that was pressed, from the first page on."""
    cell = str(getattr(event, "cell", ""))
    return [*turn(place, first, second, cell, 1), cell]


def turn(
    place: str, first: str, second: str, cell: str, number: float | None
) -> tuple[str, gr.Number]:
    """Show another page of the pairs of a cell."""
    if not place or not cell:
        return NOTHING, gr.Number(visible=False)
    try:
        rows, names, a, b = two_of(place, first, second)
    except UserError as trouble:
        return alert(trouble), gr.Number(visible=False)
    words, part = chosen(rows, names, a, b, cell)
    shown, number_shown = page(words, part, names, int(number or 1)) if part else (NOTHING, 1)
    return shown, gr.Number(number_shown, visible=len(part) > PAGE_ROWS)


def build(page: Page) -> None:
    """Put the tab together."""
    names, asked = _asked(page)
    with gr.Row():
        go = gr.Button("Compare", variant="primary", elem_id="compare")
        halt = gr.Button("Stop", elem_id="compare-halt")
    shown, number = _results()
    guard = build_guard(shown.files, shown.place, "compare-guard")
    cell = gr.Textbox("", label="cell", visible=False)
    hans.build(page, names)
    go.click(lambda: ("", gr.Number(visible=False)), None, [cell, number], **QUIET)
    comparing = _compare_on(go, halt, page, [page.owner, names, *asked], shown)
    comparing.then(offer, [shown.place, guard], [shown.files, guard], **QUIET)
    _browse(shown, number, cell)
    compare_api.build(page.core.models)
    refresh_models(page, names)


def _compare_on(
    go: gr.Button, halt: gr.Button, page: Page, inputs: list[Any], shown: Outputs
) -> Dependency:
    """Compare when the one button is pressed, and stop when the other is; return the comparing."""
    stops = StopRequests()

    def answer(request: gr.Request, *values: Any) -> Any:
        yield from run(page.core.models, stops, request.session_hash, *values)

    stops.heed(go, halt, shown.progress)
    return go.click(
        answer, inputs, shown.outputs, concurrency_id="compare", concurrency_limit=1, **QUIET
    )


def _browse(shown: Outputs, number: gr.Number, cell: gr.Textbox) -> None:
    """Show the pairs of pressed cells, page by page, and two other models."""
    two = [shown.place, shown.first, shown.second]
    other = [shown.matrix, shown.slices, shown.pairs, number, cell]
    gr.on([shown.first.input, shown.second.input], choose_two, two, other, **QUIET)
    for part in (shown.matrix, shown.slices):
        pressed = part.click(press, two, [shown.pairs, number, cell], **QUIET)
        pressed.then(None, js=TO_PAIRS, **QUIET)
    number.input(turn, [*two, cell, number], [shown.pairs, number], **QUIET)


def _asked(page: Page) -> tuple[gr.Dropdown, list[Any]]:
    """Lay out what is compared; return the models and the other inputs of `run` in order."""
    known = page.core.models.names("")
    names = gr.Dropdown(
        known,
        value=first_two(known),
        multiselect=True,
        label=f"Models, 2 to {MAX_MODELS}",
        elem_id="compare-models",
        **CHANGING,
    )
    trouble = gr.HTML(visible=False)
    with gr.Row():
        source = gr.Radio([BUNDLED, FILE, PAIR], value=BUNDLED, label="On", min_width=280, scale=5)
        precision = gr.Dropdown(
            list(get_args(Precision)), value="auto", label="Precision", min_width=150
        )
    with gr.Column(visible=False) as of_file:
        upload = build_file("CSV, TSV, JSON lines or Parquet", "compare-upload")
        columns = build_columns()
        guessed, preview = gr.HTML(), gr.HTML(elem_id="compare-preview")
        guess_on_upload(page, upload, columns, preview, guessed)
    with gr.Column(visible=False) as of_pair:
        texts = _pair()

    def open_page(visitor: str, request: gr.Request) -> list[Any]:
        return choose_models(page.core.models, visitor, request.query_params)

    page.opened.then(open_page, page.owner, [names, trouble], **QUIET)
    source.change(show_source, source, [of_file, of_pair], **QUIET)
    return names, [source, precision, *texts, upload, *columns]


def _pair() -> list[gr.Textbox]:
    """Lay out the fields of a pair."""
    sides = NLI.texts(examples_of(NLI)["Same words, other roles"])
    return [
        gr.Textbox(text, label=NLI.title_of(side), lines=2, elem_id=f"compare-{side}")
        for side, text in sides.items()
    ]


def _results() -> tuple[Outputs, gr.Number]:
    """Lay out the results, and the number of the page of pairs."""
    shown = Outputs(
        progress=gr.HTML(elem_id="compare-progress"),
        cards=gr.HTML(elem_id="compare-cards"),
        tests=gr.HTML(elem_id="compare-tests"),
        place=gr.Textbox("", label="results", visible=False),
    )
    with gr.Row(visible=False) as shown.two:
        shown.first = gr.Dropdown([], label="First model", min_width=130, **CHANGING)
        shown.second = gr.Dropdown([], label="Second model", min_width=130, **CHANGING)
    shown.matrix = gr.HTML(elem_id="compare-matrix", js_on_load=PRESSED)
    shown.pairs = gr.HTML(elem_id="compare-cell")
    number = gr.Number(
        1, label="Page", precision=0, minimum=1, visible=False, elem_id="compare-page"
    )
    shown.slices = gr.HTML(elem_id="compare-slices", js_on_load=PRESSED)
    shown.files = gr.Files(
        visible=False, label="Compared file and summary", elem_id="compare-files"
    )
    return shown, number
