"""A person's file for the chosen task: its first rows, its columns, and what its labels mean."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.legibility import notes_before
from probe.data.fitting_task import fitting_task
from probe.data.label_values import label_values, read_label_values
from probe.data.preview import first_rows
from probe.data.records import Tabular
from probe.data.rows import Columns, guess, guess_some, with_class_names
from probe.errors import FileError, LabelError, UserError
from probe.tasks.task import Task, offered_tasks, task_named
from probe.ui.events import CHANGING, CHOSEN, LAST, QUIET
from probe.ui.html.elements import NOTHING, alert, join, note, sheet
from probe.ui.html.label_values import UNDECIDED, labels_read
from probe.ui.page import Page
from probe.ui.panels.example_files import example_files
from probe.ui.visitors.visitor_files import open_upload

NO_GOLD = "(no gold label)"
FORMS = (
    "CSV, TSV, JSON lines, Parquet or Excel, packed as .gz or .zst or not; also the releases of "
    "MNLI, SNLI and SQuAD."
)
ANOTHER_TASK = (
    "This looks like a file for {task}: {why}. Choose {task} at the top, or another file."
)
UNKNOWN = (
    "What does {value} mean? {rows:,} rows have it as their label, and it is not known: say which "
    "label it is, or “no gold label”."
)


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
    label; `meanings` holds as JSON what was said of values of labels.
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


def build_file(page: Page, elem_id: str) -> LabelledFile:
    """Lay out the place of the file with examples of each task, and what is shown of a file."""
    with gr.Column(elem_classes="card upload"):
        upload = gr.File(
            label="File", show_label=False, type="filepath", height=132, elem_id=elem_id
        )
        examples = {task.name: _examples(task, upload, page) for task in offered_tasks()}
        doubt = gr.HTML(elem_id=f"{elem_id}-doubt")
        switch = gr.Button(visible=False, elem_id=f"{elem_id}-switch")
    with (
        gr.Column(visible=False, elem_id=f"{elem_id}-details") as details,
        gr.Column(elem_classes="card"),
    ):
        preview = gr.HTML(elem_id=f"{elem_id}-preview")
        with gr.Row(elem_classes="reading"):
            columns = [
                gr.Dropdown([], label=f"column {number + 1}", min_width=130, **CHANGING)
                for number in range(most_fields())
            ]
            columns.append(gr.Dropdown([], label="Gold label", min_width=130, **CHANGING))
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
    page.on_next_task(show_file, whole, file.shown, **QUIET)
    examples = list(file.examples.values())
    offered = [page.task, file.upload]
    page.mark_of(file.upload.change).change(_examples_of, offered, examples, **QUIET)
    page.on_task(_examples_of, offered, examples)
    chosen = [*whole, *file.columns]
    gr.on(
        [column.input for column in file.columns],
        show_labels,
        chosen,
        [file.labels, file.meanings],
        **LAST,
        **QUIET,
    )
    file.labels.select(None, None, file.meanings, js=said, **QUIET)
    file.switch.click(_fitting, [page.owner, page.task, file.upload], page.task, **QUIET)


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


def show_file(visitor: str, task_name: str, path: str | None) -> list[Any]:
    """Return what is shown of a file, in the order of `LabelledFile.shown`."""
    task = task_named(task_name)
    nothing = [gr.Dropdown(choices=[], value=None)] * (most_fields() + 1)
    hidden = [gr.Button(visible=False), gr.Column(visible=False), ""]
    if not path:
        return [NOTHING, NOTHING, NOTHING, *hidden, *nothing]
    try:
        table = open_upload(visitor, path)
        names = table.names
        other = fitting_task(table, task, offered_tasks())
        if other:
            doubt = alert(ANOTHER_TASK.format(task=other.choice, why=_why(table, task)))
            switch = gr.Button(f"Switch to {other.choice}", visible=True)
            return [NOTHING, NOTHING, doubt, switch, *hidden[1:], *nothing]
        columns, doubt = _guessed(names, task)
        columns = with_class_names(columns, Path(path))
    except UserError as trouble:
        return [NOTHING, NOTHING, alert(trouble), *hidden, *nothing]
    warned = NOTHING if doubt else join(map(note, notes_before(table, columns, task)))
    broken = f", {table.broken:,} of them do not fit the header" if table.broken else ""
    return [
        sheet(first_rows(table), "first rows of the file"),
        _labels(table, columns, task),
        doubt + note(f"{len(table):,} row{'' if len(table) == 1 else 's'}{broken}") + warned,
        gr.Button(visible=False),
        gr.Column(visible=True),
        "",
        *_lists(names, columns, task),
    ]


def _why(table: Tabular, task: Task) -> str:
    """Say why a file does not fit a task: columns that are not there, or labels it has not."""
    names = table.names
    try:
        columns = guess(names, task)
    except FileError:
        return f"it has no {' and '.join(task.title_of(field).lower() for field in task.fields)}"
    unknown = label_values(table, columns, task).of("unknown")
    return "its labels are " + ", ".join(value.value for value in unknown[:3])


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


def _guessed(names: Sequence[str], task: Task) -> tuple[Columns, Markup]:
    """Guess the columns; where the names do not tell, ask."""
    try:
        return guess(names, task), NOTHING
    except FileError as trouble:
        if len(names) < len(task.fields):
            raise
        return guess_some(names, task), alert(f"{trouble}. Say below which column is which.")


def _labels(table: Tabular, columns: Columns, task: Task) -> Markup:
    if columns.gold is None:
        return note("Without gold labels there is no accuracy; everything else is measured.")
    return labels_read(label_values(table, columns, task), task)


def show_labels(
    visitor: str, task_name: str, path: str | None, *columns: str | None
) -> tuple[Markup, str]:
    """Show what the labels of another column mean; what was said of the former one is forgotten."""
    task = task_named(task_name)
    try:
        table = open_upload(visitor, path)
        chosen = columns_of(table.names, columns, task)
        return _labels(table, with_class_names(chosen, table.path), task), ""
    except UserError as trouble:
        return alert(trouble), ""


def _fitting(visitor: str, task_name: str, path: str | None) -> Any:  # Any: gradio's mark to skip
    """Return the task that the file is for."""
    try:
        other = fitting_task(open_upload(visitor, path), task_named(task_name), offered_tasks())
    except UserError:
        return gr.skip()
    return other.name if other else gr.skip()


def columns_of(names: Sequence[str], chosen: Sequence[str | None], task: Task) -> Columns:
    """Return the chosen columns, guessed where none is chosen. Raises FileError.

    The last one chosen is that of the gold label.
    """
    *texts, gold = chosen
    by_field = {field: name for field, name in zip(task.fields, texts, strict=False) if name}
    if len(by_field) < len(task.fields):
        columns = guess(names, task, by_field)
    else:
        columns = Columns(by_field, None if gold in (None, "", NO_GOLD) else gold)
    columns.check(names)
    return columns


def with_meanings(table: Tabular, columns: Columns, task: Task, said: Mapping[str, str]) -> Columns:
    """Return columns that read labels as a person says. Raises LabelError where one is unknown."""
    meant = replace(columns, values=read_label_values(task, said, table, columns))
    unknown = label_values(table, meant, task).of("unknown")
    if unknown:
        first = unknown[0]
        raise LabelError(UNKNOWN.format(value=f"“{first.value}”", rows=first.rows))
    return meant
