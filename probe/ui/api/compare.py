"""The Compare tab's HTTP endpoints: models on a file, and on one pair."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.comparison import compare_rows, read, require_two
from probe.data.rows import guess, require_text
from probe.data.tables import read_table
from probe.errors import FileError, UserError
from probe.limits import visitor_bounds
from probe.models.cache import ModelCache
from probe.models.classifier import Classifier, Precision
from probe.reports.comparison import comparison_json, example_comparison_json
from probe.tasks.nli import NLI, Pair
from probe.ui.choices import require_choice
from probe.ui.result_files import write_comparison


def on_file(
    cache: ModelCache, file: str, models: str, precision: str
) -> tuple[dict[str, Any], list[str]]:
    """Compare models, with commas between, on a file; return the summary and two files' places.

    Columns are guessed. The files are the scored one and the summary.
    """
    names = [name.strip() for name in models.split(",") if name.strip()]
    exact: Precision = require_choice("precision", precision, Precision)
    try:
        if not file:
            raise FileError("there is no file in the request")
        classifiers = known(cache, names)
        table = read_table(Path(file), visitor_bounds())
        unread = read(table, guess([str(name) for name in table.frame.columns], NLI), NLI)
        rows = [row for chunk in compare_rows(classifiers, unread, exact) for row in chunk.rows]
        summary = comparison_json(rows, names, exact)
        stem = Path(file).name.split(".")[0]
        return summary, write_comparison(table, rows, names, summary, stem)[0]
    except UserError as trouble:
        raise gr.Error(str(trouble)) from trouble


def known(cache: ModelCache, names: Sequence[str]) -> list[Classifier]:
    """Return the classifiers of two or more models. Raises ComparisonError, ModelError."""
    require_two(names)
    for name in names:
        cache.require(name)
    return [cache.get(name) for name in names]


def build(cache: ModelCache) -> None:
    """Add the endpoints to the page."""
    with gr.Row(visible=False):  # a file needs components of its own to travel in
        asked = [
            gr.File(type="filepath", label="file"),
            gr.Textbox("", label="models"),
            gr.Textbox("auto", label="precision"),
        ]
        answered = [gr.JSON(label="summary"), gr.Files(label="files")]
        call = gr.Button()
    call.click(
        partial(on_file, cache), asked, answered, api_name="compare", concurrency_id="compare"
    )

    def compare_pair(
        premise: str,
        hypothesis: str,
        models: list[str],
        gold: str = "",
        precision: str = "fp32",
    ) -> dict[str, Any]:
        """Compare models on one pair: the JSON of `python -m probe compare --premise`."""
        exact: Precision = require_choice("precision", precision, Precision)
        try:
            pair = Pair(premise, hypothesis, NLI.read_gold(gold))
            require_text(NLI, pair, visitor_bounds())
            return example_comparison_json(pair, known(cache, models), exact)
        except UserError as trouble:
            raise gr.Error(str(trouble)) from trouble

    gr.api(compare_pair, api_name="compare_pair", concurrency_id="compare")
