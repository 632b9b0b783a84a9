"""How a file of examples is read: its columns and its labels, or what has to be asked first.

The one place where a file of a person becomes examples, whoever asks: page, command or endpoint.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any, Literal

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.names import SHOWN, cut_short, listed, shown
from probe.data.rows import (
    GOLD,
    NO_COLUMN,
    NO_RECORD,
    Columns,
    InputRow,
    Source,
    cell,
    cell_text,
    find,
    guess_some,
    read_rows,
)
from probe.data.source import open_source, read_table
from probe.errors import (
    DisputedLabel,
    ExampleError,
    FileError,
    FileQuestion,
    LabelError,
    LimitError,
    UserError,
)
from probe.limits import UNBOUNDED, Bounds
from probe.tasks.reading import NO_ANSWER
from probe.tasks.task import DISPUTED, NO_GOLD, Label, Task, label_word, offered_tasks

MAX_VALUES = 20
"""Values that are shown; a column with more is hardly one of labels."""
MOST_COUNTED = 1000
"""Values that are counted; of more only how many rows have another one."""
Why = Literal["name", "form", "class", "chosen", "no gold", "disputed", "unknown"]
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
    reading: Why

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

    def of(self, *readings: Why) -> tuple[LabelValue, ...]:
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

    @property
    def words(self) -> set[str]:
        """The values as tables of spellings hold them."""
        return set(self._spellings)


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
    words, names = counted.words, {name.strip().lower() for name in columns}
    forms = (
        form for form in task.forms if form.reads(words - (NO_GOLD - form.values.keys()), names)
    )
    form = next(forms, None)
    if form and any(form.values.get(word, label) != label for word, label in said.items()):
        form = None

    def read(word: str) -> tuple[Label | None, Why]:
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


def _named(task: Task, name: str, why: Why) -> tuple[Label | None, Why]:
    try:
        label = task.read_gold(name)
    except DisputedLabel:
        return None, "disputed"
    except LabelError:
        return None, "unknown"
    return label, why if label else "no gold"


def _unmarked(task: Task, words: Collection[str]) -> Why:
    """Return why -1 is no label: a test set without any, or a mark beside all of a task's numbers.

    Beside fewer of them it may well be a label, as in -1, 0, 1.
    """
    others = {word for word in words if word not in NO_GOLD} - DISPUTED
    if not others:
        return "no gold"
    numbers = {word for word in others if NUMBER.fullmatch(word)}
    return "disputed" if not numbers or len(numbers) >= max(3, len(task.labels)) else "unknown"


def told(values: Sequence[LabelValue], most: int = 5) -> str:
    """List values with their rows, and with what they are read as where that is known."""
    listed = [
        f"{cut_short(value.value) or '(empty)'} as {value.label or 'no gold label'} "
        f"({value.rows:,})"
        if value.reading != "unknown"
        else f"{shown(value.value)} ({value.rows:,} row{'' if value.rows == 1 else 's'})"
        for value in values[:most]
    ]
    more = len(values) - most
    return ", ".join(listed) + (f" and {more:,} more" if more > 0 else "")


def in_words(values: LabelValues) -> str:
    """Say what values are read as, "" for nothing to say.

    A label's own name needs no saying unless a data set means another one by it.
    """
    read = [value for value in values.of("form", "class", "chosen") if value.value]
    read += [each for each in values.of("name") if values.form or each.word != each.label]
    read += [value for value in values.of("no gold", "disputed") if value.word == UNMARKED]
    known = f", as in {values.form}" if values.form else ""
    return f"gold labels are read: {told(read, MAX_VALUES)}{known}" if read else ""


UNSURE_NAMES = ("answer", "answers")
"""Names of gold columns that hold a free text as often as a label."""
TELLING = (
    *("label", "gold", "class", "target", "judg", "stars", "rating", "score"),
    *("sentiment", "polarity", "verdict", "duplicate", "quality"),
)
"""What the name of a column of labels has in it, whatever a data set calls it."""
IMPOSSIBLE = "is_impossible"
"""The field of SQuAD 2.0 by which a question is known to have no answer."""
FEW_VALUES = 12
"""Different values that a column may have whose name tells of labels; a score has more."""
FRACTION = re.compile(r"[+-]?\d*\.\d*[1-9]\d*(e[+-]?\d+)?")
"""A number that is not whole, as `label_word` has it."""
ASKED_VALUES = 5
"""Values that a question names by an option each."""


@dataclass(frozen=True)
class Reading:
    """The columns of a file and what its labels mean, or the questions that are still open.

    `columns` lack the texts that no name tells. `form` says how the file itself is read, `notes`
    what a person would not expect, and `others` are the tasks that the file fits where it does not
    fit the one that is asked about.
    """

    columns: Columns
    values: LabelValues = field(default_factory=LabelValues)
    questions: tuple[FileQuestion, ...] = ()
    notes: tuple[str, ...] = ()
    others: tuple[Task, ...] = ()
    form: str = ""

    @property
    def words(self) -> str:
        """How the file is read, "" where there is nothing to say."""
        return "; ".join(filter(None, (self.form, *self.notes, in_words(self.values))))

    @property
    def settled(self) -> Columns:
        """The columns by which rows are read. Raises FileQuestion where one is open."""
        for question in self.questions:
            raise question
        return self.columns


@dataclass(frozen=True)
class _Counted:
    """A table, with the values of those of its columns that were counted so far."""

    table: Source
    columns: dict[str, ValueCounts] = field(default_factory=dict)

    def of(self, names: Sequence[str]) -> dict[str, ValueCounts]:
        """Return the counts of columns, of those that have none yet in one pass."""
        new = {name: ValueCounts() for name in names if name not in self.columns}
        for record in self.table.records() if new else ():
            for name, counted in new.items() if not record.broken else ():
                counted.add(cell(record.cells, name))
        self.columns.update(new)
        return {name: self.columns[name] for name in names}

    def read(self, task: Task, gold: str, said: Mapping[str, Label | None] = {}) -> LabelValues:
        """Return what the values of a column are read as."""
        classes = {str(at): name for at, name in enumerate(self.table.classes.get(gold, ()))}
        return read_values(task, self.of([gold])[gold], self.table.names, classes, said)


def reading_of(
    table: Source,
    path: Path,
    task: Task,
    options: FileOptions = AS_THE_FILE_TELLS,
) -> Reading:
    """Return how a file is read. Raises FileError for columns and values that are not there.

    It does so too where no row fits the header.
    """
    broken = next(table.records(), NO_RECORD).broken
    if broken and all(record.broken for record in table.records()):
        raise FileError(
            f"no row of {path.name} fits its header, the first for this reason: {broken}; name "
            "every column in the first line, or enclose texts that hold its delimiter in quotes"
        )
    names = [*options.columns.values(), *([options.gold] if options.gold != NO_COLUMN else [])]
    absent = [name for name in names if name and name not in table.names]
    left_out: tuple[str, ...] = ()
    if absent and not options.one_file:
        kept = {field: name for field, name in options.columns.items() if name not in absent}
        gold = "" if options.gold in absent else options.gold
        options = replace(options, columns=kept, gold=gold)
        left_out = (f"it has no column {_either([shown(name) for name in absent])}",)
    reading = _reading_of(_Counted(table), task, options)
    return replace(reading, form=table.words, notes=(*left_out, *reading.notes))


def _reading_of(counted: _Counted, task: Task, options: FileOptions) -> Reading:
    names = counted.table.names
    named = {field: name for field, name in options.columns.items() if name}
    if absent := [field for field in named if field not in task.fields]:
        fields = ", ".join(task.fields)
        raise FileError(f"the task {task.name} has no text {absent[0]!r}; it has: {fields}")
    guessed = guess_some(names, task, named)
    columns = replace(guessed, gold=None)
    columns.check(names)
    others = [
        other
        for other in offered_tasks()
        if other.example is not task.example
        and not named
        and len(guess_some(names, other).texts) == len(other.fields)
    ]
    if lacking := [field for field in task.fields if field not in columns.texts]:
        read = [
            other
            for other in others
            if not _reading_of(counted, other, AS_THE_FILE_TELLS).questions
        ]
        fitting = tuple(
            read or (other for other in others if _may_be_labels(counted, names, other))
        )
        word = "column" if len(lacking) == 1 else "columns"
        fits = f"; it fits {_either([other.title.lower() for other in fitting])}" if fitting else ""
        question = FileQuestion(
            f"no {word} {' and '.join(map(repr, lacking))} in your file; it has: "
            f"{listed(names)}{fits}",
            " ".join(f"--column {field}=NAME" for field in lacking),
            tasks=[other.name for other in fitting],
        )
        return Reading(guessed, questions=(question,), others=fitting)
    reading = _gold_of(counted, columns, task, options)
    gold = reading.columns.gold
    if gold is None or not task.labels or not reading.values.of("unknown"):
        return reading
    fitting = tuple(
        other for other in others if other.labels and not counted.read(other, gold).of("unknown")
    )
    question = _which_labels(gold, reading.values, task, fitting)
    return replace(reading, questions=(*reading.questions, question), others=fitting)


def _may_be_labels(counted: _Counted, names: Sequence[str], task: Task) -> bool:
    """Whether what a file has for labels is a task's, or numbers that may stand for them."""
    gold = guess_some(names, task).gold
    unknown = counted.read(task, gold).of("unknown") if gold and task.labels else ()
    return not unknown or LabelValues(unknown).numbers


def _which_labels(
    gold: str, values: LabelValues, task: Task, fitting: Sequence[Task]
) -> FileQuestion:
    another = ("--gold NAME", f"--gold {NO_COLUMN}")
    unknown = values.of("unknown")
    if LabelValues(unknown).numbers:  # as people count
        unknown = tuple(sorted(unknown, key=lambda each: float(each.word)))
    fractions = [each.word for each in unknown if FRACTION.fullmatch(each.word)]
    if values.others or fractions:
        count = len(values.values) + values.others
        what = f"fractions such as {fractions[0]}" if fractions else f"{count:,} different values"
        return FileQuestion(
            f"the column {shown(gold)} has {what}, so it is hardly one of labels", *another
        )
    fits = "".join(
        f", unless this is a file of {other.title.lower()}, which it fits" for other in fitting
    )
    what = "what it means" if len(unknown) == 1 else "what they mean"
    options = [
        f"--label-value {quote(each.value)}=LABEL" for each in unknown if len(each.value) <= SHOWN
    ]
    settling = " ".join(options[:ASKED_VALUES]) + (" ..." if len(options) > ASKED_VALUES else "")
    if settling:
        settling += f" (LABEL is {_either([*task.golds, NO_COLUMN])})"
    return FileQuestion(
        f"the column {shown(gold)} holds {told(unknown)}, and nothing tells {what}{fits}",
        *([settling] if settling else []),
        *another,
        tasks=[other.name for other in fitting],
    )


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _asked(columns: Columns, sentence: str, golds: Sequence[str], none: bool = True) -> Reading:
    """Return the reading without a gold column, whose name is asked for."""
    options = [f"--gold {quote(name)}" for name in golds] + [f"--gold {NO_COLUMN}"] * none
    return Reading(replace(columns, gold=None), questions=(FileQuestion(sentence, *options),))


def _gold_of(counted: _Counted, columns: Columns, task: Task, options: FileOptions) -> Reading:
    """Return the reading with the gold column: the named one, else by its name and its values."""
    names = counted.table.names
    if options.gold:
        if options.gold == NO_COLUMN and NO_COLUMN not in names:
            if options.values and options.one_file:
                raise FileError("labels are given to values, but no column of gold labels is read")
            return Reading(columns)
        chosen = replace(columns, gold=options.gold)
        chosen.check(names)
        return _with_values(counted, chosen, task, options) if task.labels else Reading(chosen)
    free = [name for name in names if name not in set(columns.texts.values())]
    found = (find(free, (word,)) for word in (*GOLD, *task.gold_columns))
    usual = list(dict.fromkeys(name for name in found if name is not None))
    if not task.labels:
        return _of_spans(counted.table, replace(columns, gold=usual[0] if usual else None), task)
    if usual:
        reading = _by_name(counted, columns, usual, task, options)
    else:
        reading = _by_values(counted, columns, free, task)
    lost = reading.columns.gold is None and not reading.questions
    if lost and options.values and options.one_file:
        raise FileError("labels are given to values, but the file has no column of gold labels")
    return reading


def _of_spans(table: Source, columns: Columns, task: Task) -> Reading:
    """Return the reading of right answers, of which a test set may hide all.

    A file that marks its unanswerable questions means an empty answer.
    """
    gold = columns.gold
    if gold is None:
        return Reading(columns, notes=("there is no column of right answers, so there is no F1",))
    if task.gold_text is None or IMPOSSIBLE in map(str.lower, table.names):
        return Reading(columns)
    read = False
    for record in table.records():
        with suppress(ExampleError):
            if task.gold_text(cell(record.cells, gold)) != NO_ANSWER:
                return Reading(columns)
            read = True
    inner = [name for name in table.names if name.startswith(f"{gold}.")]
    if not read and inner:
        sentence = f"the column {shown(gold)} holds objects, of which none is an answer"
        return _asked(columns, sentence, inner[:ASKED_VALUES])
    if not read:  # each row says why
        return Reading(columns)
    hidden = f"every answer in {shown(gold)} is empty, so they are hidden and there is no F1"
    return Reading(replace(columns, gold=None), notes=(hidden,))


def _with_values(counted: _Counted, columns: Columns, task: Task, options: FileOptions) -> Reading:
    """Return the reading with what values mean: by a person, by the file, or as they are spelt.

    Raises LabelError for a name that is no label, FileError for a value that no row of one file
    has.
    """
    gold = columns.gold or ""
    words = counted.of([gold])[gold].words
    absent = [value for value in options.values if label_word(value) not in words]
    if options.one_file and absent:
        raise FileError(f"no row has {absent[0]!r} in its column {gold!r}")
    said = {
        label_word(value): None if label_word(name) in NO_LABEL_WORDS else task.read_gold(name)
        for value, name in options.values.items()
        if value not in absent
    }
    values = counted.read(task, gold, said)
    meanings = {
        each.word: each.label
        for each in values.values
        if each.reading not in ("unknown", "disputed")
    }
    none = not (values.labelled or values.of("unknown"))
    notes = ("no row has a gold label, so there is no accuracy",) if none else ()
    return Reading(replace(columns, values=meanings), values, notes=notes)


def _by_name(
    counted: _Counted, columns: Columns, usual: Sequence[str], task: Task, options: FileOptions
) -> Reading:
    """Choose among the columns that have a usual name: words before numbers, none that is empty."""
    counts = counted.of(usual)
    read = {name: counted.read(task, name) for name in usual if counts[name].counts}
    if not read:
        sentence = f"the column {shown(usual[0])} holds lists or objects, of which none is a label"
        return _asked(columns, sentence, ["NAME"])
    filled = [name for name in read if any(each.word for each in read[name].values)]
    unread = [name for name in filled if name in UNSURE_NAMES and not read[name].labelled]
    filled = [name for name in filled if name not in unread]
    words = [name for name in filled if read[name].labelled and not read[name].of("unknown")]
    words = [name for name in words if not read[name].numbers] or words
    golds = set()
    for name in words:
        rows = Counter[str]()
        for each in read[name].values:
            rows[each.label or ""] += each.rows
        del rows[""]
        golds.add(frozenset(rows.items()))
    if len(golds) > 1:
        columns_in_words = " and ".join(map(shown, words))
        sentence = f"the columns {columns_in_words} both hold gold labels, and differ"
        return _asked(columns, sentence, words, none=False)
    empty = [name for name in read if name not in (*filled, *unread)]
    chosen = next(iter((*words, *filled, *empty)), None)
    if chosen is None:
        note = f"the column {shown(unread[0])} holds no label of {task.title.lower()}, so that rows"
        return Reading(columns, notes=(f"{note} are scored without a gold label",))
    reading = _with_values(counted, replace(columns, gold=chosen), task, options)
    if chosen == next(iter(read)):
        return reading
    return replace(reading, notes=(f"gold labels are in {shown(chosen)}", *reading.notes))


def _by_values(counted: _Counted, columns: Columns, free: Sequence[str], task: Task) -> Reading:
    """Ask about columns that hold labels or look so by their names; without any say that.

    Nothing is read from them unasked: yes and no, or e and n, are written in other columns too.
    """
    likely = []
    for name, counts in counted.of(free).items():
        filled = {value: rows for value, rows in counts.counts.items() if value}
        if not filled or counts.others or len(filled) > MAX_VALUES:
            continue
        values = read_values(task, counts, (), {}, {})
        telling = any(part in name.lower() for part in TELLING) and len(filled) <= FEW_VALUES
        read = bool(values.labelled) and not values.of("unknown")
        repeats = len(filled) < sum(filled.values())
        if telling if values.numbers else (telling or read) and repeats:
            likely.append(name)
    if not likely:
        note = "there is no column of gold labels, so there is no accuracy"
        return Reading(columns, notes=(note,))
    sentence = (
        f"no column is called label, and {_either([shown(name) for name in likely])} may hold the "
        "gold labels"
    )
    return _asked(columns, sentence, likely[:ASKED_VALUES])


LEFT_OUT: dict[type[UserError], str] = {
    DisputedLabel: "on whose label the annotators disagree",
    LabelError: "whose label cannot be read",
    FileError: "that do not fit the header",
}
"""Why rows are left out, by their first problem; any other is a text that is none."""


@dataclass(frozen=True)
class Labelled:
    """The examples of a file that have a gold label, how many others it has, and how it is read.

    The others are broken and disputed rows and those without a label or a text; `words` count them.
    """

    examples: Sequence[Any]  # Any: the task's own dataclass
    others: int
    words: str = ""


def labelled(
    path: Path, task: Task, options: FileOptions = AS_THE_FILE_TELLS, bounds: Bounds = UNBOUNDED
) -> Labelled:
    """Return the examples with a gold label.

    Raises FileQuestion where that is not clear, FileError, LimitError and LabelError.
    """
    table = read_table(path, bounds, options)
    reading = reading_with_gold(table, path, task, options)
    rows = list(read_rows(table, reading.columns, task))
    for row in rows:
        for problem in row.problems:
            if isinstance(problem, LimitError):
                raise LimitError(f"row {row.number + 1:,} of {path.name}: {problem}")
    examples = [row.example for row in rows if row.example and row.example.gold]
    if not examples:
        texts = ", a ".join(task.fields)
        word = "pair" if len(task.fields) > 1 else "example"
        raise FileError(f"{path.name} holds no {word} with a {texts} and a label")
    words = "; ".join(filter(None, (reading.words, left_out(rows))))
    return Labelled(examples, len(rows) - len(examples), words)


def reading_with_gold(table: Source, path: Path, task: Task, options: FileOptions) -> Reading:
    """Return how a file is read whose gold labels are needed. Raises FileQuestion, FileError."""
    reading = reading_of(table, path, task, options)
    for question in reading.questions:
        answers = [each for each in question.options if each != f"--gold {NO_COLUMN}"]
        raise FileQuestion(f"{path.name}: {question.sentence}", *answers, tasks=question.tasks)
    if reading.columns.gold is None:
        raise FileQuestion(
            f"gold labels are needed here, and of the columns of {path.name} none is taken for "
            f"them; it has: {listed(table.names)}",
            "--gold NAME",
        )
    return reading


def why_left_out(row: InputRow, needs_gold: bool = True) -> str:
    """Return why a row is no example, "" where it is one."""
    if row.problems:
        known = (words for kind, words in LEFT_OUT.items() if isinstance(row.problems[0], kind))
        return next(known, "without a text that can be read")
    return "without a gold label" if needs_gold and not row.example.gold else ""


def left_out(rows: Sequence[InputRow], needs_gold: bool = True) -> str:
    """Count the rows that are no example, by why they are none; "" where all are."""
    reasons = Counter(why for row in rows if (why := why_left_out(row, needs_gold)))
    return left_out_words(reasons, len(rows))


def left_out_words(reasons: Mapping[str, int], rows: int) -> str:
    """Say how many of some rows are left out, by reason; "" where none is."""
    if not reasons:
        return ""
    counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
    return f"{sum(reasons.values()):,} of {rows:,} rows are left out: {counts}"


def stream_examples(
    path: Path, task: Task, options: FileOptions = AS_THE_FILE_TELLS, needs_gold: bool = True
) -> Iterator[Any]:
    """Yield the examples of a file row by row, by default only those with a gold label.

    Rows that cannot be read are left out. Raises FileQuestion, FileError and LabelError.
    """
    source = open_source(path, options=options)
    columns = reading_of(source, path, task, options).settled
    for row in read_rows(source, columns, task):
        if row.example and (row.example.gold or not needs_gold):
            yield row.example
