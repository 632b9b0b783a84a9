"""What the values of a column of gold labels mean: shown before scoring, and changed by a person.

Words are read as people spell labels, whole numbers by the names that the data set gives to them,
else by the convention of the task's data sets; any other value is asked about and never guessed.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from probe.data.records import Tabular, cell
from probe.data.rows import Columns, cell_text
from probe.errors import DisputedLabel, ExampleError, FileError, LabelError
from probe.tasks.spelling import NO_GOLD, label_word
from probe.tasks.task import Label, Task

MAX_VALUES = 20
"""Values that are shown; a column with more is hardly one of labels."""
Reading = Literal["name", "number", "class", "chosen", "no gold", "disputed", "unknown"]
"""Why a value is read as it is; a class is one that the data set itself names."""


@dataclass(frozen=True)
class LabelValue:
    """A value of a column, how many rows have it, the label that it is read as, and why.

    The label is None where there is no gold label, or where it is not known.
    """

    value: str
    rows: int
    label: Label | None
    reading: Reading


@dataclass(frozen=True)
class LabelValues:
    """The values of a column, the most frequent first; `others` counts those beyond MAX_VALUES."""

    values: tuple[LabelValue, ...] = ()
    others: int = 0

    def of(self, *readings: Reading) -> tuple[LabelValue, ...]:
        """Return the values that are read in one of these ways."""
        return tuple(value for value in self.values if value.reading in readings)


def label_values(table: Tabular, columns: Columns, task: Task) -> LabelValues:
    """Return what the values of the gold column are read as, nothing where no column is named.

    What `columns.values` says of a value comes first. A task that is answered with a span has no
    labels to read.
    """
    if columns.gold is None or not task.labels:
        return LabelValues()
    counts = _counted(table, columns.gold)
    shown = counts.most_common(MAX_VALUES)
    values = tuple(_read(task, value, rows, columns) for value, rows in shown)
    return LabelValues(values, len(counts) - len(shown))


def _counted(table: Tabular, column: str) -> Counter[str]:
    """Count the values by their first spelling; a cell that is no text is its row's problem."""
    spellings: dict[str, str] = {}
    counts = Counter[str]()
    for record in table.records():
        try:
            text = cell_text("gold label", cell(record.cells, column)).strip()
        except ExampleError:
            continue
        counts[spellings.setdefault(label_word(text), text)] += 1
    return counts


def _read(task: Task, value: str, rows: int, columns: Columns) -> LabelValue:
    word = label_word(value)
    if word in columns.values:
        return LabelValue(value, rows, columns.values[word], "chosen")
    if word in NO_GOLD:
        return LabelValue(value, rows, None, "no gold")
    try:
        label = task.read_gold(columns.classes.get(word, value))
    except DisputedLabel:
        return LabelValue(value, rows, None, "disputed")
    except LabelError:
        return LabelValue(value, rows, None, "unknown")
    if word in columns.classes:
        return LabelValue(value, rows, label, "class")
    return LabelValue(value, rows, label, "number" if word.isdigit() else "name")


def read_label_values(
    task: Task, names: Mapping[str, str], table: Tabular, columns: Columns
) -> dict[str, Label | None]:
    """Return what a person says of values: names of labels by value, an empty one for no gold.

    Raises LabelError for a name that is no label, FileError for a value that no row has.
    """
    if not names:
        return {}
    if columns.gold is None:
        raise FileError("labels are given to values, but the file has no column of gold labels")
    there = {label_word(value) for value in _counted(table, columns.gold)}
    absent = [value for value in names if label_word(value) not in there]
    if absent:
        raise FileError(f"no row has {absent[0]!r} in its column {columns.gold!r}")
    return {label_word(value): task.read_gold(name) for value, name in names.items()}


def in_words(values: LabelValues) -> str:
    """Say what numbers and chosen values are read as and which values are not known, "" for none.

    Words that name a label need no saying.
    """
    told = [
        f"{value.value} as {value.label or 'no gold label'} ({value.rows:,})"
        for value in values.of("number", "class", "chosen")
    ]
    unknown = [f"{value.value!r} ({value.rows:,})" for value in values.of("unknown")]
    several = f" and {values.others:,} values more" if values.others else ""
    sentences = [f"gold labels are read: {', '.join(told)}"] if told else []
    if unknown:
        sentences.append(f"not read as a label, so not scored: {', '.join(unknown)}{several}")
    return "; ".join(sentences)
