"""The Batch tab's endpoint over HTTP: a file is scored."""

from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.batch import score
from probe.analysis.summary import summarise, summary_json
from probe.data.rows import guess
from probe.data.tables import read_table
from probe.limits import visitor_bounds
from probe.models.classifier import Precision
from probe.runs.model_access import ModelAccess
from probe.transforms.options import Options, Sign, read_options
from probe.ui.answers.answering import answering
from probe.ui.answers.request_limits import check_transforms
from probe.ui.api.arguments import Choices, Name, Names, Seed, Share, Token, Upload
from probe.ui.api.endpoint import endpoint
from probe.ui.result_files import write_results
from probe.ui.visitors.visitor_files import check_room, fresh_folder, own_file


def build(models: ModelAccess) -> None:
    """Add `/batch` with components of its own: a file needs one to travel in."""

    @endpoint
    @answering("file_minutes")
    def batch(
        file: Upload,
        transforms: Names,
        model: Name,
        seed: Seed,
        keep: Share,
        sign: Sign,
        precision: Precision,
        options: Choices,
        owner: Token,
    ) -> tuple[dict[str, Any], list[str]]:
        """Score a file; returns the summary, the scored file and the summary's file.

        Args:
            file: A table of pairs; its columns are guessed by their names.
            transforms: Names or chains, with commas between.
            model: A model that the page offers, or one that /load_model has loaded.
            seed: Where the transforms' chance begins.
            keep: The share of tokens that drop, repeat and replace keep.
            sign: Which tokens count as important.
            precision: auto, fp32 or bf16.
            options: Further options of the transforms, as a JSON object.
            owner: The token of one's own runs, which /inoculate returns.
        """
        chosen = read_options({"keep": keep, "sign": sign, **options})
        return score_file(models, owner, Path(file), transforms, model, seed, precision, chosen)

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
            gr.Textbox("", label="owner"),
        ]
        answered = [gr.JSON(label="summary"), gr.Files(label="files")]
        call = gr.Button()
    call.click(batch, asked, answered, api_name="batch", concurrency_id="batch")


def score_file(
    models: ModelAccess,
    owner: str,
    path: Path,
    names: list[str],
    model: str,
    seed: int,
    precision: Precision,
    options: Options,
) -> tuple[dict[str, Any], list[str]]:
    """Score a file; return the summary and the places of the scored file and the summary."""
    check_transforms(names)
    check_room(models.store, owner)
    table = read_table(own_file(owner, path), visitor_bounds())
    classifier = models.get(owner, model)
    task = classifier.task
    columns = guess([str(name) for name in table.frame.columns], task)
    chunks = score(table, columns, classifier, names, seed, options, precision)
    rows = [row for chunk in chunks for row in chunk.rows]
    totals = summarise(rows, names, task)
    summary = summary_json(totals, classifier, precision, seed, options)
    return summary, write_results(
        fresh_folder(owner), table, rows, names, summary, path, classifier
    )[0]
