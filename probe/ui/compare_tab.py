"""The Compare tab: two or more models on one pair or on a file, side by side."""

from functools import partial
from pathlib import Path
from typing import Any, get_args

import gradio as gr

from probe.models.cache import ModelCache
from probe.models.classifier import Precision
from probe.reports.compared_rows import kept
from probe.ui import compare_api, hans_panel
from probe.ui.batch_tab import EXAMPLES as FILES
from probe.ui.batch_tab import choose
from probe.ui.compare_run import BUNDLED, FILE, MOST, PAIR, run
from probe.ui.html.compare_cells import PAGE, chosen, matrix, page, slices
from probe.ui.probe_tab import EXAMPLES as PAIRS
from probe.ui.widgets import alert, model_names

PRESSED = """element.addEventListener("click", event => {
  const pressed = event.target.closest("button[data-cell]");
  if (pressed) trigger("click", {cell: pressed.dataset.cell});
});"""
TO_PAIRS = '() => document.getElementById("compare-cell")?.scrollIntoView({block: "nearest"})'


def first_two() -> list[str]:
    """Return the bundled model and the next one there is."""
    names = model_names()
    return sorted(names, key=lambda name: name != "minilm")[:2]


def open_page(request: gr.Request) -> list[Any]:
    """Read a permalink's models, or begin with the first two; say which are not here."""
    known = model_names()
    asked = [name for name in request.query_params.get("models", "").split(",") if name]
    missing = [name for name in asked if name not in known]
    told = alert(f"there is no model called {missing[0]!r} here") if missing else ""
    found = list(dict.fromkeys(name for name in asked if name in known))[:MOST]
    return [
        gr.Dropdown(choices=known, value=found or first_two()),
        gr.HTML(told, visible=bool(told)),
    ]


def show_source(source: str) -> tuple[gr.Column, gr.Column]:
    """Show the fields of what is compared on: those of a file, those of a pair."""
    return gr.Column(visible=source == FILE), gr.Column(visible=source == PAIR)


def choose_two(place: str, names: list[str], first: str, second: str) -> list[Any]:
    """Show the matrix and the slices of two other models, and no cell's pairs."""
    none = ["", gr.Number(visible=False), ""]
    a, b = names.index(first), names.index(second)
    if a == b:
        return [alert("choose two different models"), "", *none]
    rows = kept(Path(place))
    return [matrix(rows, names, a, b), slices(rows, names, a, b), *none]


def press(event: gr.EventData, place: str, names: list[str], first: str, second: str) -> list[Any]:
    """Show the pairs of a cell that was pressed, from the first page on."""
    cell = str(getattr(event, "cell", ""))
    return [*turn(place, names, first, second, cell, 1), cell]


def turn(
    place: str, names: list[str], first: str, second: str, cell: str, number: float | None
) -> tuple[str, gr.Number]:
    """Show another page of the pairs of a cell."""
    if not place or not cell:
        return "", gr.Number(visible=False)
    rows = kept(Path(place))
    words, part = chosen(rows, names, names.index(first), names.index(second), cell)
    shown, now = page(words, part, names, int(number or 1)) if part else ("", 1)
    return shown, gr.Number(now, visible=len(part) > PAGE)


def build(cache: ModelCache, blocks: gr.Blocks) -> gr.Dropdown:
    """Put the tab together inside `blocks` and return its list of models."""
    names = gr.Dropdown(
        model_names(),
        value=first_two(),
        multiselect=True,
        label=f"Models, 2 to {MOST}",
        elem_id="compare-models",
    )
    told = gr.HTML(visible=False)
    with gr.Row():
        source = gr.Radio([BUNDLED, FILE, PAIR], value=BUNDLED, label="On", min_width=280, scale=5)
        precision = gr.Dropdown(
            list(get_args(Precision)), value="auto", label="Precision", min_width=150
        )
    with gr.Column(visible=False) as of_file:
        upload, columns = _file()
    with gr.Column(visible=False) as of_pair:
        texts = _pair()
    go = gr.Button("Compare", variant="primary", elem_id="compare")
    going = gr.HTML(elem_id="compare-progress")
    figures = gr.HTML(elem_id="compare-cards")
    tested = gr.HTML(elem_id="compare-tests")
    with gr.Row(visible=False) as two:
        first = gr.Dropdown([], label="First model", min_width=130)
        second = gr.Dropdown([], label="Second model", min_width=130)
    table = gr.HTML(elem_id="compare-matrix", js_on_load=PRESSED)
    pairs = gr.HTML(elem_id="compare-cell")
    at = gr.Number(1, label="Page", precision=0, minimum=1, visible=False, elem_id="compare-page")
    measured = gr.HTML(elem_id="compare-slices", js_on_load=PRESSED)
    files = gr.Files(visible=False, label="Compared file and summary", elem_id="compare-files")
    place, compared, cell = gr.State(""), gr.State([]), gr.State("")
    hans_panel.build(cache, names)

    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    blocks.load(open_page, None, [names, told], **quiet)
    source.change(show_source, source, [of_file, of_pair], **quiet)
    asked = [names, source, precision, *texts, upload, *columns]
    shown = [going, figures, tested, two, first, second, table, measured, pairs, files]
    hidden: dict[str, Any] = {"concurrency_id": "compare", "concurrency_limit": 1, **quiet}
    go.click(lambda: ("", gr.Number(visible=False)), None, [cell, at], **quiet)
    go.click(partial(run, cache), asked, [*shown, place, compared], **hidden)
    pair_of = [place, compared, first, second]
    other = [table, measured, pairs, at, cell]
    gr.on([first.input, second.input], choose_two, pair_of, other, **quiet)
    for part in (table, measured):
        pressed = part.click(press, pair_of, [pairs, at, cell], **quiet)
        pressed.then(None, js=TO_PAIRS, **quiet)
    at.input(turn, [*pair_of, cell, at], [pairs, at], **quiet)
    compare_api.build(cache)
    return names


def _file() -> tuple[gr.File, list[gr.Dropdown]]:
    """Lay out the fields of a file: where it is dropped, what its columns are."""
    upload = gr.File(
        label="CSV, TSV, JSON lines or Parquet",
        type="filepath",
        height=130,
        elem_id="compare-upload",
    )
    examples = [[str(path)] for path in FILES]
    gr.Examples(examples, upload, label="Three files to try", api_visibility="private")
    sides = ("Premise", "Hypothesis", "Gold label")
    with gr.Row():
        columns = [gr.Dropdown([], label=f"{side} column", min_width=130) for side in sides]
    guessed, preview = gr.HTML(), gr.HTML(elem_id="compare-preview")
    upload.change(
        choose,
        upload,
        [preview, *columns, guessed],
        api_visibility="private",
        show_progress="hidden",
    )
    return upload, columns


def _pair() -> list[gr.Textbox]:
    """Lay out the fields of a pair."""
    sides = zip(("premise", "hypothesis"), PAIRS["same words, other roles"], strict=True)
    return [
        gr.Textbox(text, label=side.capitalize(), lines=2, elem_id=f"compare-{side}")
        for side, text in sides
    ]
