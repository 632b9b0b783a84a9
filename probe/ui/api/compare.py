"""The Compare tab's HTTP endpoints: models on a file, and on one example."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.comparison import compare_rows, read, require_two
from probe.analysis.comparison_report import comparison_json, example_comparison_json
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.names import stem_of
from probe.data.source import read_table
from probe.limits import visitor_bounds
from probe.models.classifier import Precision
from probe.models.library import AnyModel, that_reads
from probe.models.windows import Long
from probe.runs.access import ModelAccess
from probe.tasks.task import Task
from probe.ui.answers.answering import answering
from probe.ui.api.arguments import Name, Names, NamesByName, Text, Token, Upload
from probe.ui.api.batch import options_by_name, settled
from probe.ui.api.endpoint import endpoint, over_http
from probe.ui.api.example import Texts, read_example, task_of
from probe.ui.measure.result_files import write_comparison
from probe.ui.visitors.visitor_files import check_room, fresh_folder, own_file


@over_http()
def build(access: ModelAccess) -> None:
    """Add the endpoints to the page."""

    @endpoint
    @answering("file_minutes")
    def compare(
        file: Upload,
        models: Names,
        precision: Precision,
        owner: Token,
        task: Name,
        columns: NamesByName = {},  # noqa: B006  # gradio reads the default for its schema
        label_values: NamesByName = {},  # noqa: B006  # as above
        form: Name = "",
        long: Long = "cut",
    ) -> tuple[dict[str, Any], list[str]]:
        """Compare models on a file; returns the summary, the scored file and the summary's file.

        Args:
            file: A table of a task's examples; its columns are guessed by their names.
            models: Two or more, with commas between.
            precision: auto, fp32 or bf16.
            owner: The token of one's own runs, which /inoculate returns.
            task: nli, paraphrase, sentiment or reading; if empty, the first model's, as for /probe.
            columns: Columns by text where they are not to be guessed, and gold, as a JSON object.
            label_values: Labels by the value of the file that means them, as a JSON object.
            form: How the file is read where it does not tell it, such as --no-header or --sheet 2.
            long: cut, or windows, in which a premise longer than a model reads is read.
        """
        asked = task_of(access, owner, task, models[0] if models else "")
        reading = options_by_name(columns, label_values, form)
        return compare_on(access, owner, Path(file), models, precision, asked, reading, long)

    @endpoint
    def compare_pair(
        premise: Text = "",
        hypothesis: Text = "",
        models: Names = [],  # noqa: B006  # gradio reads the default for its schema
        gold: Name = "",
        precision: Precision = "fp32",
        owner: Token = "",
        texts: Texts = {},  # noqa: B006  # as above
        task: Name = "",
        long: Long = "cut",
    ) -> dict[str, Any]:
        """Compare models on one example: the JSON of `python -m probe compare --text`.

        Args:
            premise: The premise, in place of texts for inference.
            hypothesis: The hypothesis, likewise.
            models: Two or more, as a list or as a text with commas.
            gold: The gold label, or the right answers with | between them, if known.
            precision: auto, fp32 or bf16.
            owner: The token of one's own runs, which /inoculate returns.
            texts: The texts by field: premise, hypothesis; text1, text2; text; question, passage.
            task: nli, paraphrase, sentiment or reading; if empty, the first model's, as for /probe.
            long: cut, or windows, in which a premise longer than a model reads is read.
        """
        asked = task_of(access, owner, task, models[0] if models else "")
        example = read_example(asked, texts, premise, hypothesis, gold)
        several = [that_reads(each, long) for each in known(access, owner, models, asked)]
        return example_comparison_json(example, several, precision)

    with gr.Row(visible=False):  # a file needs components of its own to travel in
        asked = [
            gr.File(type="filepath", label="file"),
            gr.Textbox("", label="models"),
            gr.Textbox("auto", label="precision"),
            gr.Textbox("", label="owner"),
            gr.Textbox("", label="task"),
            gr.Textbox("{}", label="columns"),
            gr.Textbox("{}", label="label_values"),
            gr.Textbox("", label="form"),
            gr.Textbox("cut", label="long"),
        ]
        answered = [gr.JSON(label="summary"), gr.Files(label="files")]
        call = gr.Button()
    call.click(compare, asked, answered, api_name="compare", concurrency_id="compare")
    gr.api(compare_pair, api_name="compare_pair", concurrency_id="compare")


def compare_on(
    models: ModelAccess,
    owner: str,
    path: Path,
    names: list[str],
    precision: Precision,
    task: Task,
    reading: FileOptions = AS_THE_FILE_TELLS,
    long: Long = "cut",
) -> tuple[dict[str, Any], list[str]]:
    """Compare models on a file; return the summary and the places of the file and the summary."""
    classifiers = [that_reads(each, long) for each in known(models, owner, names, task)]
    check_room(models.store, owner)
    table = read_table(own_file(owner, path), visitor_bounds(), reading)
    unread = read(table, settled(table, path, task, reading), task)
    rows = [row for chunk in compare_rows(classifiers, unread, precision) for row in chunk.rows]
    summary = comparison_json(rows, names, precision)
    stem = stem_of(path)
    return summary, write_comparison(fresh_folder(owner), table, rows, names, summary, stem)[0]


def known(models: ModelAccess, owner: str, names: Sequence[str], task: Task) -> list[AnyModel]:
    """Return the classifiers of two or more models. Raises ComparisonError, ModelError."""
    require_two(names)
    for name in names:
        models.require(owner, name)
    return [models.get(owner, name, task) for name in names]
