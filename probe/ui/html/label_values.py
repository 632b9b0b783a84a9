"""The labels of a file as a person sees them before it is scored: what each value means."""

from collections.abc import Sequence

from markupsafe import Markup

from probe.data.reading import LabelValue, LabelValues
from probe.tasks.task import Label, Task
from probe.ui.html.elements import NOTHING, join, note

HEAD = "What the labels mean"
UNDECIDED = "?"
"""Chosen where a value is not known and nothing was said of it."""
FORM = "What the labels mean: they are read as in {form}, {read}. Change what differs."
CLASSES = "What the labels mean: numbers are read as the data set names them, {numbers}."
ASKED = "Choose a meaning for {values}: not known, and nothing is guessed."
MANY = (
    "This column has {count:,} different values, so it is hardly one of labels; choose another "
    "column, or none."
)
WHY = {"no gold": "empty", "disputed": "the annotators disagreed: not scored"}


def labels_read(values: LabelValues, task: Task) -> Markup:
    """Show each value of a column of labels, its rows, and a list to choose what it means."""
    if not values.values:
        return NOTHING
    unknown = values.of("unknown")
    if values.others and unknown:
        return _asked(MANY.format(count=len(values.values) + values.others))
    classes = values.of("class")
    words = NOTHING if unknown or values.form or classes else note(HEAD)
    if unknown:
        words += _asked(ASKED.format(values=" and ".join(f"“{each.value}”" for each in unknown)))
    if values.form:
        words += note(FORM.format(form=values.form, read=_read_as(values.of("form", "name"))))
    if classes:
        words += note(CLASSES.format(numbers=_read_as(classes)))
    body = join(_value(value, task.golds) for value in values.values)
    return words + Markup('<div class="meanings">{}</div>').format(body)


def _read_as(values: Sequence[LabelValue]) -> str:
    return ", ".join(f"{each.value} is {each.label or 'no gold label'}" for each in values)


def _asked(words: str) -> Markup:
    return Markup('<p class="asked" role="alert">{}</p>').format(words)


def _value(value: LabelValue, golds: Sequence[Label]) -> Markup:
    shown = value.value or "(empty)"
    rows = f"{value.rows:,} row{'' if value.rows == 1 else 's'}"
    return Markup(
        '<label><span><code>{}</code> <span class="soft num">{}</span></span>{}</label>'
    ).format(shown, rows, _list(value, golds))


def _list(value: LabelValue, golds: Sequence[Label]) -> Markup:
    choices = [(gold, gold) for gold in golds] + [("", "no gold label")]
    now = value.label or ""
    if value.reading in ("unknown", "disputed"):
        now = UNDECIDED
        choices = [(UNDECIDED, WHY.get(value.reading, "choose its meaning")), *choices]
    options = join(
        Markup("<option value='{}'{}>{}</option>").format(
            name, Markup(" selected") if name == now else NOTHING, words
        )
        for name, words in choices
    )
    asked = Markup(" data-asked") if value.reading == "unknown" else NOTHING
    return Markup('<select data-value="{}"{}>{}</select>').format(value.value, asked, options)
