"""A person's file for the chosen task: its first rows, its columns, and what its labels mean."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.transformed import notes_before
from probe.data.file_options import AS_THE_FILE_TELLS, FLAGS, FileOptions, read_form
from probe.data.names import listed
from probe.data.reading import LabelValue, LabelValues, Reading, reading_of
from probe.data.rows import NO_COLUMN, Columns, Source, cell
from probe.data.source import first_rows, read_table
from probe.errors import FileError, FileQuestion, LabelError, UserError
from probe.models.prediction_file import AnswerFile
from probe.settings import ASSETS
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI, NON_ENTAILMENT, NUMBERED
from probe.tasks.task import Label, Task, label_word, offered_tasks, task_named
from probe.ui.events import CHANGING, LAST, QUIET
from probe.ui.html.elements import NOTHING, alert, join, note, sheet, twin
from probe.ui.html.prediction import label_name
from probe.ui.measure.answer_files import bare_numbers, numbered_answers, told_of
from probe.ui.page import Page
from probe.ui.visitors.visitor_files import open_upload

NO_GOLD = "(no right answers)"
EXAMPLES = ASSETS / "examples"
FORMS = (
    "CSV, TSV, JSON lines, Parquet, Arrow or Excel, packed as .gz or .zst or not; also the "
    "releases of MNLI, SNLI and SQuAD."
)
ASKED = "{question}. Say it below."
ANOTHER_TASK = "{question}. Choose {task} at the top, or another file."


UNDECIDED = "?"
"""Said of a value that is not known as long as nothing was chosen."""
LABELS = "This file has the labels {values}. What does each mean?"
ANSWERS = "The answers in {names} are {values}. What does each mean?"
UNSAID = (
    "The file does not say, and data sets differ: in some 0 is entailment, in others 1. Nothing is "
    "scored on a guess."
)
OPEN = "Say what each means first; then press Score."
MANY = (
    "This column has {count:,} different values, so it is hardly one of labels; choose another "
    "column, or none."
)
WHY = {"form": "as in {form}", "class": "by the file’s own names"}
NONE = "no right answer"
READINGS: Mapping[str, Sequence[Mapping[str, Label]]] = {
    NLI.name: (
        {"1": ENTAILMENT, "0": NON_ENTAILMENT},
        {"0": ENTAILMENT, "1": NON_ENTAILMENT},
        NUMBERED,
        {"0": ENTAILMENT, "1": CONTRADICTION, "2": NEUTRAL},
        {"0": CONTRADICTION, "1": NEUTRAL, "2": ENTAILMENT},
        {"0": CONTRADICTION, "1": ENTAILMENT, "2": NEUTRAL},
    )
}
"""What data sets mean by whole numbers; of a task of two labels either may be 1."""
SHOWN_OF_EACH, LOOKED_AT = 2, 1000
"""Examples beside a value that is asked about, and rows in which they are looked for."""
ANSWERED = """element.addEventListener("change", () => trigger("select"));
element.addEventListener("click", ({ target }) => {
  const reading = target.closest("[data-reading]")?.dataset.reading;
  if (!reading) return;
  const meant = JSON.parse(reading);
  for (const asked of element.querySelectorAll("fieldset[data-word]")) {
    const label = meant[asked.dataset.word] ?? meant["*"];
    for (const choice of asked.querySelectorAll("input")) choice.checked ||= choice.value === label;
  }
  trigger("select");
});"""
"""Lets the meanings of labels report that one was chosen, or a usual reading of all of them."""


def _said_in(elem_id: str) -> str:
    """Return what reads in the browser what is said of a file's labels.

    All are read at once, so that no answer comes too late.
    """
    return f"""() => JSON.stringify(Object.fromEntries(
      [...document.querySelectorAll("#{elem_id}-labels fieldset[data-value]")].map(
        asked => [asked.dataset.value, asked.querySelector(":checked")?.value ?? "?"])))"""


@cache
def example_files(task: Task) -> tuple[Path, ...]:
    """Return the files to try for a task: those that no task before it in the list fits."""

    def task_of(path: Path) -> Task | None:
        table = read_table(path)
        fits = (each for each in offered_tasks() if not reading_of(table, path, each).questions)
        return next(fits, None)

    return tuple(path for path in sorted(EXAMPLES.glob("*")) if task_of(path) is task)


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
    read: gr.events.Dependency | None = None
    """The event that ends when a file that was dropped has been read."""

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


def build_file(page: Page, elem_id: str, models: gr.Dropdown) -> LabelledFile:
    """Lay out the place of the file with examples of each task, and what is shown of a file.

    Files of answers stand among the `models`.
    """
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
            columns.append(gr.Dropdown([], label="Right answer", min_width=130, **CHANGING))
        columns.append(form)
        labels = gr.HTML(elem_id=f"{elem_id}-labels", js_on_load=ANSWERED)
    meanings = gr.Textbox("", label="meanings of labels", visible=False)
    file = LabelledFile(
        upload, examples, columns, meanings, preview, labels, doubt, switch, details
    )
    _react(page, file, models, _said_in(elem_id))
    return file


def _examples(task: Task, upload: gr.File, page: Page) -> gr.Column:
    column: gr.Column
    with gr.Column(visible=task.name == page.task.value, elem_classes="examples") as column:
        files = [[str(path)] for path in example_files(task)]
        gr.HTML(note(FORMS))
        gr.Examples(files, upload, label="Or try one of these", api_visibility="private")
    return column


def _react(page: Page, file: LabelledFile, models: gr.Dropdown, said: str) -> None:
    """Read the file anew when it, its columns or the task change; `said` reads its lists."""
    whole = [page.owner, page.task, file.upload, models]
    file.read = file.upload.change(show_file, whole, file.shown, **QUIET)
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
        [file.labels, file.doubt, file.meanings],
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


def show_file(
    visitor: str, task_name: str, path: str | None, models: Sequence[str] | None = None,
    form: str | None = None,
) -> list[Any]:  # fmt: skip
    """Return what is shown of a file, in the order of `LabelledFile.shown`.

    `form` is what was said of a form that the file does not tell. What the numbers of those files
    of answers among the `models` mean that have no texts is asked here too.
    """
    task = task_named(task_name)
    said = gr.Dropdown(visible=True) if form else gr.Dropdown(choices=[], value=None, visible=False)
    nothing = [*[gr.Dropdown(choices=[], value=None)] * (most_fields() + 1), said]
    hidden = [gr.Button(visible=False), gr.Column(visible=False), ""]
    if not path:
        return [NOTHING, NOTHING, NOTHING, *hidden, *nothing]
    try:
        table = open_upload(visitor, path, read_form(form or ""))
        answers, bare = told_of(table, task)
        if bare:
            return [NOTHING, NOTHING, note(answers), *hidden, *nothing]
        reading = reading_of(table, table.path, task, _asked_of(table, task))
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
    return [
        sheet(first_rows(table), "first rows of the file"),
        _labels(table, reading, task) + _bare(visitor, models, reading, task),
        (note(answers) if answers else NOTHING) + _doubts(table, reading, task),
        switch,
        gr.Column(visible=True),
        "",
        *_lists(table.names, reading.columns, task),
        said,
    ]


def _asked_of(table: Source, task: Task, options: FileOptions = AS_THE_FILE_TELLS) -> FileOptions:
    """Return how a file is read, as samples of answers tell it too."""
    return AnswerFile("", table.path, table).asked(task, options)


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


def _doubts(table: Source, reading: Reading, task: Task) -> Markup:
    """Say what is still asked of a file, how many rows it has, and what to expect of them."""
    told_below = reading.values.of("unknown") and not reading.others
    open_ones = reading.questions[:-1] if told_below else reading.questions
    questions = [alert(ASKED.format(question=each.sentence)) for each in open_ones]
    broken = f", {table.broken:,} of them do not fit the header" if table.broken else ""
    counted = f"{len(table):,} row{'' if len(table) == 1 else 's'}{broken}"
    whole = len(reading.columns.texts) == len(task.fields)
    warned = notes_before(table, reading.columns, task) if whole else []
    said = filter(None, (reading.form, *reading.notes, counted, *warned))
    return join([*questions, *map(note, said)])


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
        choices=[NO_GOLD, *names], value=columns.gold or NO_GOLD, label="Right answer column"
    )
    return [*texts, *hidden, gold]


def _labels(table: Source, reading: Reading, task: Task) -> Markup:
    """Show what each value of the column of labels means, and ask where the file does not say."""
    values, gold = reading.values, reading.columns.gold
    if gold is None and task.labels and (asked := numbered_answers(table)):
        return _asks(table, reading, task, asked, AnswerFile("", table.path, table).column)
    if gold is None:
        return note("Without right answers there is no accuracy; everything else is measured.")
    if not values.values:
        return NOTHING
    unknown = values.of("unknown")
    if values.others and unknown:
        count = len(values.values) + values.others
        return Markup('<p class="asked" role="alert">{}</p>').format(MANY.format(count=count))
    if not unknown:
        rows = join(_value(value, task, ()) for value in values.values)
        return _read_as(values) + twin("Change what they mean", rows)
    others = [value for value in values.values if value.reading != "unknown"]
    return _asks(table, reading, task, unknown, gold, others)


def _bare(visitor: str, models: Sequence[str] | None, reading: Reading, task: Task) -> Markup:
    """Ask what the numbers of files of answers mean, whose texts are those of the shown file.

    Where its own labels are such numbers, what they mean holds for the answers too.
    """
    known = {value.word for value in reading.values.values}
    found = bare_numbers(visitor, models or (), task) if task.labels else {}
    rows = {value.word: value for values in found.values() for value in values}
    if not rows or known & rows.keys():
        return NOTHING
    asked = [rows[word] for word in sorted(rows)]
    heading = ANSWERS.format(names=listed([*found]), values=_joined(asked))
    fields = join(_value(value, task, (), of_answers=True) for value in asked)
    return _asking(heading, _usual(asked, task, of_answers=True) + fields)


def _joined(values: Sequence[LabelValue]) -> str:
    return " and ".join(each.value or "(empty)" for each in values)


def _asking(heading: str, fields: Markup) -> Markup:
    return Markup(
        '<section class="asks" aria-label="what the labels mean"><h3>{}</h3>'
        '<p class="soft">{}</p>{}<p class="open" role="status">{}</p></section>'
    ).format(heading, UNSAID, fields, OPEN)


def _asks(
    table: Source, reading: Reading, task: Task, unknown: Sequence[LabelValue], column: str,
    others: Sequence[LabelValue] = (),
) -> Markup:  # fmt: skip
    """Ask what values of a column mean; what the others do can be said otherwise too."""
    examples = _examples_by_value(table, reading, task, column)
    asked = sorted(unknown, key=lambda each: each.word)
    rows = join(_value(value, task, examples.get(value.word, ())) for value in (*asked, *others))
    return _asking(LABELS.format(values=_joined(asked)), _usual(asked, task) + rows)


def _read_as(values: LabelValues) -> Markup:
    """Say what the values of a file mean."""
    said = join(
        (
            Markup("<b>{}</b> {} {}").format(
                value.value or "(empty)",
                "read as" if at == 0 else "as",
                label_name(value.label) if value.label else NONE,
            )
            for at, value in enumerate(values.values)
        ),
        Markup(", "),
    )
    whys = {WHY[each.reading].format(form=values.form) for each in values.of("form", "class")}
    return Markup('<p class="fine">{}{}</p>').format(said, "".join(f", {why}" for why in whys))


def _examples_by_value(
    table: Source, reading: Reading, task: Task, gold: str
) -> dict[str, list[str]]:
    """Return the texts of a few rows by the value that they have."""
    found: dict[str, list[str]] = {}
    for record in islice(table.records(), LOOKED_AT):
        texts = reading.columns.cells_of(record)
        word = label_word(str(cell(record.cells, gold)).strip())
        shown = found.setdefault(word, [])
        if len(shown) < SHOWN_OF_EACH:
            shown.append(" / ".join(str(texts.get(name, ""))[:200] for name in task.fields))
    return found


def _usual(asked: Sequence[LabelValue], task: Task, of_answers: bool = False) -> Markup:
    """Offer what data sets mean by such values, and of labels to score without right answers."""
    words = {value.word for value in asked}
    orders = (task.golds, task.golds[::-1]) if len(task.golds) == 2 else ()
    two = [dict(zip(("1", "0"), golds, strict=True)) for golds in orders]
    fitting = [each for each in (*READINGS.get(task.name, ()), *two) if words == each.keys()]
    offered = {
        ", ".join(f"{value} {label}" for value, label in each.items()): each for each in fitting
    }
    without = [] if of_answers else [("score without right answers", {"*": ""})]
    buttons = join(
        Markup('<button type="button" class="btn" data-reading="{}">{}</button>').format(
            json.dumps(reading), title
        )
        for title, reading in [*offered.items(), *without]
    )
    return Markup(
        '<div class="strip"><span class="soft tiny">Usual readings</span>{}</div>'
    ).format(buttons)


def _value(
    value: LabelValue, task: Task, examples: Sequence[str], of_answers: bool = False
) -> Markup:
    """Show a value, its rows, and the radio buttons that say what it means."""
    open_one = value.reading == "unknown"
    now = UNDECIDED if open_one or value.reading == "disputed" else value.label or ""
    choices = {gold: gold for gold in task.golds} | ({} if of_answers else {"": NONE})
    if value.reading == "disputed":
        choices[UNDECIDED] = "the annotators disagreed: not scored"
    radios = join(
        Markup('<label><input type="radio" name="means-{}" value="{}"{}> {}</label>').format(
            value.word, label, Markup(" checked") if label == now else NOTHING, words
        )
        for label, words in choices.items()
    )
    lines = join(Markup('<p class="fine">{}</p>').format(each) for each in examples)
    if open_one:  # as long as it is checked, nothing is scored
        radios += Markup('<input type="radio" hidden checked name="means-{}" value="{}">').format(
            value.word, UNDECIDED
        )
    asked = Markup(" data-asked") if open_one else NOTHING
    return Markup(
        '<fieldset class="means" data-value="{}" data-word="{}"{}><legend><b>{}</b> '
        '<span class="soft tiny num">{:,} row{}</span></legend><div>{}</div>{}</fieldset>'
    ).format(
        value.value, value.word, asked, value.value or "(empty)", value.rows,
        "" if value.rows == 1 else "s", radios, lines,
    )  # fmt: skip


def show_labels(
    visitor: str, task_name: str, path: str | None, models: Sequence[str] | None,
    *columns: str | None,
) -> tuple[Markup, Markup, str]:  # fmt: skip
    """Show what the labels of other columns mean, and what is still asked of the file.

    What was said of the former labels is forgotten.
    """
    task = task_named(task_name)
    try:
        options = options_of(columns, task)
        table = open_upload(visitor, path, options)
        reading = reading_of(table, table.path, task, options)
        labels = _labels(table, reading, task) + _bare(visitor, models, reading, task)
        return labels, _doubts(table, reading, task), ""
    except UserError as trouble:
        return NOTHING, alert(trouble), ""


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
        return reading_of(table, path, task, _asked_of(table, task, options)).settled
    except FileQuestion as question:
        raise FileError(f"{question.sentence}; say it below the file") from question
