"""The Compare tab's HTTP endpoints: models on a file, and on one pair."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.comparison import compare_rows, read, require_two
from probe.data.names import stem_of
from probe.data.rows import guess
from probe.data.tables import read_table
from probe.limits import visitor_bounds
from probe.models.classifier import Classifier, Precision
from probe.reports.comparison import comparison_json, example_comparison_json
from probe.runs.model_access import ModelAccess
from probe.tasks.nli import NLI, Pair
from probe.ui.answers.answering import answering
from probe.ui.answers.request_limits import check_pair
from probe.ui.api.arguments import Name, Names, Text, Token, Upload
from probe.ui.api.endpoint import endpoint
from probe.ui.result_files import write_comparison
from probe.ui.visitors.visitor_files import check_room, fresh_folder, own_file


def build(access: ModelAccess) -> None:
    """Add the endpoints to the page."""

    @endpoint
    @answering("file_minutes")
    def compare(
        file: Upload, models: Names, precision: Precision, owner: Token
    ) -> tuple[dict[str, Any], list[str]]:
        """Compare models on a file; returns the summary, the scored file and the summary's file.

        Args:
            file: A table of pairs; its columns are guessed by their names.
            models: Two or more, with commas between.
            precision: auto, fp32 or bf16.
            owner: The token of one's own runs, which /inoculate returns.
        """
        return compare_on(access, owner, Path(file), models, precision)

    @endpoint
    @answering("answer_seconds")
    def compare_pair(
        premise: Text,
        hypothesis: Text,
        models: Names,
        gold: Name = "",
        precision: Precision = "fp32",
        owner: Token = "",
    ) -> dict[str, Any]:
        """Compare models on one pair: the JSON of `python -m probe compare --premise`.

        Args:
            premise: The premise.
            hypothesis: The hypothesis.
            models: Two or more, as a list or as a text with commas.
            gold: The gold label, if it is known.
            precision: auto, fp32 or bf16.
            owner: The token of one's own runs, which /inoculate returns.
        """
        pair = Pair(premise, hypothesis, NLI.read_gold(gold))
        check_pair(pair)
        return example_comparison_json(pair, known(access, owner, models), precision)

    with gr.Row(visible=False):  # a file needs components of its own to travel in
        asked = [
            gr.File(type="filepath", label="file"),
            gr.Textbox("", label="models"),
            gr.Textbox("auto", label="precision"),
            gr.Textbox("", label="owner"),
        ]
        answered = [gr.JSON(label="summary"), gr.Files(label="files")]
        call = gr.Button()
    call.click(compare, asked, answered, api_name="compare", concurrency_id="compare")
    gr.api(compare_pair, api_name="compare_pair", concurrency_id="compare")


def compare_on(
    models: ModelAccess, owner: str, path: Path, names: list[str], precision: Precision
) -> tuple[dict[str, Any], list[str]]:
    """Compare models on a file; return the summary and the places of the file and the summary."""
    classifiers = known(models, owner, names)
    check_room(models.store, owner)
    table = read_table(own_file(owner, path), visitor_bounds())
    unread = read(table, guess([str(name) for name in table.frame.columns], NLI), NLI)
    rows = [row for chunk in compare_rows(classifiers, unread, precision) for row in chunk.rows]
    summary = comparison_json(rows, names, precision)
    stem = stem_of(path)
    return summary, write_comparison(fresh_folder(owner), table, rows, names, summary, stem)[0]


def known(models: ModelAccess, owner: str, names: Sequence[str]) -> list[Classifier]:
    """Return the classifiers of two or more models. Raises ComparisonError, ModelError."""
    require_two(names)
    for name in names:
        models.require(owner, name)
    return [models.get(owner, name) for name in names]
