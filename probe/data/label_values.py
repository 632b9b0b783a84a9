"""What the values of a column of gold labels mean: shown before scoring, and changed by a person.

Words are read as people spell labels, whole numbers by the names that the data set gives to them or
as a known data set writes them; any other value is asked about and never guessed, least of all by
how well a model does on it.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from probe.data.names import cut_short
from probe.data.names import shown as quoted
from probe.data.rows import cell_text
from probe.errors import DisputedLabel, ExampleError, FileError, LabelError
from probe.tasks.task import DISPUTED, NO_GOLD, Label, Task, label_word

MAX_VALUES = 20
"""Values that are shown; a column with more is hardly one of labels."""
MOST_COUNTED = 1000
"""Values that are counted; of more only how many rows have another one."""
Source = Literal["name", "form", "class", "chosen", "no gold", "disputed", "unknown"]
"""Why a value is read as it is: a form is a known data set's, a class one that the file names."""
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
UNMARKED, NO_LABEL_WORDS = "-1", ("", "none")


@dataclass(frozen=True)
class LabelValue:
    """A value of a column, how many rows have it, the label that it is read as, and why.

    The label is None where there is no gold label, or where it is not known.
    """

    value: str
    rows: int
    label: Label | None
    reading: Source

    @property
    def word(self) -> str:
        """The value as tables of spellings hold it."""
        return label_word(self.value)


@dataclass(frozen=True)
class LabelValues:
    """The values of a column, the most frequent first; `others` counts those beyond MAX_VALUES.

    `form` names the data set whose way of writing labels they are read by.
    """

    values: tuple[LabelValue, ...] = ()
    others: int = 0
    form: str = ""

    def of(self, *readings: Source) -> tuple[LabelValue, ...]:
        """Return the values that are read in one of these ways."""
        return tuple(value for value in self.values if value.reading in readings)

    @property
    def numbers(self) -> bool:
        """Whether every value that could be a label is a number."""
        words = [value.word for value in self.values if value.word not in NO_GOLD]
        return bool(words) and all(map(NUMBER.fullmatch, words))

    @property
    def labelled(self) -> int:
        """How many rows have a value that is read as a label."""
        return sum(value.rows for value in self.values if value.label)


class ValueCounts:
    """Counts the values of a column by their first spelling."""

    def __init__(self) -> None:
        """Begin without a row."""
        self.counts = Counter[str]()
        self.others = 0
        self._spellings: dict[str, str] = {}

    def add(self, cell: object) -> None:
        """Count a cell; one that is no text is its row's problem."""
        try:
            text = cell_text("gold label", cell).strip()
        except ExampleError:
            return
        word = label_word(text)
        if word not in self._spellings and len(self._spellings) >= MOST_COUNTED:
            self.others += 1
            return
        self.counts[self._spellings.setdefault(word, text)] += 1


def read_values(
    task: Task,
    counted: ValueCounts,
    columns: Iterable[str],
    classes: Mapping[str, str],
    said: Mapping[str, Label | None],
) -> LabelValues:
    """Return what the values of a gold column are read as.

    `columns` are those of the file, `classes` the names that the file gives to its values, and
    `said` what a person says of them by `label_word`. What a person says comes first; where it is
    not what the value would mean otherwise, no other value means the same without being asked for.
    """
    words = {label_word(value) for value in counted.counts}
    names = {name.strip().lower() for name in columns}
    form = next(
        (form for form in task.forms if form.reads(words - (NO_GOLD - form.values.keys()), names)),
        None,
    )
    if form and any(form.values.get(word, label) != label for word, label in said.items()):
        form = None

    def read(word: str) -> tuple[Label | None, Source]:
        if word in classes:
            return _named(task, classes[word], "class")
        if form and word in form.values:
            label = form.values[word]
            return label, "name" if label and task.spellings.get(word) == label else "form"
        if word == UNMARKED:  # as the hub marks what has no label, beside classes it names
            return None, "disputed" if classes else _unmarked(task, words)
        return _named(task, word, "name")

    default = {word: read(word) for word in words}
    moved = {
        label
        for word, label in said.items()
        if word in default and default[word][0] not in (None, label)
    }

    def value_of(value: str, rows: int) -> LabelValue:
        word = label_word(value)
        if word in said:
            return LabelValue(value, rows, said[word], "chosen")
        label, why = default[word]
        if label in moved:
            label, why = None, "unknown"
        return LabelValue(value, rows, label, why)

    every = [value_of(value, rows) for value, rows in counted.counts.most_common()]
    used = form.source if form and any(each.reading == "form" for each in every) else ""
    more = max(0, len(every) - MAX_VALUES) + counted.others
    return LabelValues(tuple(every[:MAX_VALUES]), more, used)


def _named(task: Task, name: str, why: Source) -> tuple[Label | None, Source]:
    try:
        label = task.read_gold(name)
    except DisputedLabel:
        return None, "disputed"
    except LabelError:
        return None, "unknown"
    return label, why if label else "no gold"


def _unmarked(task: Task, words: Collection[str]) -> Source:
    """Return why -1 is no label: a test set without any, or a mark beside all of a task's numbers.

    Beside fewer of them it may well be a label, as in -1, 0, 1.
    """
    others = {word for word in words if word not in NO_GOLD} - DISPUTED
    if not others:
        return "no gold"
    numbers = {word for word in others if NUMBER.fullmatch(word)}
    return "disputed" if not numbers or len(numbers) >= max(3, len(task.labels)) else "unknown"


def said_of_values(
    task: Task,
    names: Mapping[str, str],
    counted: ValueCounts,
    column: str,
    one_file: bool = True,
) -> dict[str, Label | None]:
    """Return what a person says of values: labels by `label_word`, None for no gold label.

    Raises LabelError for a name that is no label, FileError for a value that no row of `one_file`
    has.
    """
    there = {label_word(value) for value in counted.counts}
    absent = [value for value in names if label_word(value) not in there]
    if one_file and absent:
        raise FileError(f"no row has {absent[0]!r} in its column {column!r}")
    return {
        label_word(value): None if label_word(name) in NO_LABEL_WORDS else task.read_gold(name)
        for value, name in names.items()
        if value not in absent
    }


def told(
    values: LabelValues, wanted: Callable[[LabelValue], bool] = lambda _: True, most: int = 5
) -> str:
    """List values with their rows, and with what they are read as where that is known."""
    shown = [value for value in values.values if wanted(value)]
    listed = [
        f"{cut_short(value.value) or '(empty)'} as {value.label or 'no gold label'} "
        f"({value.rows:,})"
        if value.reading != "unknown"
        else f"{quoted(value.value)} ({value.rows:,} row{'' if value.rows == 1 else 's'})"
        for value in shown[:most]
    ]
    more = len(shown) - most + (values.others if most < len(shown) else 0)
    return ", ".join(listed) + (f" and {more:,} more" if more > 0 else "")


def in_words(values: LabelValues) -> str:
    """Say what values are read as, "" for nothing to say.

    A label's own name needs no saying unless a data set means another one by it.
    """
    read = [value for value in values.of("form", "class", "chosen") if value.value]
    read += [each for each in values.of("name") if values.form or each.word != each.label]
    read += [value for value in values.of("no gold", "disputed") if value.word == UNMARKED]
    if not read:
        return ""
    known = f", as in {values.form}" if values.form else ""
    return f"gold labels are read: {told(LabelValues(tuple(read)), most=MAX_VALUES)}{known}"
