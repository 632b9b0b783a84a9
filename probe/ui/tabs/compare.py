"""The Compare tab: several models on the same examples."""

from dataclasses import dataclass
from typing import Any, get_args

import gradio as gr
from gradio.events import Dependency
from markupsafe import Markup

from probe.models.classifier import Precision
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import task_named
from probe.ui.answers.file_line import FILES_AT_ONCE, FileLine
from probe.ui.answers.pacing import StopRequests
from probe.ui.answers.turns import visitor_of
from probe.ui.api import compare as compare_api
from probe.ui.checkup import panel as checkup
from probe.ui.choices import model_choices
from probe.ui.events import CHANGING, EACH, EMPTY, GIVE_BACK_AND_HIDE, PRESSED, QUIET, in_turn
from probe.ui.html.compare.result import empty
from probe.ui.html.elements import hint, note
from probe.ui.html.shared_link import copy_script
from probe.ui.page import Page
from probe.ui.panels import hans, hub_dataset, options
from probe.ui.panels.guard import ResultFiles, build_guard
from probe.ui.panels.labelled_file import build_file, most_fields
from probe.ui.panels.sources import BUNDLED
from probe.ui.tabs.compare_link import read_link
from probe.ui.tabs.compare_run import MAX_MODELS, Outputs, run
from probe.ui.tabs.compare_scripts import ASKED, CHANGED, FRESH, TO_ROWS, TWO_CHOSEN, TYPED
from probe.ui.tabs.compare_view import (
    open_page,
    press,
    show_link,
    show_source,
    sources,
    turn,
)

IN_LINE: dict[str, Any] = {
    "concurrency_id": "comparisons",
    "concurrency_limit": FILES_AT_ONCE,
    **QUIET,
}
"""Comparisons stand in a line of their own, in which each learns its place."""
BEFORE = Markup('<div role="status">{}</div>').format(
    note("These results are of what was chosen before.")
)
"""Shown, and announced, while results are dimmed."""
HINT = "Ask several models the same: which is better, where each fails, and where they differ."


def build(page: Page) -> None:
    """Put the tab together."""
    shown = Outputs()
    gr.HTML(hint(HINT), padding=False)
    with gr.Row(elem_id="compare-strip"):
        names = _models(page)
        source = _source()
        shown.go = gr.Button("Compare", variant="primary", elem_id="compare", min_width=0)
        shown.halt = gr.Button("Stop", visible=False, elem_id="compare-halt", min_width=0)
        link = gr.Button("Copy link", elem_id="compare-link", min_width=0)
    share = gr.HTML(padding=False, elem_id="compare-share")
    trouble = gr.HTML(visible=False, padding=False)
    with gr.Column(visible=False) as of_file:
        file = build_file(page, "compare-upload")
        hub_dataset.build(page, [file.upload], "compare-upload")
    with gr.Column(visible=False, elem_classes="card", elem_id="compare-one") as of_one:
        texts = [gr.Textbox(label="", lines=2, elem_id=f"compare-text-{at}") for at in (1, 2)]
    settings = "Settings: precision, long texts"
    with gr.Accordion(settings, open=False, elem_classes="fold"), gr.Row():
        precisions = list(get_args(Precision))
        precision = gr.Dropdown(precisions, value="auto", label="Precision", min_width=100)
        long = options.long_texts()
    shown.progress = gr.HTML(padding=False, elem_id="compare-progress")
    files = _results(shown)
    with gr.Column() as inference_only:
        hans.build(page, names)
    checkup.build(page, source, file)
    one_of_each = [names, source, long, *texts, shown.begin, inference_only]
    asked = [page.owner, page.task, names, source, precision, long, *texts, *file.asked]
    comparing = Comparing(page, StopRequests(), FileLine(), shown)
    files.offer_on(comparing.on(asked).then)
    source.change(show_source, source, [of_file, of_one], **QUIET)
    chosen = [names.input, source.input, precision.input, long.input, file.upload.change]
    chosen += [column.input for column in file.columns]
    typed = [names.change, *(text.change for text in texts)]
    gr.on(chosen, None, js=CHANGED, **QUIET)
    gr.on(typed, None, js=TYPED, **QUIET)
    gr.on([*chosen, *typed], None, None, share, js=EMPTY, **QUIET)
    linked = gr.State([])
    _open(page, [*one_of_each, trouble, linked])
    comparing.on_link(linked)
    gr.on([shown.say.change, shown.tiles.change], None, shown.progress, None, js=FRESH, **QUIET)
    given = link.click(
        lambda *values: show_link(page.core.models, *values),
        [page.owner, page.task, names, source, long, *texts],
        share,
        **QUIET,
    )
    given.then(None, js=copy_script("compare-share"), **QUIET)
    _browse(shown)
    compare_api.build(page.core.models)
    _refresh(page, names, shown.begin)


def _open(page: Page, outputs: list[Any]) -> None:
    """Fill the fields for the task, and by the link that opened the page."""

    def fill(visitor: str, task_name: str, request: gr.Request) -> list[Any]:
        return open_page(page.core.models, visitor, task_name, request.query_params)

    page.on_open(fill, [page.owner, page.task], outputs, **in_turn("compare-fields"))


def _refresh(page: Page, names: gr.Dropdown, begin: gr.HTML) -> None:
    """Offer the visitor's own models, and those that came meanwhile, when the tab is shown again.

    What will stand there is shown anew, since it says how many models there are.
    """

    def offered(owner: str, task_name: str) -> tuple[gr.Dropdown, Markup]:
        task = task_named(task_name)
        known = page.core.models.names(owner, task)
        words = empty(task, len(known), len(bundled_examples(task, "test")))
        return gr.Dropdown(choices=model_choices(known)), words

    page.on_return(offered, [page.owner, page.task], [names, begin], **QUIET)


@dataclass(frozen=True)
class Comparing:
    """What begins a comparison: the button, and a link that names one."""

    page: Page
    stops: StopRequests
    line: FileLine
    shown: Outputs

    def on(self, inputs: list[Any]) -> Dependency:
        """Compare when a button is pressed, and stop when the other is; return the comparing."""

        def answer(request: gr.Request, *values: Any) -> Any:
            yield from self._run(request, *values)

        self.stops.heed(self.shown.halt, self.shown.progress)
        begun = self.shown.go.click(answer, inputs, self.shown.outputs, js=ASKED, **IN_LINE)
        return self._end(begun)

    def on_link(self, linked: gr.State) -> None:
        """Compare what a link names as soon as it is opened."""

        def answer(request: gr.Request, visitor: str, asked: list[Any]) -> Any:
            if asked:
                task, names, source, long, *texts = asked
                no_file = [None] * (most_fields() + 2)
                chosen = [task, names, source, "auto", long]
                yield from self._run(request, visitor, *chosen, *texts, *no_file, "")

        asked = [self.page.owner, linked]
        self._end(linked.change(answer, asked, self.shown.outputs, js=ASKED, **IN_LINE))

    def _end(self, compared: Dependency) -> Dependency:
        compared.then(None, self.shown.progress, None, js=FRESH, **QUIET)
        compared.then(None, None, [self.shown.go, self.shown.halt], js=GIVE_BACK_AND_HIDE, **QUIET)
        return compared

    def _run(self, request: gr.Request, *values: Any) -> Any:
        models = self.page.core.models
        self.stops.withdraw(request.session_hash)
        yield from run(models, self.stops, self.line, visitor_of(request), *values)


def _browse(shown: Outputs) -> None:
    """Show the rows of pressed numbers, page by page, and two other models."""
    asked = [shown.place, shown.two]
    pressed = [shown.matrix, shown.numbers, shown.rows, shown.pager, shown.cell, shown.two]
    one_by_one = EACH | in_turn("compare-rows")
    for part in (shown.parts, shown.matrix, shown.numbers):
        part.click(press, asked, pressed, **one_by_one).then(None, js=TO_ROWS, **QUIET)
    shown.pager.click(turn, [*asked, shown.cell], [shown.rows, shown.pager], **one_by_one)


def _models(page: Page) -> gr.Dropdown:
    known = page.core.models.names("")
    return gr.Dropdown(
        model_choices(known),
        value=list(read_link(NLI, known, {}).models),
        multiselect=True,
        label=f"Models, 2 to {MAX_MODELS}",
        elem_id="compare-models",
        **CHANGING,
    )


def _source() -> gr.Radio:
    return gr.Radio(
        sources(NLI), value=BUNDLED, label="On", elem_id="compare-on", elem_classes="seg"
    )


def _results(shown: Outputs) -> ResultFiles:
    """Lay out the results, and the question whether to guard the files."""
    count = len(bundled_examples(NLI, "test"))
    shown.begin = gr.HTML(empty(NLI, 2, count), padding=False, elem_id="compare-begin")
    with gr.Column(elem_id="compare-results"):
        gr.HTML(BEFORE, padding=False, elem_id="compare-before")
        shown.say = gr.HTML(padding=False, elem_id="compare-say")
        shown.tiles = gr.HTML(padding=False, elem_id="compare-tiles")
        with gr.Row(visible=False, elem_id="compare-pictures") as shown.pictures:
            with gr.Column(scale=7, min_width=400):
                shown.parts = gr.HTML(padding=False, elem_id="compare-parts", js_on_load=PRESSED)
            with gr.Column(scale=5, min_width=400):
                shown.matrix = gr.HTML(
                    padding=False, elem_id="compare-matrix", js_on_load=PRESSED + TWO_CHOSEN
                )
        with gr.Column(visible=False, elem_id="compare-rows", elem_classes="card") as shown.browse:
            shown.rows = gr.HTML(padding=False, elem_id="compare-cell")
            shown.pager = gr.HTML(padding=False, elem_id="compare-pager", js_on_load=PRESSED)
        shown.numbers = gr.HTML(padding=False, elem_id="compare-numbers", js_on_load=PRESSED)
        with gr.Column(visible=False, elem_classes="card") as shown.taken:
            shown.files = gr.Files(
                label="Compared file and summary", interactive=False, elem_id="compare-files"
            )
            shown.place = gr.Textbox("", label="results", visible=False)
            files = build_guard(shown.files, shown.place, "compare-guard")
    shown.two = gr.Textbox("0|1", label="two models", visible=False)
    shown.cell = gr.Textbox("", label="cell", visible=False)
    return files
