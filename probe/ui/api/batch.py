"""The Batch tab's endpoint over HTTP: a file is scored."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.batch import score
from probe.analysis.summary import summarise, summary_json
from probe.data.rows import guess
from probe.data.tables import read_table
from probe.errors import FileError, OptionError, UserError
from probe.limits import visitor_bounds
from probe.models.cache import ModelCache
from probe.models.classifier import Precision
from probe.transforms.options import read_options
from probe.ui.choices import require_choice
from probe.ui.result_files import write_results


def build(cache: ModelCache) -> None:
    """Add `/batch` with components of its own: a file needs one to travel in."""
    with gr.Row(visible=False):
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
    score_file = partial(on_file, cache)
    call.click(score_file, asked, answered, api_name="batch", concurrency_id="batch")


def on_file(
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
    exact: Precision = require_choice("precision", precision, Precision)
    try:
        if not file:
            raise FileError("there is no file in the request")
        chosen = read_options({"keep": keep, "sign": sign, **read_object(others)})
        table = read_table(Path(file), visitor_bounds())
        cache.require(model)
        classifier = cache.get(model)
        task = classifier.task
        columns = guess([str(name) for name in table.frame.columns], task)
        chunks = score(table, columns, classifier, names, int(seed), chosen, exact)
        rows = [row for chunk in chunks for row in chunk.rows]
        totals = summarise(rows, names, task)
        summary = summary_json(totals, classifier, exact, int(seed), chosen)
        return summary, write_results(table, rows, names, summary, Path(file), classifier)[0]
    except UserError as trouble:
        raise gr.Error(str(trouble)) from trouble


def read_object(text: str) -> dict[str, Any]:
    """Read a JSON object. Raises OptionError."""
    try:
        values = json.loads(text or "{}")
    except ValueError as wrong:
        raise OptionError(f"options are not JSON: {wrong}") from wrong
    if not isinstance(values, dict):
        raise OptionError('options are a JSON object such as {"senses": "first"}')
    return values
