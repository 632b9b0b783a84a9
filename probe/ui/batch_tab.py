"""The Batch tab: a whole file, with partial results as they come."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import gradio as gr
import pandas as pd

from probe.analysis.batch import Row, score
from probe.analysis.summary import summarise, summary_json
from probe.data.tables import Columns, check, guess, read_table
from probe.errors import FileError, OptionError, UserError
from probe.models.cache import ModelCache
from probe.models.classifier import Precision
from probe.settings import ASSETS
from probe.transforms.availability import ready
from probe.transforms.options import read_options
from probe.ui import option_controls, template_maker
from probe.ui.html.batch import (
    ALL,
    FILTERS,
    PAGE,
    baselines,
    cards,
    chart,
    measures,
    page,
    progress,
    view,
    write_results,
)
from probe.ui.html.elements import sheet
from probe.ui.widgets import alert, model_names, named

EXAMPLES = sorted((ASSETS / "examples").glob("*"))
NO_GOLD = "(no gold label)"
PREVIEW = 5
GOLD_HELP = (
    "Gold labels are read as entailment, neutral, contradiction, as e, n, c, or as 0, 1, 2 in "
    "this order; “-” means that the annotators disagreed."
)
MEASURED = "measures with 95 % intervals; a transform counts where it changed the pair"
BASELINES = "rule baselines on the same pairs, with 95 % intervals"


def choose(path: str | None) -> list[Any]:
    """Show the first rows of an upload and the guessed columns."""
    nothing = [gr.Dropdown(choices=[], value=None)] * 3
    if not path:
        return ["", *nothing, ""]
    try:
        loaded = read_table(Path(path))
        names = [str(name) for name in loaded.frame.columns]
        columns, told = _guess(names)
    except FileError as trouble:
        return ["", *nothing, alert(trouble)]
    broken = f", {len(loaded.broken)} of them do not fit the header" if loaded.broken else ""
    return [
        sheet(loaded.frame.head(PREVIEW), "first rows of the file"),
        gr.Dropdown(choices=names, value=columns.premise),
        gr.Dropdown(choices=names, value=columns.hypothesis),
        gr.Dropdown(choices=[NO_GOLD, *names], value=columns.gold or NO_GOLD),
        f'{told}<p class="fine">{len(loaded.frame)} rows{broken}. {GOLD_HELP}</p>',
    ]


def _guess(names: list[str]) -> tuple[Columns, str]:
    """Guess the columns; where the names do not tell, take the first two and ask."""
    try:
        return guess(names), ""
    except FileError as trouble:
        if len(names) < 2:
            raise
        return Columns(names[0], names[1]), alert(f"{trouble}. Say above which column is which.")


def columns_of(names: Sequence[str], premise: str, hypothesis: str, gold: str | None) -> Columns:
    """Return the chosen columns, guessed where none is chosen. Raises FileError."""
    columns = guess(names)
    if premise and hypothesis:
        columns = Columns(premise, hypothesis, None if gold in (None, NO_GOLD) else gold)
    check(columns, names)
    return columns


def run(
    cache: ModelCache,
    path: str | None,
    premise: str,
    hypothesis: str,
    gold: str | None,
    model: str,
    names: list[str],
    seed: float | None,
    precision: Precision,
    *values: object,
) -> Iterator[list[Any]]:
    """Score the file; after each chunk yield what the page shows.

    `values` are those of the options' controls. In order: progress, cards, plot, measures, files,
    place of the rows, rows, where in the rows, whether they can be paged, rule baselines.
    """
    hidden = [gr.skip()] * 9
    rows = list[Row]()
    try:
        options = option_controls.read(values)
        if not path:
            raise FileError("choose a file first, or one of the examples")
        table = read_table(Path(path))
        headers = [str(name) for name in table.frame.columns]
        columns = columns_of(headers, premise, hypothesis, gold)
        cache.require(model)
        yield ['<p class="fine">Loading the model …</p>', *hidden]
        classifier = cache.get(model)
        for chunk in score(table, columns, classifier, names, int(seed or 0), options, precision):
            rows += chunk.rows
            summary = summarise(rows, names)
            part, where, _ = page(view(rows[:PAGE], names), ALL, 1)
            yield [
                progress(chunk),
                cards(summary, classifier, precision),
                gr.Plot(chart(summary), visible=bool(names)),
                sheet(measures(summary), MEASURED),
                gr.Files(visible=False),
                gr.skip(),
                sheet(part, "scored rows"),
                '<p class="fine">the first rows</p>',
                gr.Row(visible=False),
                "",
            ]
        shape = summary_json(summary, classifier, precision, int(seed or 0), options)
        results, paging = write_results(table, rows, names, shape, Path(path), model)
    except UserError as trouble:
        yield [alert(trouble), *hidden]
        return
    part, where, _ = page(view(rows, names), ALL, 1)
    yield [
        *[gr.skip()] * 4,
        gr.Files(results, visible=True),
        paging,
        sheet(part, "scored rows"),
        where,
        gr.Row(visible=True),
        against_rules(rows),
    ]


def against_rules(rows: Sequence[Row]) -> str:
    """Show what rules that read no sentence reach on the same pairs, where there is gold."""
    found = baselines(rows)
    head = '<h3 class="title small">Rule baselines</h3>'
    return head + sheet(found, BASELINES) if len(found) else ""


def turn(paging: str, kept: str, number: float | None) -> tuple[str, str, int]:
    """Show another page or filter."""
    frame = pd.read_json(Path(paging), lines=True, dtype=False)
    part, where, now = page(frame, kept, int(number or 1))
    return sheet(part, "scored rows"), where, now


def batch_api(
    cache: ModelCache,
    file: str,
    transforms: str,
    model: str,
    seed: float,
    keep: float,
    sign: str,
    precision: str,
    others: str,
) -> tuple[dict[str, Any], list[str]]:
    """Score a file; return the summary and the places of the scored file and the summary.

    `transforms` holds names or chains with commas between, `others` options as a JSON object;
    columns are guessed.
    """
    names = [name.strip() for name in transforms.split(",") if name.strip()]
    exact: Precision = named("precision", precision, Precision)
    try:
        if not file:
            raise FileError("there is no file in the request")
        options = read_options({"keep": keep, "sign": sign, **_json(others)})
        table = read_table(Path(file))
        columns = guess([str(name) for name in table.frame.columns])
        cache.require(model)
        classifier = cache.get(model)
        chunks = score(table, columns, classifier, names, int(seed), options, exact)
        rows = [row for chunk in chunks for row in chunk.rows]
        shape = summary_json(summarise(rows, names), classifier, exact, int(seed), options)
        return shape, write_results(table, rows, names, shape, Path(file), model)[0]
    except UserError as trouble:
        raise gr.Error(str(trouble)) from trouble


def _json(text: str) -> dict[str, Any]:
    """Read a JSON object. Raises OptionError."""
    try:
        found = json.loads(text or "{}")
    except ValueError as wrong:
        raise OptionError(f"options are not JSON: {wrong}") from wrong
    if not isinstance(found, dict):
        raise OptionError('options are a JSON object such as {"senses": "first"}')
    return found


def build(cache: ModelCache) -> gr.Dropdown:
    """Put the tab together and return its list of models."""
    with gr.Row():
        with gr.Column(scale=5, min_width=300):
            upload = gr.File(
                label="CSV, TSV, JSON lines or Parquet; also the MNLI and SNLI releases",
                type="filepath",
                height=130,
                elem_id="upload",
            )
            gr.Examples(
                [[str(path)] for path in EXAMPLES],
                upload,
                label="Three files to try",
                api_visibility="private",
            )
        with gr.Column(scale=7, min_width=300):
            with gr.Row():
                premise = gr.Dropdown([], label="Premise column", min_width=130)
                hypothesis = gr.Dropdown([], label="Hypothesis column", min_width=130)
                gold = gr.Dropdown([], label="Gold label column", min_width=130)
            told = gr.HTML(elem_id="columns-told")
    template_maker.build(upload)
    preview = gr.HTML(elem_id="preview")
    names = gr.Dropdown(
        ready(),
        value=["sort", "shuffle", "drop"],
        multiselect=True,
        allow_custom_value=True,
        label="Transforms; join names with + for a chain",
        elem_id="batch-transforms",
    )
    with gr.Row():
        model = gr.Dropdown(model_names(), label="Model", min_width=130, allow_custom_value=True)
        seed = gr.Number(0, label="Seed", precision=0, minimum=0, min_width=80)
        precision = gr.Dropdown(
            list(get_args(Precision)), value="auto", label="Precision", min_width=100
        )
    with gr.Accordion("Options of the transforms", open=False):
        choices = option_controls.build()
    with gr.Row():
        go = gr.Button("Score the file", variant="primary", elem_id="score")
        halt = gr.Button("Stop", elem_id="halt")
    bar = gr.HTML(elem_id="batch-progress")
    figures = gr.HTML(elem_id="batch-cards")
    plot = gr.Plot(visible=False, show_label=False, elem_id="batch-plot")
    measured = gr.HTML(elem_id="measures")
    ruled = gr.HTML(elem_id="baselines")
    files = gr.Files(visible=False, label="Scored file and summary", elem_id="files")
    with gr.Row(visible=False) as turning:
        kept = gr.Dropdown([ALL, *FILTERS], value=ALL, label="Show", min_width=180)
        at = gr.Number(1, label="Page", precision=0, minimum=1, min_width=80, elem_id="page")
    where = gr.HTML()
    lines = gr.HTML(elem_id="lines")
    paging = gr.State("")

    quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    upload.change(choose, upload, [preview, premise, hypothesis, gold, told], **quiet)
    started = go.click(
        partial(run, cache),
        [upload, premise, hypothesis, gold, model, names, seed, precision, *choices],
        [bar, figures, plot, measured, files, paging, lines, where, turning, ruled],
        concurrency_id="batch",
        concurrency_limit=1,
        **quiet,
    )
    stopped = '<p class="fine">Stopped. What was scored stays below; no file was written.</p>'
    halt.click(lambda: stopped, None, bar, cancels=started, **quiet)
    gr.on([kept.input, at.input], turn, [paging, kept, at], [lines, where, at], **quiet)

    with gr.Row(visible=False):  # the HTTP endpoint's own components: a file needs one to travel in
        asked = [
            gr.File(type="filepath", label="file"),
            gr.Textbox("", label="transforms"),
            gr.Textbox("minilm", label="model"),
            gr.Number(0, label="seed", precision=0),
            gr.Number(0.5, label="keep"),
            gr.Textbox("support", label="sign"),
            gr.Textbox("auto", label="precision"),
            gr.Textbox("{}", label="options"),
        ]
        answered = [gr.JSON(label="summary"), gr.Files(label="files")]
        call = gr.Button()
    call.click(partial(batch_api, cache), asked, answered, api_name="batch", concurrency_id="batch")
    return model
