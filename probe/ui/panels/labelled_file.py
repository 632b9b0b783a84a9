"""A person's file for the chosen task: its first rows, its columns, and what its labels mean."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.transformed import notes_before
from probe.data.file_options import FLAGS, FileOptions, read_form
from probe.data.reading import Reading, reading_of
from probe.data.rows import NO_COLUMN, Columns, Source
from probe.data.source import first_rows
from probe.errors import FileError, FileQuestion, LabelError, UserError
from probe.tasks.task import Task, offered_tasks, task_named
from probe.ui.events import CHANGING, CHOSEN, LAST, QUIET
from probe.ui.html.elements import NOTHING, alert, join, note, sheet
from probe.ui.html.label_values import UNDECIDED, labels_read
from probe.ui.page import Page
from probe.ui.panels.example_files import example_files
from probe.ui.visitors.visitor_files import open_upload

NO_GOLD = "(no gold label)"
FORMS = (
    "CSV, TSV, JSON lines, Parquet, Arrow or Excel, packed as .gz or .zst or not; also the "
    "releases of MNLI, SNLI and SQuAD."
)
ASKED = "{question}. Say it below."
ANOTHER_TASK = "{question}. Choose {task} at the top, or another file."


def _said_in(elem_id: str) -> str:
    """Return what reads in the browser what a file's lists of labels say.

    All are read at once, so that no answer comes too late.
    """
    lists = f"#{elem_id}-labels select[data-value]"
    return f"""() => JSON.stringify(Object.fromEntries(
      [...document.querySelectorAll("{lists}")].map(list => [list.dataset.value, list.value])))"""


@dataclass
class LabelledFile:
    """The components, in the order in which handlers take and give their values.

    `columns` are those of the texts, as many as the task with the most has, then that of the gold
    label, and last what is said of a form that the file does not tell. `meanings` holds as JSON
    what was said of values of labels.
    """

    upload: gr.File
    examples: dict[str, gr.Column]
    columns: list[gr.Dropdown]
    meanings: gr.Textbox
    preview: gr.HTML
    labels: gr.HTML
    doubt: gr.HTML
    switch: gr.Button
    details: gr.Column

    @property
    def asked(self) -> list[Any]:  # Any: components share no useful type
        """What the scoring of the file takes."""
        return [self.upload, *self.columns, self.meanings]

    @property
    def shown(self) -> list[Any]:
        """What is shown of a file."""
        return [
            *(self.preview, self.labels, self.doubt, self.switch, self.details, self.meanings),
            *self.columns,
        ]


def most_fields() -> int:
    """Return how many texts an example has at most."""
    return max(len(task.fields) for task in offered_tasks())


def column_count() -> int:
    """Return how many lists `LabelledFile.columns` has."""
    return most_fields() + 2


def build_file(page: Page, elem_id: str) -> LabelledFile:
    """Lay out the place of the file with examples of each task, and what is shown of a file."""
    with gr.Column(elem_classes="card upload"):
        upload = gr.File(
            label="File", show_label=False, type="filepath", height=132, elem_id=elem_id
        )
        examples = {task.name: _examples(task, upload, page) for task in offered_tasks()}
        doubt = gr.HTML(elem_id=f"{elem_id}-doubt")
        form = gr.Dropdown(
            [], label="How is it read?", visible=False, elem_id=f"{elem_id}-form", **CHANGING
        )
        switch = gr.Button(visible=False, elem_id=f"{elem_id}-switch")
    with (
        gr.Column(visible=False, elem_id=f"{elem_id}-details") as details,
        gr.Column(elem_classes="card"),
    ):
        preview = gr.HTML(elem_id=f"{elem_id}-preview")
        with gr.Row(elem_classes="reading"):
            columns: list[gr.Dropdown] = [
                gr.Dropdown([], label=f"column {number + 1}", min_width=130, **CHANGING)
                for number in range(most_fields())
            ]
            columns.append(gr.Dropdown([], label="Gold label", min_width=130, **CHANGING))
        columns.append(form)
        labels = gr.HTML(elem_id=f"{elem_id}-labels", js_on_load=CHOSEN)
    meanings = gr.Textbox("", label="meanings of labels", visible=False)
    file = LabelledFile(
        upload, examples, columns, meanings, preview, labels, doubt, switch, details
    )
    _react(page, file, _said_in(elem_id))
    return file


def _examples(task: Task, upload: gr.File, page: Page) -> gr.Column:
    column: gr.Column
    with gr.Column(visible=task.name == page.task.value, elem_classes="examples") as column:
        files = [[str(path)] for path in example_files(task)]
        gr.HTML(note(FORMS))
        gr.Examples(files, upload, label="Or try one of these", api_visibility="private")
    return column


def _react(page: Page, file: LabelledFile, said: str) -> None:
    """Read the file anew when it, its columns or the task change; `said` reads its lists."""
    whole = [page.owner, page.task, file.upload]
    file.upload.change(show_file, whole, file.shown, **QUIET)
    examples = list(file.examples.values())
    offered = [page.task, file.upload]
    page.mark_of(file.upload.change).change(_examples_of, offered, examples, **QUIET)
    page.on_open(_examples_of, offered, examples)
    chosen, form = [*whole, *file.columns], file.columns[-1]
    form.input(show_file, [*whole, form], file.shown, **LAST, **QUIET)
    gr.on(
        [column.input for column in file.columns[:-1]],
        show_labels,
        chosen,
        [file.labels, file.meanings],
        **LAST,
        **QUIET,
    )
    file.labels.select(None, None, file.meanings, js=said, **QUIET)
    fitting = file.switch.click(_fitting, [page.owner, page.task, file.upload], page.task, **QUIET)
    fitting.then(None, page.task, None, js="task => window.goToTask(task)", **QUIET)


def _examples_of(name: str, path: str | None) -> list[gr.Column]:
    """Offer the examples of the task until there is a file."""
    return [gr.Column(visible=not path and task.name == name) for task in offered_tasks()]


def read_meanings(text: str) -> dict[str, str]:
    """Read what was said of values; one that is still undecided says nothing. Raises LabelError."""
    try:
        said = json.loads(text or "{}")
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise LabelError("what the labels mean cannot be read; choose it again")
    return {str(value): str(label) for value, label in said.items() if label != UNDECIDED}


def show_file(visitor: str, task_name: str, path: str | None, form: str | None = None) -> list[Any]:
    """Return what is shown of a file, in the order of `LabelledFile.shown`.

    `form` is what was said of a form that the file does not tell.
    """
    task = task_named(task_name)
    said = gr.Dropdown(visible=True) if form else gr.Dropdown(choices=[], value=None, visible=False)
    nothing = [*[gr.Dropdown(choices=[], value=None)] * (most_fields() + 1), said]
    hidden = [gr.Button(visible=False), gr.Column(visible=False), ""]
    if not path:
        return [NOTHING, NOTHING, NOTHING, *hidden, *nothing]
    try:
        table = open_upload(visitor, path, read_form(form or ""))
        reading = reading_of(table, table.path, task)
        if len(table.names) < len(task.fields) and not reading.others:
            reading.settled  # noqa: B018  # no list could answer
    except FileQuestion as question:
        doubt = alert(ASKED.format(question=question.sentence))
        return [NOTHING, NOTHING, doubt, *hidden, *nothing[:-1], _ways(question, form or "")]
    except UserError as trouble:
        return [NOTHING, NOTHING, alert(trouble), *hidden, *nothing]
    other = _other(reading)
    switch = gr.Button(f"Switch to {other.choice}" if other else "", visible=bool(other))
    if other and len(reading.columns.texts) < len(task.fields):
        doubt = alert(
            ANOTHER_TASK.format(question=reading.questions[0].sentence, task=other.choice)
        )
        return [NOTHING, NOTHING, doubt, switch, *hidden[1:], *nothing]
    broken = f", {table.broken:,} of them do not fit the header" if table.broken else ""
    counted = note(f"{len(table):,} row{'' if len(table) == 1 else 's'}{broken}")
    whole = len(reading.columns.texts) == len(task.fields)
    warned = notes_before(table, reading.columns, task) if whole else []
    return [
        sheet(first_rows(table), "first rows of the file"),
        _labels(reading, task),
        _questions(reading) + counted + join(map(note, warned)),
        switch,
        gr.Column(visible=True),
        "",
        *_lists(table.names, reading.columns, task),
        said,
    ]


def _ways(question: FileQuestion, said: str) -> gr.Dropdown:
    """Offer the answers to a question of form, each beside what was said before."""
    choices = [
        (FLAGS.get(option, option.partition(" ")[2] or option), f"{said} {option}".strip())
        for option in question.options
    ]
    return gr.Dropdown(choices=choices, value=None, visible=True)


def _other(reading: Reading) -> Task | None:
    """Return the one task that a file fits better, None where there are several or none."""
    return reading.others[0] if len(reading.others) == 1 else None


def _questions(reading: Reading) -> Markup:
    questions = [alert(ASKED.format(question=each.sentence)) for each in reading.questions]
    if reading.values.of("unknown"):  # the last question, which the lists of labels answer
        questions[-1] = Markup('<div class="of-labels">{}</div>').format(questions[-1])
    return join([*questions, *map(note, filter(None, (reading.form, *reading.notes)))])


def _lists(names: Sequence[str], columns: Columns, task: Task) -> list[gr.Dropdown]:
    """Return the lists of columns, named as the task names its texts; those too many are hidden."""
    texts = [
        gr.Dropdown(
            choices=names,
            value=columns.texts.get(field),
            label=f"{task.title_of(field)} column",
            visible=True,
        )
        for field in task.fields
    ]
    hidden = [gr.Dropdown(visible=False)] * (most_fields() - len(texts))
    gold = gr.Dropdown(
        choices=[NO_GOLD, *names], value=columns.gold or NO_GOLD, label=_gold_title(task)
    )
    return [*texts, *hidden, gold]


def _gold_title(task: Task) -> str:
    return "Right answer column" if task.has_spans else "Gold label column"


def _labels(reading: Reading, task: Task) -> Markup:
    if reading.columns.gold is None:
        return note("Without gold labels there is no accuracy; everything else is measured.")
    return labels_read(reading.values, task)


def show_labels(
    visitor: str, task_name: str, path: str | None, *columns: str | None
) -> tuple[Markup, str]:
    """Show what the labels of another column mean; what was said of the former one is forgotten."""
    task = task_named(task_name)
    try:
        options = options_of(columns, task)
        table = open_upload(visitor, path, options)
        return _labels(reading_of(table, table.path, task, options), task), ""
    except UserError as trouble:
        return alert(trouble), ""


def _fitting(visitor: str, task_name: str, path: str | None) -> Any:  # Any: gradio's mark to skip
    """Return the task that the file is for."""
    try:
        table = open_upload(visitor, path)
        other = _other(reading_of(table, table.path, task_named(task_name)))
    except UserError:
        return gr.skip()
    return other.name if other else gr.skip()


def options_of(chosen: Sequence[str | None], task: Task, meanings: str = "") -> FileOptions:
    """Return what the lists of columns and of labels say of a file. Raises LabelError.

    The last two chosen are the column of the gold label, and what is said of the file's form.
    """
    *texts, gold, form = chosen
    return replace(
        read_form(form or ""),
        columns={field: name for field, name in zip(task.fields, texts, strict=False) if name},
        gold=NO_COLUMN if gold == NO_GOLD else gold or "",
        values=read_meanings(meanings),
    )


def columns_of(table: Source, path: Path, task: Task, options: FileOptions) -> Columns:
    """Return how a file is read by what is said. Raises FileError where it is still asked."""
    try:
        return reading_of(table, path, task, options).settled
    except FileQuestion as question:
        raise FileError(f"{question.sentence}; say it below the file") from question
