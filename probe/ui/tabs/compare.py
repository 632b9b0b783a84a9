"""The Compare tab: several models on the same examples."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import gradio as gr
from gradio.events import Dependency

from probe.analysis.comparison import Row
from probe.errors import ComparisonError, UserError
from probe.models.bundled import title_of
from probe.models.classifier import Precision
from probe.runs.model_access import ModelAccess
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.ui.answers.pacing import StopRequests
from probe.ui.api import compare as compare_api
from probe.ui.events import CHANGING, QUIET
from probe.ui.html.compare import empty
from probe.ui.html.compare_cells import DIFFER, numbers
from probe.ui.html.compare_pictures import matrix
from probe.ui.html.elements import NOTHING, alert, join
from probe.ui.html.shared_link import copy_script, shared_link
from probe.ui.links import link_to_compare
from probe.ui.page import Page
from probe.ui.panels import hans
from probe.ui.panels.guard import build_guard, offer
from probe.ui.panels.upload import build_columns, build_file, guess_on_upload
from probe.ui.result_files import kept_comparison
from probe.ui.tabs.compare_link import View, read_link
from probe.ui.tabs.compare_run import (
    BUNDLED,
    FILE,
    MAX_MODELS,
    ONE,
    Outputs,
    cleared,
    rows_of,
    run,
)
from probe.ui.tabs.example_pairs import EXAMPLES
from probe.ui.task_choice import task_in

TO_ROWS = '() => document.getElementById("compare-rows")?.scrollIntoView({block: "nearest"})'
STALE = '() => { document.getElementById("compare-results")?.classList.add("stale"); }'
FRESH = '() => { document.getElementById("compare-results")?.classList.remove("stale"); }'
PRESSED = """
element.addEventListener("click", ({ target }) => {
  const pressed = target.closest("button[data-cell]");
  if (pressed) trigger("click", { cell: pressed.dataset.cell });
});
element.addEventListener("change", ({ target }) => {
  if (target.matches("select.two-models")) trigger("click", { cell: target.value });
});
"""
"""Lets a picture report which of its numbers was pressed, and which two models were chosen."""


def sources(task: Task) -> list[tuple[str, str]]:
    """Return on what models can be compared, in the words of a task."""
    count = len(bundled_examples(task, "test"))
    return [
        (f"The app's {count} {task.unit}s", BUNDLED),
        ("A file", FILE),
        (f"One {task.unit}", ONE),
    ]


def model_choices(names: list[str]) -> list[tuple[str, str]]:
    """Return models as a list offers them: by title, with the code name where it is another."""
    return [
        (name if title_of(name) == name else f"{title_of(name)} · {name}", name) for name in names
    ]


def show_task(models: ModelAccess, visitor: str, task: Task, view: View) -> list[Any]:
    """Relabel the components for a task and fill them with a view, in the order of `Fields`."""
    known = models.names(visitor, task)
    first = _first_example(task)
    boxes = [
        gr.Textbox(
            view.texts.get(name, first[name]) if name else "",
            label=task.title_of(name) if name else "",
            visible=bool(name),
        )
        for name in (*task.fields, "")[:2]
    ]
    return [
        gr.Dropdown(choices=model_choices(known), value=list(view.models)),
        gr.Radio(sources(task), value=view.source),
        *boxes,
        gr.HTML(empty(task, len(known), len(bundled_examples(task, "test")))),
        gr.Column(visible=task is NLI),
    ]


def _first_example(task: Task) -> dict[str, str]:
    """Return the texts that one example begins with."""
    if task is NLI:
        return dict(zip(task.fields, EXAMPLES["same words, other roles"], strict=True))
    return task.texts(bundled_examples(task, "test")[0])


def open_page(models: ModelAccess, visitor: str, query: Mapping[str, str]) -> list[Any]:
    """Read a link, or begin with the first two models; say what is not here."""
    task = task_in(query)
    view = read_link(task, models.names(visitor, task), query)
    trouble = join(alert(notice) for notice in view.notices)
    asked = [task.name, list(view.models), view.source, *_two_texts(task, view)]
    return [
        *show_task(models, visitor, task, view),
        gr.HTML(trouble, visible=bool(trouble)),
        asked if view.asked else [],
    ]


def _two_texts(task: Task, view: View) -> list[str]:
    return [view.texts.get(field, "") for field in (*task.fields, "")[:2]]


def change_task(
    models: ModelAccess, visitor: str, task_name: str, query: Mapping[str, str]
) -> list[Any]:
    """Relabel the components for the chosen task."""
    task = task_named(task_name)
    view = read_link(task, models.names(visitor, task), query)
    return show_task(models, visitor, task, view)


def show_link(
    models: ModelAccess,
    visitor: str,
    task_name: str,
    names: Sequence[str],
    source: str,
    *texts: str,
) -> str:
    """Show the link to what is chosen; it opens models of one's own to who gets it."""
    task = task_named(task_name)
    grants = [grant for name in names if (grant := models.share(visitor, name))]
    given = dict(zip(task.fields, texts, strict=False)) if source == ONE else {}
    return shared_link(link_to_compare(names, task, source, given, grants), bool(grants))


def show_source(source: str) -> tuple[gr.Column, gr.Column]:
    """Show the fields of what is compared on: those of a file, those of one example."""
    return gr.Column(visible=source == FILE), gr.Column(visible=source == ONE)


def begin_again() -> list[Any]:
    """Show nothing of an earlier comparison, but what will stand here."""
    shown = cleared()
    shown.begin, shown.halt = gr.HTML(visible=True), gr.Button(visible=False)
    return shown.outputs


def two_of(place: str, two: str) -> tuple[list[Row], list[str], int, int]:
    """Return the results with the key `place`: rows, models, and the places of two of them.

    Raises FileError, ComparisonError.
    """
    if not place:
        raise ComparisonError("compare these models first")
    rows, names = kept_comparison(place)
    first, _, second = two.partition("|")
    known = [str(at) for at in range(len(names))]
    if first not in known or second not in known or first == second:
        raise ComparisonError("choose two of the models that were compared")
    return rows, names, int(first), int(second)


def press(event: gr.EventData, place: str, two: str) -> list[Any]:
    """Show the rows of a number that was pressed, or two other models.

    Returns the matrix, the numbers, the rows, the number of their page, the cell, the two models.
    """
    cell = str(getattr(event, "cell", ""))
    try:
        if cell.startswith("two|"):
            two = cell.removeprefix("two|")
            found = two_of(place, two)
            shown = rows_of(*found, DIFFER, 1)
            return [matrix(*found), numbers(*found), *shown, DIFFER, two]
        shown = rows_of(*two_of(place, two), cell, 1)
    except UserError as trouble:
        return [gr.skip(), gr.skip(), alert(trouble), gr.Number(visible=False), "", gr.skip()]
    return [gr.skip(), gr.skip(), *shown, cell, gr.skip()]


def turn(place: str, two: str, cell: str, number: float | None) -> tuple[str, gr.Number]:
    """Show another page of the rows of a cell."""
    if not place or not cell:
        return NOTHING, gr.Number(visible=False)
    try:
        return rows_of(*two_of(place, two), cell, int(number or 1))
    except UserError as trouble:
        return alert(trouble), gr.Number(visible=False)


def build(page: Page) -> None:
    """Put the tab together."""
    shown = Outputs()
    with gr.Row(elem_id="compare-strip"):
        names = _models(page)
        source = _source()
        go = gr.Button("Compare", variant="primary", elem_id="compare", min_width=0)
        shown.halt = gr.Button("Stop", visible=False, elem_id="compare-halt", min_width=0)
        link = gr.Button("Copy link", elem_id="compare-link", min_width=0)
    share = gr.HTML(padding=False, elem_id="compare-share")
    trouble = gr.HTML(visible=False, padding=False)
    with gr.Column(visible=False, elem_classes="card") as of_file:
        upload = build_file("CSV, TSV, JSON lines or Parquet", "compare-upload")
        columns = build_columns()
        guessed, preview = gr.HTML(), gr.HTML(padding=False, elem_id="compare-preview")
        guess_on_upload(page, upload, columns, preview, guessed)
    with gr.Column(visible=False, elem_classes="card") as of_one:
        texts = [gr.Textbox(label="", lines=2, elem_id=f"compare-text-{at}") for at in (1, 2)]
    shown.progress = gr.HTML(padding=False, elem_id="compare-progress")
    guard = _results(shown)
    with gr.Column() as inference_only:
        hans.build(page, names)
    with gr.Accordion("Settings", open=False):
        precision = gr.Dropdown(list(get_args(Precision)), value="auto", label="Precision")
    one_of_each = [names, source, *texts, shown.begin, inference_only]
    asked = [page.owner, page.task, names, source, precision, *texts, upload, *columns]
    stops = StopRequests()
    comparing = _compare_on(go, page, stops, asked, shown)
    comparing.then(offer, [shown.place, guard], [shown.files, guard], **QUIET)
    source.change(show_source, source, [of_file, of_one], **QUIET)
    gr.on([names.input, source.input, *[text.input for text in texts]], None, js=STALE, **QUIET)
    linked = gr.State([])
    _follow_task_and_link(page, one_of_each, [trouble, linked])
    page.task.input(begin_again, None, shown.outputs, **QUIET)
    _compare_linked(page, stops, linked, shown)
    given = link.click(
        lambda *values: show_link(page.core.models, *values),
        [page.owner, page.task, names, source, *texts],
        share,
        **QUIET,
    )
    given.then(None, js=copy_script("compare-share"), **QUIET)
    _browse(shown)
    compare_api.build(page.core.models)
    _refresh(page, names)


def _follow_task_and_link(page: Page, fields: list[Any], opened: list[Any]) -> None:
    """Relabel the fields when the task changes, and fill them by the link that opened the page."""

    def change(visitor: str, task_name: str, request: gr.Request) -> list[Any]:
        return change_task(page.core.models, visitor, task_name, request.query_params)

    def fill(visitor: str, request: gr.Request) -> list[Any]:
        return open_page(page.core.models, visitor, request.query_params)

    page.task.change(change, [page.owner, page.task], fields, **QUIET)
    page.opened.then(fill, page.owner, [*fields, *opened], **QUIET)


def _refresh(page: Page, names: gr.Dropdown) -> None:
    """Offer the visitor's own models, and those that came meanwhile, when the tab is opened."""

    def offered(owner: str, task_name: str) -> gr.Dropdown:
        known = page.core.models.names(owner, task_named(task_name))
        return gr.Dropdown(choices=model_choices(known))

    page.tab.select(offered, [page.owner, page.task], names, **QUIET)


def _compare_on(
    go: gr.Button, page: Page, stops: StopRequests, inputs: list[Any], shown: Outputs
) -> Dependency:
    """Compare when the one button is pressed, and stop when the other is; return the comparing."""

    def answer(request: gr.Request, *values: Any) -> Any:
        yield from run(page.core.models, stops, request.session_hash, *values)

    stops.heed(go, shown.halt, shown.progress)
    go.click(None, js=STALE, **QUIET)
    shown.say.change(None, js=FRESH, **QUIET)
    return go.click(
        answer, inputs, shown.outputs, concurrency_id="compare", concurrency_limit=1, **QUIET
    )


def _compare_linked(page: Page, stops: StopRequests, linked: gr.State, shown: Outputs) -> None:
    """Compare what a link names as soon as it is opened."""

    def answer(request: gr.Request, visitor: str, asked: list[Any]) -> Any:
        if asked:
            task, names, source, *texts = asked
            given = (task, names, source, "auto", *texts, None)
            yield from run(page.core.models, stops, request.session_hash, visitor, *given)

    linked.change(answer, [page.owner, linked], shown.outputs, concurrency_id="compare", **QUIET)


def _browse(shown: Outputs) -> None:
    """Show the rows of pressed numbers, page by page, and two other models."""
    asked = [shown.place, shown.two]
    pressed = [
        *(shown.matrix, shown.numbers, shown.rows, shown.number, shown.cell, shown.two),
    ]
    for part in (shown.parts, shown.matrix, shown.numbers):
        part.click(press, asked, pressed, **QUIET).then(None, js=TO_ROWS, **QUIET)
    turned = [*asked, shown.cell, shown.number]
    shown.number.input(turn, turned, [shown.rows, shown.number], **QUIET)


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


def _results(shown: Outputs) -> gr.Checkbox:
    """Lay out the results, and the question whether to guard the files."""
    count = len(bundled_examples(NLI, "test"))
    shown.begin = gr.HTML(empty(NLI, 2, count), padding=False, elem_id="compare-begin")
    with gr.Column(elem_id="compare-results"):
        shown.say = gr.HTML(padding=False, elem_id="compare-say")
        shown.tiles = gr.HTML(padding=False, elem_id="compare-tiles")
        with gr.Row(visible=False, elem_id="compare-pictures") as shown.pictures:
            with gr.Column(scale=7, min_width=320):
                shown.parts = gr.HTML(padding=False, elem_id="compare-parts", js_on_load=PRESSED)
            with gr.Column(scale=5, min_width=320):
                shown.matrix = gr.HTML(padding=False, elem_id="compare-matrix", js_on_load=PRESSED)
        with gr.Column(visible=False, elem_id="compare-rows", elem_classes="card") as shown.browse:
            shown.rows = gr.HTML(padding=False, elem_id="compare-cell")
            shown.number = gr.Number(
                1, label="Page", precision=0, minimum=1, visible=False, elem_id="compare-page"
            )
        shown.numbers = gr.HTML(padding=False, elem_id="compare-numbers", js_on_load=PRESSED)
        with gr.Column(visible=False, elem_classes="card") as shown.taken:
            shown.files = gr.Files(label="Compared file and summary", elem_id="compare-files")
            shown.place = gr.Textbox("", label="results", visible=False)
            guard = build_guard(shown.files, shown.place, "compare-guard")
    shown.two = gr.Textbox("0|1", label="two models", visible=False)
    shown.cell = gr.Textbox("", label="cell", visible=False)
    return guard
