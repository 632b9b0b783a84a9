"""Answers that a file holds, in the place of a model that would give them.

Read as they are: what trainers of a first project write, the samples of lm-evaluation-harness
(Gao et al. 2021), submissions to GLUE (Wang et al. 2019), the answers that HANS's evaluation takes
(McCoy et al. 2019), files that the app has scored, and any table with a column of answers.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.names import listed, shown
from probe.data.reading import reading_of
from probe.data.rows import (
    NO_COLUMN,
    Columns,
    Record,
    Source,
    cell,
    find,
    guess_some,
    is_missing,
    read_rows,
)
from probe.data.source import read_table
from probe.errors import ExampleError, FileError, FileQuestion, LabelError
from probe.limits import UNBOUNDED, Bounds
from probe.models.hardware import Precision
from probe.models.prediction import Prediction, softmax
from probe.models.weights import file_hash
from probe.tasks.reading import answer_value
from probe.tasks.task import (
    INVALID,
    TASKS,
    Example,
    Label,
    Task,
    label_word,
    normalised,
    offered_tasks,
    read_labels,
)

ANSWERS = (
    *("predicted_label", "predicted_answer", "prediction", "predictions", "predicted", "pred"),
    *("pred_label", "model_prediction", "prediction_text"),
)
"""How files call their column of answers."""
SCORES = ("predicted_scores", "scores", "logits", "probabilities", "probs")
"""How they call a list of one score for each label."""
OF_LABEL = re.compile(r"^(p|prob|probability|score|logit)[-.]")
"""Begins the name of a column that has the score of one label."""
KEYS = ("pairID", "id", "uid", "guid", "qid", "index", "idx", "doc_id")
"""Columns that name a row; the rest of `COUNTS` may also be its number, from 0."""
COUNTS = ("index", "idx", "doc_id")
HANS, GOLD_OF_HANS = {"pairid", "gold-label"}, "gold_label"
SAMPLES = {"doc", "arguments", "filtered_resps"}
"""The columns by which a file of answers to HANS and one of samples is known."""
LABEL_NUMBER = "label"
"""The column of a gold label's number, where another has it in words."""
NUMBERED = re.compile(r"(?:label-)?(\d+)")
"""A label by its number, as `label_word` has it."""
ANSWERS_OF = "answers:"
"""Begins the name by which a page has a file of answers among its models."""
NONE = "none"
"""In the place of the columns of scores: they are left out."""
NEAR = 1e-3
"""How far from one the sum of probabilities may be that are written with few digits."""
STRAY = 0.01
"""The share of rows of logits that may add up to one by chance."""
Scores = Callable[[Record], Any]  # Any: whatever a file may hold


@dataclass(frozen=True)
class AnswerOptions:
    """What a person says of files of answers; what is left empty is told by each file.

    `answer` is the column of answers, `scores` are those of the scores, one with a list of them or
    one a label, and `orders` the labels by number, with commas between, by the name of a file.
    """

    answer: str = ""
    scores: tuple[str, ...] = ()
    orders: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Predicted:
    """The answers of a file to the rows of a table, by the number of each, as a model gives them.

    `revision` is the hash of the file; `why` says for rows without an answer why they have none.
    `words` say how the file is read.
    """

    name: str
    revision: str | None
    task: Task
    answers: Mapping[int, Prediction]
    why: Mapping[int, str] = field(default_factory=dict)
    words: str = ""

    def predict(
        self, examples: Sequence[Example], precision: Precision = "fp32"
    ) -> list[Prediction]:
        """Return what the file answers to rows that were read of its table.

        Raises ExampleError for one to which it has no answer.
        """
        numbers = [int(example.id) for example in examples]
        for lacking in (each for each in numbers if each not in self.answers):
            absent = f"{Path(self.name).name} has no answer to this row"
            raise ExampleError(self.why.get(lacking, absent))
        return [self.answers[number] for number in numbers]

    def too_long(self, example: Example) -> bool:
        """Nothing is known of what was cut."""
        return False


def holds_answers(names: Sequence[str]) -> bool:
    """Whether a file with these columns is one of answers, by its usual names."""
    own = set(map(normalised, names))
    return own == HANS or set(names) >= SAMPLES or any(_is_answer(name) for name in names)


def _is_answer(name: str) -> bool:
    return normalised(name.rpartition(".")[2]) in set(map(normalised, ANSWERS))


@dataclass(frozen=True)
class AnswerFile:
    """A file of answers, before it is known to which rows they are.

    `name` is that by which a person calls it.
    """

    name: str
    path: Path
    table: Source
    options: AnswerOptions = AnswerOptions()

    @classmethod
    def open(
        cls,
        path: Path,
        options: AnswerOptions = AnswerOptions(),
        bounds: Bounds = UNBOUNDED,
        reading: FileOptions = AS_THE_FILE_TELLS,
        name: str = "",
    ) -> "AnswerFile":
        """Read a file. Raises FileError, LimitError; FileQuestion where no column has answers."""
        file = cls(name or str(path), path, read_table(path, bounds, reading), options)
        file.column  # noqa: B018  # or that is asked before anything else
        return file

    @cached_property
    def is_samples(self) -> bool:
        """Whether these are samples of lm-evaluation-harness."""
        return set(self.table.columns) >= SAMPLES and not self.options.answer

    @cached_property
    def column(self) -> str:
        """The column of answers, "" where scores alone tell them. Raises FileQuestion."""
        names, asked = self.table.names, self.options.answer
        if asked in names:
            return asked
        if self.is_samples:
            filters = {str(record.cells.get("filter")) for record in self.table.records()}
            if len(filters) > 1:
                raise FileError(
                    f"{self.path.name} has the answers of several filters, {listed([*filters])}: "
                    "keep the lines of one"
                )
            return "filtered_resps"
        if set(map(normalised, names)) == HANS:
            return str(find(names, [GOLD_OF_HANS]))
        plain = find([name for name in names if "." not in name], ANSWERS)
        inner = [name for name in names if _is_answer(name)]
        if plain or len(inner) == 1:
            return plain or inner[0]
        if self.options.scores and self.options.scores != (NONE,):
            return ""
        several = (
            f"several columns of answers, {listed(inner)}" if inner else "no column of answers"
        )
        told = f"{several} in {self.path.name}" + ("" if inner else f"; it has: {listed(names)}")
        offered = inner or ["NAME"]
        raise FileQuestion(told, *(f"--prediction {quote(name)}" for name in offered))

    def asked(self, task: Task, options: FileOptions) -> FileOptions:
        """Return the options by which its texts and gold labels are read, as it tells them.

        Numbers are in the order that is said of it. Samples have that of the right choice as their
        target.
        """
        order = self._order(task)
        known = {str(at): label for at, label in enumerate(order)}
        options = replace(options, values={**options.values, **known})
        if not self.is_samples:
            return self._without_gold(task, options) if holds_answers(self.table.names) else options
        gold = options.gold or ("target" if "target" in self.table.columns else "")
        return replace(options, gold=gold)

    def _without_gold(self, task: Task, options: FileOptions) -> FileOptions:
        """Return the options with no gold column where none but that of answers may be one.

        Values may be those of answers.
        """
        options = replace(options, one_file=False)
        if options.gold or not task.labels:
            return options
        nobody = (f"--gold {quote(self.column)}", f"--gold {NO_COLUMN}")
        questions = reading_of(self.table, self.path, task, replace(options, values={})).questions
        asked = any(each.options == nobody for each in questions)
        return replace(options, gold=NO_COLUMN) if asked else options

    def _order(self, task: Task) -> tuple[Label, ...]:
        """Return the labels by their numbers, as a person or the file itself says."""
        said = read_labels(self.options.orders.get(self.name, ""), task)
        return said or (self._choices(task) if self.is_samples else ())

    def _choices(self, task: Task) -> tuple[Label, ...]:
        """Return the labels of a sample's choices in their order, none where words do not tell."""
        every = {
            tuple(map(str, map(_choice, _each(record.cells["arguments"]))))
            for record in self.table.records()
            if not record.broken
        }
        if len(every) != 1:
            return ()
        words = [normalised(word) for word in every.pop()]
        alike = (each for each in TASKS.values() if each.example is task.example and each.labels)
        return next((order for each in alike if (order := each.read_order(words))), ())

    def has_texts(self, task: Task | None = None) -> bool:
        """Whether it holds the texts that it answers to."""
        tasks = [task] if task else offered_tasks()
        return any(
            len(guess_some(self.table.names, each).texts) == len(each.fields) for each in tasks
        )

    def on(
        self, table: Source, columns: Columns, task: Task, options: FileOptions = AS_THE_FILE_TELLS
    ) -> Predicted:
        """Return the answers to the rows of a table, which is read by these columns for a task.

        The task of the answers is that of their labels, for texts of the same kind. Raises
        FileError where they fit no row, FileQuestion where it is not told what they mean.
        """
        rows, notes = self._places(table, columns, task)
        own = self._own_columns(table, columns, task, options)
        meaning = _Meaning(self, task, options, own)
        answers, why = dict[int, Prediction](), dict[int, str]()
        records = {record.number: record for record in self.table.records()}
        read = meaning.read([records[number] for number in rows.values()])
        for row, number in rows.items():
            said = read.answers[number]
            if isinstance(said, str):
                why[row] = f"{self.path.name}: {said}"
            else:
                answers[row] = said
        if own and own.gold and own is not columns:
            notes = (*notes, *self._other_golds(table, columns, rows, own, task))
        told = "; ".join(filter(None, (self.table.words, *read.notes, *notes)))
        words = f"{self.path.name}: {told}"
        return Predicted(self.name, file_hash(self.path), read.task, answers, why, words)

    def _own_columns(
        self, table: Source, columns: Columns, task: Task, options: FileOptions
    ) -> Columns | None:
        """Return how its own texts and gold labels are read, None where it has no texts."""
        if table.path == self.table.path:
            return columns
        if not self.has_texts(task):
            return None
        asked = self.asked(task, replace(options, one_file=False))
        found = reading_of(self.table, self.path, task, asked)
        return found.columns

    def _other_golds(
        self, table: Source, columns: Columns, rows: Mapping[int, int], own: Columns, task: Task
    ) -> list[str]:
        """Say how many rows have another gold label here than in the table.

        Raises FileQuestion where none of some label has it in both, as by other numbers.
        """
        theirs, ours = _golds(table, columns, task), _golds(self.table, own, task)
        both = [
            (theirs[row], ours[number])
            for row, number in rows.items()
            if row in theirs and number in ours
        ]
        same = [one for one, two in both if task.agrees(one, two)]
        if task.labels and (lost := {one for one, _ in both} - {*same}):
            raise FileQuestion(
                f"no row that is {min(lost)} in {table.path.name} is so in {self.path.name}, so "
                "that its labels seem to have other numbers",
                f"--labels {quote(self.name)}={','.join(task.labels)} (in their order)",
            )
        if not (other := len(both) - len(same)):
            return []
        return [f"{other:,} rows have another gold label in it; that beside the texts counts"]

    def _places(
        self, table: Source, columns: Columns, task: Task
    ) -> tuple[dict[int, int], tuple[str, ...]]:
        """Return the number of the answer to each row, and what does not fit, each as a sentence.

        Rows are known by their texts, by a column that both files have, by their number, or by
        their order alone. Raises FileError.
        """
        if table.path == self.table.path:
            return {record.number: record.number for record in table.records()}, ()
        ours, theirs = list(self.table.records()), list(table.records())
        name, other = self.path.name, table.path.name
        own = guess_some(self.table.names, task).texts
        by_texts = len(own) == len(task.fields)
        key = next(
            (
                (one, two)
                for word in KEYS
                if (one := find(self.table.names, [word])) and (two := find(table.names, [word]))
            ),
            None,
        )
        count = None if key or by_texts else find(self.table.names, COUNTS)
        if by_texts:
            how = "by their texts"
            keys = _numbered(_texts(record, own) for record in ours)
            rows = _numbered(_texts(record, columns.texts) for record in theirs)
        elif key:
            how = f"by {key[0]}"
            keys = [str(cell(record.cells, key[0])) for record in ours]
            rows = [str(cell(record.cells, key[1])) for record in theirs]
        elif count:
            how = f"by {count}, the rows counted from 0"
            keys = [label_word(cell(record.cells, count)) for record in ours]
            rows = [str(record.number) for record in theirs]
            if {*keys} == {str(at) for at in range(1, len(theirs) + 1)}:
                raise FileError(
                    f"{count} in {name} runs from 1 to {len(theirs):,}, and the rows of {other} "
                    "are counted from 0 as GLUE does: count them so"
                )
        else:
            how = "in their order"
            if len(ours) != len(theirs):
                raise FileError(
                    f"{name} has {len(ours):,} answers and {other} {len(theirs):,} rows, and no "
                    f"column of both says which belongs to which: give it one such as {KEYS[0]}"
                )
            keys = rows = [str(record.number) for record in ours]
        for file, each in ((name, keys), (other, rows)):
            (most, times), *_ = Counter(each).most_common(1) or [("", 0)]
            if times > 1:
                raise FileError(f"{file} has {times:,} rows of {how.partition(' ')[2]} {most!r}")
        known = {each: record.number for each, record in zip(keys, ours, strict=True)}
        placed = {
            record.number: known[each]
            for each, record in zip(rows, theirs, strict=True)
            if each in known
        }
        if not placed:
            raise FileError(f"no answer of {name} fits a row of {other}: they are matched {how}")
        asked = set(rows)
        rest = [each for each in keys if each not in asked]
        notes = [f"matched to the rows of {other} {how}"]
        if rest:
            first = rest[0] if isinstance(rest[0], str) else " / ".join(rest[0][0])
            notes.append(f"{len(rest):,} of its answers fit no row, the first {shown(first)}")
        if lacking := len(theirs) - len(placed):
            notes.append(f"{lacking:,} rows of {other} have no answer")
        return placed, tuple(notes)


def _texts(record: Record, texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(str(cell(record.cells, name)).strip() for name in texts.values())


def _numbered(texts: Iterable[tuple[str, ...]]) -> list[Any]:
    """Return texts with how many of the same were before them, so that no two are alike."""
    seen, numbered = Counter[tuple[str, ...]](), list[Any]()
    for each in texts:
        numbered.append((each, seen[each]))
        seen[each] += 1
    return numbered


def _golds(table: Source, columns: Columns, task: Task) -> dict[int, Label]:
    rows = read_rows(table, columns, task)
    return {row.number: row.example.gold for row in rows if row.example and row.example.gold}


def _each(arguments: Any) -> list[Any]:  # Any: JSON
    """Return what a sample was asked, one a choice: as a list of pairs or by gen_args_0, ..."""
    return list(arguments.values() if isinstance(arguments, Mapping) else arguments)


def _choice(asked: Any) -> str:  # Any: as above
    """Return the continuation of a pair, as older versions write it, or of {arg_0, arg_1}."""
    pair = list(asked.values() if isinstance(asked, Mapping) else asked)
    return str(pair[1]) if len(pair) == 2 else ""


@dataclass(frozen=True)
class _Read:
    """What was read of the rows of a file: an answer or why there is none, by their numbers."""

    task: Task
    answers: Mapping[int, Prediction | str]
    notes: Sequence[str]


@dataclass(frozen=True)
class _Meaning:
    """What the answers of a file mean for a task; `own` are the columns of its own gold labels."""

    file: AnswerFile
    task: Task
    options: FileOptions
    own: Columns | None

    def read(self, records: Sequence[Record]) -> _Read:
        """Return the answers of rows. Raises FileQuestion where it is not told what they mean."""
        column, words = self.file.column, {record.number: self._word(record) for record in records}
        broken = {record.number: self._broken(record) for record in records}
        if not self.task.labels:
            spans: dict[int, Prediction | str] = {
                number: broken[number]
                or ("no answer" if text is None else Prediction(text, (), (text,)))
                for number, text in words.items()
            }
            return _Read(self.task, spans, [f"answers in {shown(column)}"])
        name, values, named = self._scores(records)
        said = {number: word for number, word in words.items() if word and not broken[number]}
        most = {number: row.index(max(row)) for number, row in values.items()}
        numbers, source = self._numbers(said.values())
        order = named or numbers
        labels = self._labels(Counter(said.values()), dict(enumerate(order)), column)
        given = {number: labels[word] for number, word in said.items()}
        if values and not order:
            order = _told_by(most, given)
        count = max(map(len, values.values()), default=0)
        if values and len(order) != count:
            what = f"{len(order)} labels and {count} scores" if order else "nothing that says"
            raise FileQuestion(
                f"{shown(name)} of {self.file.path.name} holds {count} scores a row, and there is "
                + (
                    f"an order of {len(order)} labels"
                    if order
                    else f"{what} which is of which label"
                ),
                self._orders,
                f"--scores {NONE}",
            )
        apart = [
            number
            for number, label in given.items()
            if number in values
            and label in order
            and values[number][order.index(label)] < max(values[number])
        ]
        if apart:
            raise FileQuestion(
                f"in {len(apart):,} rows of {self.file.path.name} the largest of {shown(name)} is "
                f"not that of the answer in {shown(column)}, first in row {apart[0] + 1:,}",
                self._orders,
                f"--scores {NONE}",
            )
        given = {**{number: order[at] for number, at in most.items()}, **given}
        task = self._task_of({*given.values()}, order if values else ())
        kept, how = as_probabilities(values)
        answers = dict[int, Prediction | str]()
        own = (*task.labels, *({INVALID} & {*given.values(), *order}))
        for record in records:
            number = record.number
            if broken[number] or number not in given:
                answers[number] = broken[number] or "no answer"
                continue
            label = given[number]
            label = label if label == INVALID else task.nearest(label) or label
            shares = dict(zip(order, kept[number], strict=True)) if number in kept else {}
            answers[number] = Prediction(
                label, tuple(shares.get(each, 0.0) for each in own) if shares else (), own
            )
        in_order = numbers or order
        meant = ", ".join(f"{at} as {label}" for at, label in enumerate(in_order))
        by_number = any(map(NUMBERED.fullmatch, said.values())) or (values and not named)
        notes = [
            f"answers in {shown(column)}" if said else "",
            f"labels by number: {meant}, {source or 'as the answers show'}" if by_number else "",
            how.format(name=shown(name)) if values else "no scores, so that there is no confidence",
        ]
        return _Read(task, answers, [*filter(None, notes)])

    @property
    def _orders(self) -> str:
        return f"--labels {quote(self.file.name)}={','.join(self.task.labels)} (in their order)"

    def _word(self, record: Record) -> str | None:
        """Return a row's answer as spellings are held, of spans the text, None for none."""
        value = cell(record.cells, self.file.column) if self.file.column else None
        if self.file.is_samples and isinstance(value, list):
            value = value[0] if len(value) == 1 and isinstance(value[0], str) else None
        if is_missing(value) or (self.task.labels and not str(value).strip()):
            return None
        return label_word(value) if self.task.labels else str(value)

    def _broken(self, record: Record) -> str:
        """Return why a row has no answer to be read, as the app's own files say; "" for none."""
        error = record.cells.get("error")
        return record.broken or ("" if is_missing(error) else str(error))

    def _numbers(self, answers: Collection[str]) -> tuple[tuple[Label, ...], str]:
        """Return the labels by their numbers, and who says so; none where nothing does.

        What values of a file mean is said of the answers too where these are numbers.
        """
        file = self.file
        if order := file._order(self.task):
            told = "as you say" if file.options.orders.get(file.name) else "as its choices"
            return order, told
        gold = self.own.gold if self.own else None
        known = dict(self.own.values) if self.own and gold else {}
        own = gold or all(map(NUMBERED.fullmatch, answers))
        for value, label in self.options.values.items() if own else ():
            if NUMBERED.fullmatch(value) and label:
                known.setdefault(value, self.task.read_gold(label))
        order = tuple(known.get(str(at)) or "" for at in range(sum(map(str.isdigit, known))))
        if order or not (self.own and gold):
            told = f"as in {shown(gold)}" if gold else "as you say"
            return (order, told) if order and all(order) else ((), "")
        cells = {record.number: record.cells for record in file.table.records()}
        golds, numbers = _golds(file.table, self.own, self.task), dict[int, int]()
        for number, row in cells.items():  # as a column of numbers shows, beside gold labels
            if found := NUMBERED.fullmatch(label_word(row.get(LABEL_NUMBER, ""))):
                numbers[number] = int(found[1])
        order = _told_by(numbers, golds)
        beside = f"as {shown(LABEL_NUMBER)} has them beside {shown(gold)}"
        return (order, beside) if order else ((), "")

    def _labels(
        self, words: Counter[str], numbers: Mapping[int, Label], column: str
    ) -> dict[str, Label]:
        """Return what words mean. Raises FileQuestion for those of which nothing tells it."""
        said = {label_word(value): name for value, name in self.options.values.items()}
        meant, unknown = dict[str, Label](), list[str]()
        for word in words:
            numbered = NUMBERED.fullmatch(word)
            if numbered and int(numbered[1]) in numbers:
                meant[word] = numbers[int(numbered[1])]
            elif INVALID in (word, said.get(word)):
                meant[word] = INVALID
            elif not numbered:
                try:
                    label = self.task.read_gold(said.get(word, word))
                except LabelError:
                    label = None
                if label:
                    meant[word] = label
            if word not in meant:
                unknown.append(word)
        if unknown:
            rows = ", ".join(f"{shown(word)} ({words[word]:,})" for word in sorted(unknown)[:5])
            by_value = " ".join(
                f"--label-value {quote(word)}=LABEL" for word in sorted(unknown)[:5]
            )
            by_number = all(map(NUMBERED.fullmatch, unknown))
            raise FileQuestion(
                f"the answers in {shown(column)} of {self.file.path.name} are {rows} rows, and "
                "nothing tells what they mean",
                self._orders if by_number else f"{by_value} (LABEL may be {INVALID}: no answer)",
            )
        return meant

    def _task_of(self, used: set[Label], order: Sequence[Label]) -> Task:
        """Return the task whose labels the answers are. Raises FileError for none."""
        alike = [each for each in TASKS.values() if each.example is self.task.example]
        alike = [self.task, *(each for each in alike if each is not self.task and each.labels)]
        for task in alike:
            if order:
                if {*order} - {INVALID} == {*task.labels}:
                    return task
            elif used - {INVALID} <= {*task.labels}:
                return task
        merging = (task for task in alike if all(map(task.nearest, used - {INVALID})))
        if found := next(merging, None):
            return found
        raise FileError(f"no task has the labels {listed(sorted({*used, *order}))}")

    def _scores(
        self, records: Sequence[Record]
    ) -> tuple[str, dict[int, list[float]], tuple[Label, ...]]:
        """Return the name of what holds scores, those of each row, and their order if it is told.

        Raises FileError for columns that are not there.
        """
        file, names = self.file, self.file.table.names
        asked = file.options.scores
        if asked == (NONE,):
            return "", {}, ()
        chosen = [name for name in asked if name in names]
        if asked and chosen and len(chosen) < len(asked):
            absent = next(name for name in asked if name not in names)
            raise FileError(
                f"{file.path.name} has no column {shown(absent)}; it has: {listed(names)}"
            )
        lists = chosen[0] if len(chosen) == 1 else None if chosen else find(names, SCORES)
        if file.is_samples:
            lists = file.column
        if lists and not (lists in file.table.columns or chosen):
            lists = None
        order: tuple[Label, ...] = ()
        if lists:
            values = {record.number: listed_scores(cell(record.cells, lists)) for record in records}
            return lists, {number: row for number, row in values.items() if row}, ()
        prefix = file.column.rpartition(".")[0] + "." if "." in file.column else ""
        columns = chosen or self._columns_of_labels(prefix)
        if not columns:
            return "", {}, ()
        read = [self._label_named(name.removeprefix(prefix)) for name in columns]
        order = tuple(filter(None, read)) if all(read) and len({*read}) == len(read) else ()
        rows = {
            record.number: listed_scores([cell(record.cells, name) for name in columns])
            for record in records
        }
        called = f"{columns[0]} … {columns[-1]}"
        return called, {number: row for number, row in rows.items() if row}, order

    def _columns_of_labels(self, prefix: str) -> list[str]:
        """Return the columns that have a score of one label each, none unless of a whole task."""
        own = [name for name in self.file.table.columns if name.startswith(prefix)]
        found = {label: name for name in own if (label := self._label_named(name[len(prefix) :]))}
        alike = [self.task, *(each for each in TASKS.values() if each.example is self.task.example)]
        whole = next((each for each in alike if each.labels and {*each.labels} <= {*found}), None)
        if whole is None:
            return []
        return [found[label] for label in (*whole.labels, INVALID) if label in found]

    def _label_named(self, name: str) -> Label | None:
        """Return the label whose score a column of this name has."""
        word = OF_LABEL.sub("", normalised(name))
        return word if word in {*self.task.golds, *self.task.labels, INVALID} else None


def listed_scores(value: Any) -> list[float]:  # Any: whatever a file may hold
    """Return a row's scores, none where it holds no list of numbers.

    An answer of a sample is its log-probability beside whether it is the most likely text.
    """
    try:
        read = answer_value(value) if isinstance(value, str) else value
        several = (
            [] if isinstance(read, str | Mapping) or not hasattr(read, "__iter__") else [*read]
        )
        scores = [float(each[0] if isinstance(each, list) else each) for each in several]
    except (ExampleError, TypeError, ValueError, LookupError):
        return []
    bad = any(math.isnan(each) or each == math.inf for each in scores)
    return [] if bad or len(scores) < 2 or max(scores) == -math.inf else scores


def _told_by(most: Mapping[int, int], given: Mapping[int, Label]) -> tuple[Label, ...]:
    """Return the order of labels that the numbers beside labels of rows show beyond doubt.

    None unless each number stands beside one label alone, and each of several labels is there.
    """
    pairs = {(at, given[number]) for number, at in most.items() if number in given}
    order = dict(pairs)
    whole = {*order} == {*range(len(order))} and len(order) > 1
    if not whole or not len(pairs) == len(order) == len({*order.values()}):
        return ()
    return tuple(order[at] for at in range(len(order)))


def as_probabilities(
    scores: Mapping[int, list[float]],
) -> tuple[dict[int, tuple[float, ...]], str]:
    """Return the probabilities that scores are or stand for, and how they are read.

    There are none where the scores are neither probabilities, or percentages, nor logits.
    """
    width = max(map(len, scores.values()), default=0)
    shares = {
        number: tuple(each / total for each in row)
        for number, row in scores.items()
        if min(row, default=-1) >= 0
        for total in (math.fsum(row),)
        if min(abs(total - 1), abs(total - 100) / 100) <= NEAR
    }
    trouble = ""
    if any(len(row) != width for row in scores.values()):
        trouble = "{name} are more of some rows than of others"
    elif 0 < len(shares) < len(scores) and len(shares) > STRAY * len(scores):
        trouble = "{name} add up to 1 or 100 in some rows and not in others"
    elif len(shares) < len(scores) and all(0 <= one <= 1 for row in scores.values() for one in row):
        trouble = "{name} are from 0 to 1 and do not add up to 1"
    if scores and trouble:
        return {}, f"{trouble}, so that they are no probabilities: there is no confidence"
    if len(shares) == len(scores):
        return shares, "confidence by {name}"
    soft = softmax(np.array([*scores.values()], dtype=np.float64).reshape(len(scores), width))
    kept = {number: tuple(row) for number, row in zip(scores, soft.tolist(), strict=True)}
    return kept, "confidence by softmax of {name}"


def task_of_texts(table: Source) -> Task:
    """Return the task with the most texts that a table has by their names. Raises FileQuestion."""
    for task in sorted(offered_tasks(), key=lambda task: -len(task.fields)):
        if len(guess_some(table.names, task).texts) == len(task.fields):
            return task
    raise FileQuestion(
        f"{table.path.name} has no texts of any task by the names of its columns: "
        f"{listed(table.names)}",
        "--task NAME with --column FIELD=NAME",
    )
