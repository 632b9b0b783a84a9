"""Compare: several models on the same texts."""

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.events import Dependency
from markupsafe import Markup

from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.ui.answers.file_line import FILES_AT_ONCE, FileLine
from probe.ui.answers.pacing import StopRequests
from probe.ui.answers.turns import visitor_of
from probe.ui.api import compare as compare_api
from probe.ui.events import EACH, GIVE_BACK_AND_HIDE, PRESSED, QUIET, in_turn, scroll_to
from probe.ui.html.compare.result import empty
from probe.ui.html.elements import note
from probe.ui.measure.choice import TEXTS, Choice, Link, build_link, read_link
from probe.ui.measure.scripts import asked, fresh
from probe.ui.page import Page
from probe.ui.panels.guard import ResultFiles, build_guard
from probe.ui.panels.labelled_file import column_count
from probe.ui.tabs.compare_run import Outputs, run
from probe.ui.tabs.compare_view import press, turn

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
TO_ROWS = scroll_to("compare-rows", "nearest")
TWO_CHOSEN = """
element.addEventListener("change", ({ target }) => {
  if (target.matches("select.two-models")) trigger("click", { cell: target.value });
});"""
"""Lets a picture report which two models were chosen, as a press on them."""
ASKED, FRESH = asked("compare-results"), fresh("compare-results")


def build(page: Page) -> None:
    """Put the view together."""
    choice: Choice = page.shared
    shown = Outputs()
    with gr.Row(elem_classes="tools"):
        shown.go = gr.Button(
            "Compare", variant="primary", elem_id="compare", min_width=0, interactive=False
        )
        choice.allow(shown.go)
        shown.halt = gr.Button("Stop", visible=False, elem_id="compare-halt", min_width=0)
        build_link(choice, "compare")
    shown.progress = gr.HTML(padding=False, elem_id="compare-progress")
    files = _results(shown)
    comparing = Comparing(page, StopRequests(), FileLine(), shown)
    files.offer_on(comparing.on(choice.inputs).then)
    gr.on([shown.say.change, shown.tiles.change], None, shown.progress, None, js=FRESH, **QUIET)
    _open(page, comparing)
    _browse(shown)
    compare_api.build(page.core.models)


def _open(page: Page, comparing: "Comparing") -> None:
    """Say what will stand here; compare what a link names as soon as it is opened."""
    linked = gr.State([])

    def opened(visitor: str, task_name: str, request: gr.Request) -> list[Any]:
        """Return what will stand here, and what the link compares."""
        task, query = task_named(task_name), request.query_params
        known = page.core.models.names(visitor, task)
        link = read_link(visitor, task, known, query)
        words = empty(task, len(known), len(bundled_examples(task, "test")))
        return [words, asked_by(task, link) if "texts" in query or "on" in query else []]

    comparing.on_link(linked)
    begin = comparing.shown.begin
    page.on_open(opened, [page.owner, page.task], [begin, linked], **in_turn("compare-fields"))


def asked_by(task: Task, link: Link) -> list[Any]:
    """Return the values of a choice by a link, none where it cannot be compared at once."""
    if not link.ready or len(link.models) < 2:
        return []
    texts = [link.texts.get(name, "") for name in (*task.fields, "")[:TEXTS]]
    file = [str(link.file) if link.file else None, *[None] * column_count(), ""]
    how = [link.source, link.precision, link.long, link.seed]
    return [task.name, list(link.models), *how, *texts, *file]


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
                yield from self._run(request, visitor, *asked)

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


def _results(shown: Outputs) -> ResultFiles:
    """Lay out the results, and the question whether to guard the files."""
    count = len(bundled_examples(NLI, "test"))
    shown.begin = gr.HTML(empty(NLI, 2, count), padding=False, elem_id="compare-begin")
    with gr.Column(elem_id="compare-results", elem_classes="measured"):
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
