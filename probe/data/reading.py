"""How a file of examples is read: its columns and its labels, or what has to be asked first.

The one place where a file of a person becomes examples, whoever asks: page, command or endpoint.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.label_values import (
    MAX_VALUES,
    LabelValue,
    LabelValues,
    ValueCounts,
    in_words,
    read_values,
    said_of_values,
    told,
)
from probe.data.names import SHOWN, listed, shown
from probe.data.records import NO_RECORD, ReadFile, Tabular, cell
from probe.data.rows import GOLD, NO_COLUMN, Columns, InputRow, find, guess_some, read_rows
from probe.data.source import open_source
from probe.data.tables import read_table
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
from probe.tasks.task import Task, offered_tasks

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


def reading_of(
    table: ReadFile,
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
    if options.one_file or not absent:
        return replace(_reading_of(table, task, options), form=table.words)
    kept = {field: name for field, name in options.columns.items() if name not in absent}
    gold = "" if options.gold in absent else options.gold
    reading = _reading_of(table, task, replace(options, columns=kept, gold=gold))
    left_out = f"it has no column {_either([shown(name) for name in absent])}"
    return replace(reading, form=table.words, notes=(left_out, *reading.notes))


def _reading_of(table: ReadFile, task: Task, options: FileOptions) -> Reading:
    named = {field: name for field, name in options.columns.items() if name}
    if absent := [field for field in named if field not in task.fields]:
        fields = ", ".join(task.fields)
        raise FileError(f"the task {task.name} has no text {absent[0]!r}; it has: {fields}")
    guessed = guess_some(table.names, task, named)
    columns = replace(guessed, gold=None)
    columns.check(table.names)
    others = [other for other in offered_tasks() if other.example is not task.example and not named]
    lacking = [field for field in task.fields if field not in columns.texts]
    if lacking:
        having = [other for other in others if _has_texts(table.names, other)]
        read = [
            other for other in having if not _reading_of(table, other, AS_THE_FILE_TELLS).questions
        ]
        fitting = tuple(read or having)
        question = _which_texts(table.names, lacking, fitting)
        return Reading(guessed, questions=(question,), others=fitting)
    gold = _gold_of(table, columns, task, options)
    if gold.columns.gold is None or not task.labels:
        return gold
    unknown = gold.values.of("unknown")
    if not unknown:
        return gold
    fitting = tuple(other for other in others if _reads(table, other, gold.columns.gold))
    question = _which_labels(gold.columns.gold, gold.values, task, fitting)
    return replace(gold, questions=(*gold.questions, question), others=fitting)


def _has_texts(names: Sequence[str], task: Task) -> bool:
    return len(guess_some(names, task).texts) == len(task.fields)


def _reads(table: ReadFile, task: Task, gold: str) -> bool:
    """Whether a file has the texts of a task, and labels that it can read."""
    if not task.labels or not _has_texts(table.names, task):
        return False
    counted = _counted(table, [gold])[gold]
    return not read_values(task, counted, table.names, _classes(table, gold), {}).of("unknown")


def _which_texts(
    names: Sequence[str], lacking: Sequence[str], fitting: Sequence[Task]
) -> FileQuestion:
    word = "column" if len(lacking) == 1 else "columns"
    there = f"no {word} {' and '.join(map(repr, lacking))} in your file; it has: {listed(names)}"
    fits = f"; it fits {_either([other.title.lower() for other in fitting])}" if fitting else ""
    return FileQuestion(
        there + fits,
        " ".join(f"--column {field}=NAME" for field in lacking),
        tasks=[other.name for other in fitting],
    )


def _which_labels(
    gold: str, values: LabelValues, task: Task, fitting: Sequence[Task]
) -> FileQuestion:
    another = ("--gold NAME", f"--gold {NO_COLUMN}")
    unknown = _in_order(values.of("unknown"))
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
        f"the column {shown(gold)} holds {told(LabelValues(unknown))}, and nothing tells {what}"
        f"{fits}",
        *([settling] if settling else []),
        *another,
        tasks=[other.name for other in fitting],
    )


def _in_order(values: Sequence[LabelValue]) -> tuple[LabelValue, ...]:
    """Return values as people count, where all are numbers."""
    if not LabelValues(tuple(values)).numbers:
        return tuple(values)
    return tuple(sorted(values, key=lambda each: float(each.word)))


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _gold_of(table: ReadFile, columns: Columns, task: Task, options: FileOptions) -> Reading:
    """Return the reading with the gold column: the named one, else by its name and its values."""
    taken = set(columns.texts.values())
    free = [name for name in table.names if name not in taken]
    if options.gold:
        if options.gold == NO_COLUMN and NO_COLUMN not in table.names:
            if options.values:
                raise FileError("labels are given to values, but no column of gold labels is read")
            return Reading(columns)
        chosen = replace(columns, gold=options.gold)
        chosen.check(table.names)
        return _with_values(table, chosen, task, options)
    usual = find_all(free, (*GOLD, *task.gold_columns))
    if not task.labels:
        return _of_spans(table, replace(columns, gold=usual[0] if usual else None), task)
    if usual:
        reading = _by_name(table, replace(columns, gold=usual[0]), usual, task, options)
    else:
        reading = _by_values(table, columns, free, task)
    lost = reading.columns.gold is None and not reading.questions
    if lost and options.values and options.one_file:
        raise FileError("labels are given to values, but the file has no column of gold labels")
    return reading


def _of_spans(table: Tabular, columns: Columns, task: Task) -> Reading:
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
        asked = FileQuestion(
            f"the column {shown(gold)} holds objects, of which none is an answer",
            *(f"--gold {quote(name)}" for name in inner[:ASKED_VALUES]),
            f"--gold {NO_COLUMN}",
        )
        return Reading(replace(columns, gold=None), questions=(asked,))
    if not read:  # each row says why
        return Reading(columns)
    hidden = f"every answer in {shown(gold)} is empty, so they are hidden and there is no F1"
    return Reading(replace(columns, gold=None), notes=(hidden,))


def find_all(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return the names that are wanted, in the order of the wanted ones."""
    found = (find(names, (word,)) for word in wanted)
    return list(dict.fromkeys(name for name in found if name is not None))


def _with_values(table: ReadFile, columns: Columns, task: Task, options: FileOptions) -> Reading:
    gold = columns.gold or ""
    if not task.labels:
        return Reading(columns)
    counted = _counted(table, [gold])[gold]
    said = said_of_values(task, options.values, counted, gold, options.one_file)
    values = read_values(task, counted, table.names, _classes(table, gold), said)
    meanings = {
        each.word: each.label
        for each in values.values
        if each.reading not in ("unknown", "disputed")
    }
    none = not (values.labelled or values.of("unknown"))
    notes = ("no row has a gold label, so there is no accuracy",) if none else ()
    return Reading(replace(columns, values=meanings), values, notes=notes)


def _by_name(
    table: ReadFile,
    columns: Columns,
    usual: Sequence[str],
    task: Task,
    options: FileOptions,
) -> Reading:
    """Choose among the columns that have a usual name: words before numbers, none that is empty."""
    counts = _counted(table, usual)
    read = {
        name: read_values(task, counts[name], table.names, _classes(table, name), {})
        for name in usual
    }
    readable = [name for name in usual if counts[name].counts]
    if not readable:
        asked = FileQuestion(
            f"the column {shown(usual[0])} holds lists or objects, of which none is a label",
            "--gold NAME",
            f"--gold {NO_COLUMN}",
        )
        return Reading(replace(columns, gold=None), questions=(asked,))
    usual = readable
    empty = [name for name in usual if not any(each.word for each in read[name].values)]
    unread = [
        name
        for name in usual
        if name in UNSURE_NAMES and name not in empty and not read[name].labelled
    ]
    filled = [name for name in usual if name not in (*empty, *unread)]
    words = [name for name in filled if read[name].labelled and not read[name].of("unknown")]
    words = [name for name in words if not read[name].numbers] or words
    if len(words) > 1 and len({_golds(read[name]) for name in words}) > 1:
        asked = FileQuestion(
            f"the columns {' and '.join(map(shown, words))} both hold gold labels, and differ",
            *(f"--gold {quote(name)}" for name in words),
        )
        return Reading(replace(columns, gold=None), questions=(asked,))
    chosen = next(iter((*words, *filled, *empty)), None)
    if chosen is None:
        note = f"the column {shown(unread[0])} holds no label of {task.title.lower()}, so that rows"
        return Reading(
            replace(columns, gold=None), notes=(f"{note} are scored without a gold label",)
        )
    reading = _with_values(table, replace(columns, gold=chosen), task, options)
    if chosen == usual[0]:
        return reading
    return replace(reading, notes=(f"gold labels are in {shown(chosen)}", *reading.notes))


def _golds(values: LabelValues) -> tuple[tuple[str, int], ...]:
    """Return how many rows have each label."""
    counts: dict[str, int] = {}
    for each in values.values:
        if each.label:
            counts[each.label] = counts.get(each.label, 0) + each.rows
    return tuple(sorted(counts.items()))


def _by_values(table: Tabular, columns: Columns, free: Sequence[str], task: Task) -> Reading:
    """Ask about columns that hold labels or look so by their names; without any say that.

    Nothing is read from them unasked: yes and no, or e and n, are written in other columns too.
    """
    likely = [
        name for name, counted in _counted(table, free).items() if _likely(name, counted, task)
    ]
    if likely:
        asked = FileQuestion(
            f"no column is called label, and {_either([shown(name) for name in likely])} may hold "
            "the gold labels",
            *(f"--gold {quote(name)}" for name in likely[:ASKED_VALUES]),
            f"--gold {NO_COLUMN}",
        )
        return Reading(columns, questions=(asked,))
    return Reading(columns, notes=("there is no column of gold labels, so there is no accuracy",))


def _likely(name: str, counted: ValueCounts, task: Task) -> bool:
    filled = {value: rows for value, rows in counted.counts.items() if value}
    if not filled or counted.others or len(filled) > MAX_VALUES:
        return False
    values = read_values(task, counted, (), {}, {})
    telling = any(part in name.strip().lower() for part in TELLING) and len(filled) <= FEW_VALUES
    read = bool(values.labelled) and not values.of("unknown")
    return telling if values.numbers else (telling or read) and len(filled) < sum(filled.values())


def _classes(table: ReadFile, gold: str) -> Mapping[str, str]:
    return {str(number): name for number, name in enumerate(table.classes.get(gold, ()))}


def _counted(table: Tabular, names: Sequence[str]) -> dict[str, ValueCounts]:
    """Count the values of columns in one pass."""
    counts = {name: ValueCounts() for name in names}
    for record in table.records():
        for name, counted in counts.items() if not record.broken else ():
            counted.add(cell(record.cells, name))
    return counts


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
    reading = reading_of(table, path, task, options)
    for question in reading.questions:
        answers = [each for each in question.options if each != f"--gold {NO_COLUMN}"]
        raise FileQuestion(f"{path.name}: {question.sentence}", *answers, tasks=question.tasks)
    columns = reading.columns
    if columns.gold is None:
        raise FileQuestion(
            f"gold labels are needed here, and of the columns of {path.name} none is taken for "
            f"them; it has: {listed(table.names)}",
            "--gold NAME",
        )
    rows = list(read_rows(table, columns, task))
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


def left_out(rows: Sequence[InputRow], needs_gold: bool = True) -> str:
    """Count the rows that are no example, by why they are none; "" where all are."""
    reasons = Counter(
        _why(row.problems[0]) if row.problems else "without a gold label"
        for row in rows
        if row.problems or (needs_gold and not row.example.gold)
    )
    if not reasons:
        return ""
    counts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
    return f"{sum(reasons.values()):,} of {len(rows):,} rows are left out: {counts}"


def _why(problem: UserError) -> str:
    known = (words for kind, words in LEFT_OUT.items() if isinstance(problem, kind))
    return next(known, "without a text that can be read")


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
