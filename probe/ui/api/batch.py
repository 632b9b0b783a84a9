"""The Batch tab's endpoint over HTTP: a file is scored."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from probe.data.file_options import FileOptions, read_form
from probe.data.names import stem_of
from probe.data.reading import reading_of
from probe.data.rows import Columns, Source
from probe.errors import FileError, FileQuestion
from probe.models.classifier import Precision
from probe.models.library import AnyModel, that_reads
from probe.models.windows import Long
from probe.runs.access import ModelAccess
from probe.scoring.files import FileScoring, Places, ScoringRequest
from probe.tasks.task import Task, task_named
from probe.transforms.options import Sign
from probe.transforms.registry import read_task_options
from probe.ui.answers.answering import answering, caller_left
from probe.ui.answers.file_line import FILES_AT_ONCE, FileLine
from probe.ui.answers.request_limits import check_transforms
from probe.ui.answers.turns import visitor_of
from probe.ui.api.arguments import (
    MAX_WHOLE,
    Choices,
    Name,
    Names,
    NamesByName,
    Seed,
    Share,
    Token,
    Upload,
)
from probe.ui.api.endpoint import endpoint, over_http
from probe.ui.api.example import first_model
from probe.ui.measure.result_files import write_json
from probe.ui.visitors.visitor_files import check_room, fresh_folder, open_upload

GOLD = "gold"
"""Names the column of the gold label beside those of the texts."""


@over_http()
def build(models: ModelAccess, line: FileLine) -> None:
    """Add `/batch` with components of its own: a file needs one to travel in."""

    @endpoint
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
        task: Name,
        columns: NamesByName,
        label_values: NamesByName,
        form: Name = "",
        long: Long = "cut",
    ) -> tuple[dict[str, Any], list[str]]:
        """Score a file; returns the summary, the scored file and the summary's file.

        Args:
            file: A table of examples; its columns are guessed by their names.
            transforms: Names or chains, with commas between.
            model: One that the page offers or /load_model has loaded; empty for the task's first.
            seed: Where the transforms' chance begins.
            keep: The share of tokens that drop, repeat and replace keep.
            sign: Which tokens count as important.
            precision: auto, fp32 or bf16.
            options: Further options of the transforms, as a JSON object.
            owner: The token of one's own runs, which /inoculate returns.
            task: nli, paraphrase, sentiment or reading; if empty, that of a model on disk, or nli.
            columns: Columns by text where they are not to be guessed, and gold, as a JSON object.
            label_values: Labels by the value of the file that means them, as a JSON object.
            form: How the file is read where it does not tell it, such as --no-header or --sheet 2.
            long: cut, or windows, in which a premise longer than the model reads is read.
        """
        check_transforms(transforms)
        check_room(models.store, owner)
        asked = task_named(task) if task else models.task(owner, model)
        settings = read_task_options(asked, {"keep": keep, "sign": sign, **options})
        reading = options_by_name(columns, label_values, form)
        source = open_upload(owner, file, reading)
        chosen = settled(source, source.path, asked, reading)
        wanted = ScoringRequest(
            chosen, tuple(transforms), seed, settings, precision, reading=reading, long=long
        )
        request = LocalContext.request.get(None)
        with line.place(visitor_of(request) if request else ("", owner), caller_left()) as ahead:
            for _ in ahead:  # until it is this file's turn
                pass
            named = models.get(owner, model or first_model(models, owner, asked), asked)
            classifier = that_reads(named, long)
            return answering("file_minutes")(score_file)(
                source, wanted, classifier, Path(file), fresh_folder(owner)
            )

    with gr.Row(visible=False):
        asked = [
            gr.File(type="filepath", label="file"),
            gr.Textbox("", label="transforms"),
            gr.Textbox("", label="model"),
            gr.Number(0, label="seed", precision=0, minimum=0, maximum=MAX_WHOLE),
            gr.Number(0.5, label="keep", minimum=0, maximum=1),
            gr.Textbox("support", label="sign"),
            gr.Textbox("auto", label="precision"),
            gr.Textbox("{}", label="options"),
            gr.Textbox("", label="owner"),
            gr.Textbox("", label="task"),
            gr.Textbox("{}", label="columns"),
            gr.Textbox("{}", label="label_values"),
            gr.Textbox("", label="form"),
            gr.Textbox("cut", label="long"),
        ]
        answered = [gr.JSON(label="summary"), gr.Files(label="files")]
        call = gr.Button()
    call.click(
        batch,
        asked,
        answered,
        api_name="batch",
        concurrency_id="batch",
        concurrency_limit=FILES_AT_ONCE,
    )


def options_by_name(named: Mapping[str, str], values: Mapping[str, str], form: str) -> FileOptions:
    """Return what an endpoint's arguments say of a file. Raises FileError."""
    texts = {field: name for field, name in named.items() if field != GOLD}
    return replace(read_form(form), columns=texts, gold=named.get(GOLD, ""), values=values)


def settled(table: Source, path: Path, task: Task, options: FileOptions) -> Columns:
    """Return how a file is read. Raises FileError, also where that is not clear, and LabelError."""
    try:
        return reading_of(table, path, task, options).settled
    except FileQuestion as question:
        raise FileError(f"{question.sentence}; say it in columns, label_values or task") from None


def score_file(
    source: Source, request: ScoringRequest, classifier: AnyModel, path: Path, folder: Path
) -> tuple[dict[str, Any], list[str]]:
    """Score a file; return the summary and the places of the files."""
    stem = stem_of(path)
    pairs = folder / f"{stem}-pairs.{source.form}" if request.names else None
    places = Places(folder / f"{stem}-scored.{source.form}", pairs)
    scoring = FileScoring(source, classifier, request, places)
    for _ in scoring.chunks():  # what is done is on the disk
        pass
    summary = scoring.hand_over()
    note = write_json(summary, folder / f"{stem}-summary.json")
    return summary, [str(path) for path in (places.scored, note, pairs) if path]
