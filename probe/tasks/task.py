"""What a task is: its texts by name, its labels, and how an answer is compared."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from operator import eq
from typing import Any, ClassVar, Protocol
from unicodedata import category

from probe.errors import DisputedLabel, LabelError

Label = str
"""One of a task's labels; for a task that is answered with a span, the span."""
NO_GOLD = frozenset({"", "hidden", "nan", "none", "null", "?"})
"""How files say that there is no gold label."""
DISPUTED = frozenset({"-", "-1"})
"""How the released data mark an example on which the annotators did not agree."""


def normalised(text: object) -> str:
    """Return a name in lower case, with hyphens for blanks and underscores, as it looks.

    Characters of no width are left out, such as a byte order mark.
    """
    seen = "".join(char for char in str("" if text is None else text) if category(char) != "Cf")
    return re.sub(r"[\s_]+", "-", seen.strip().lower())


def label_word(text: object) -> str:
    """Return a gold label as tables of spellings hold it, and 2.0, of a table with gaps, as 2."""
    return re.sub(r"\.0$", "", normalised(text))


def spelt(label: Label, spellings: str) -> dict[str, Label]:
    """Return a table of spellings of a label, which are words with blanks between."""
    return dict.fromkeys(spellings.split(), label)


def negated(*words: str) -> tuple[str, ...]:
    """Return how people say that something is not one of these words: non-word, notword, ..."""
    return tuple(
        f"{no}{mark}{word}" for no in ("non", "not", "no") for mark in ("-", "") for word in words
    )


INVALID: Label = "invalid"
"""What a model says that takes a text for no example of its task; a label of none."""
TARGET, SOURCE, ORIGIN = "target", "source", "origin"
"""What a transform may call a task's fields, whatever their names; the origin is the source, or the
target where there is none."""

QUOTED = 60
"""Characters of a cell that a sentence quotes."""


class Example(Protocol):
    """One example of a task: a frozen dataclass with a text in each of the task's fields."""

    __dataclass_fields__: ClassVar[dict[str, Any]]  # Any: what dataclasses put there

    @property
    def gold(self) -> Label | None:
        """The gold label, None where it is not known."""

    @property
    def id(self) -> str:
        """The row that the example came from; it seeds its chance."""


MERGED, TOLD_APART = "merged", "told apart"
"""Kinds of gold labels, see `Task.gold_kind`."""
IN_COMMON = "in two classes"
"""Said of figures whose gold labels are read in the classes that all of them have."""
WHY_IN_COMMON = (
    "Some gold labels stand for two of the others, as non-entailment does, so all are read "
    f"{IN_COMMON}, entailed or not, and every figure here rests on that."
)
"""Says that beside figures of several sets."""


@dataclass(frozen=True)
class LabelForm:
    """How a published data set writes its labels, where a spelling alone does not tell it.

    A column is read so where each of its words (`label_word`) is one of `values`, all of `signs`
    are among them, and the file has the `columns` (in lower case). None is no gold label.
    """

    source: str
    values: Mapping[str, Label | None]
    signs: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()

    def reads(self, words: Collection[str], columns: Collection[str]) -> bool:
        """Whether a column with these words is written so, in a file with these columns."""
        there = set(words)
        return self.signs <= there <= self.values.keys() and self.columns <= set(columns)


@dataclass(frozen=True)
class Group:
    """Examples whose accuracy is reported apart: their gold labels, and the one that they share.

    A prediction is right where it matches `gold`, so that a group may merge labels.
    """

    golds: frozenset[Label]
    gold: Label
    title: str
    summary: str


@dataclass(frozen=True, eq=False)
class Task:
    """What models of one kind are asked, and how their answers are read.

    `fields` names the example's texts in the order in which a model reads them; transforms edit
    `target`, and copies and translations start from `source`. `labels` are what a model answers, in
    the order of its probabilities, empty where the answer is a span; `golds` are the labels a file
    may hold. `matches(predicted, gold)` tells what is right, `agrees(before, after)` whether two
    answers are the same. `f1(predicted, gold)` is how much of a span is right, None where answers
    are labels. `forms` are the ways in which data sets of the task write labels that a spelling
    alone does not tell, whole numbers above all, and `columns` and `gold_columns` are what they
    call texts and gold label. `gold_text` reads the cell of a file that holds more than a label,
    and `problem` says what is wrong with an example of a file. `further` reads what an example
    holds beside texts, gold label and id from its JSON. `variant_of` names what an example is one
    of several variants of, "" for none, and `topic` what several examples are about.
    `output_spellings` holds further names that models give their outputs, and `merged_outputs` the
    label that a finer output counts as, "" for one that is left out. `bundled` names the file of
    assets/bundled with the examples that come with the app, and `translated` the labels that a
    phrase-based translator is trained for. `settled` are the labels that a part of the source can
    settle, where it is read in parts, empty where it cannot be. `choice` is what the page calls the
    task where one is chosen, empty for one that is not offered there; `question` says what the
    model is asked, `titles` what a person calls the fields and `unit` one example; `meanings` has a
    sentence for each field and label, and `showcase` is an example to which most transforms apply.
    """

    name: str
    title: str
    example: type[Any]  # Any: the task's own dataclass
    fields: tuple[str, ...]
    target: str
    source: str | None = None
    labels: tuple[Label, ...] = ()
    golds: tuple[Label, ...] = ()
    default_label: Label | None = None
    spellings: Mapping[str, Label] = field(default_factory=dict)
    output_spellings: Mapping[str, Label] = field(default_factory=dict)
    forms: tuple[LabelForm, ...] = ()
    merged_outputs: Mapping[str, Label] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gold_columns: tuple[str, ...] = ()
    sanity_examples: tuple[Example, ...] = ()
    matches: Callable[[Label, Label], bool] = eq
    agrees: Callable[[Label, Label], bool] = eq
    f1: Callable[[Label, Label], float] | None = None
    gold_text: Callable[[Any], str] | None = None  # Any: a cell of a file
    problem: Callable[[Any], str] | None = None  # Any: of the task's own dataclass
    further: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None  # Any: JSON
    variant_of: Callable[[Any], str] | None = None  # Any: of the task's own dataclass
    topic: Callable[[Any], str] | None = None  # Any: as above
    groups: Mapping[str, Group] = field(default_factory=dict)
    note: str = ""
    bundled: str = ""
    translated: tuple[Label, ...] = ()
    settled: tuple[Label, ...] = ()
    choice: str = ""
    question: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    showcase: Example | None = None
    unit: str = "example"

    def __reduce__(self) -> tuple[Callable[[str], "Task"], tuple[str]]:
        """Pickle a task as its name: it is the one that is registered."""
        return task_named, (self.name,)

    def field_of(self, role: str) -> str | None:
        """Return the field that a role or a name stands for here, None where there is none."""
        origin = self.source or self.target
        name = {TARGET: self.target, SOURCE: self.source, ORIGIN: origin}.get(role, role)
        return name if name in self.fields else None

    def title_of(self, field: str) -> str:
        """Return what a person calls a field."""
        return self.titles.get(field, field.capitalize())

    @property
    def has_spans(self) -> bool:
        """Whether the answer is a stretch of a text and no label."""
        return self.f1 is not None

    @property
    def measure(self) -> str:
        """What the mean score of answers is called."""
        return "F1" if self.has_spans else "accuracy"

    def score(self, answer: Label, gold: Label) -> float:
        """Return how right an answer is, from 0 to 1: the F1 of a span, 0 or 1 for a label."""
        return self.f1(answer, gold) if self.f1 else float(self.matches(answer, gold))

    def topic_of(self, example: Example) -> str:
        """Return what examples of two sets must not share: the topic, else the source or target."""
        if self.topic:
            return self.topic(example)
        return str(getattr(example, self.source or self.target))

    def texts(self, example: Example) -> dict[str, str]:
        """Return the texts of an example by field."""
        return {name: getattr(example, name) for name in self.fields}

    def read_gold(self, text: object) -> Label | None:
        """Read a gold label as people and data sets spell it, None for an empty cell.

        Raises LabelError for a disputed or unknown label. The answer of a span task is its text.
        """
        if not self.labels:
            return str("" if text is None else text).strip() or None
        word = label_word(text)
        if word in NO_GOLD:
            return None
        cell = repr(text) if len(repr(text)) <= QUOTED else repr(text)[:QUOTED] + "…"
        if word in DISPUTED:
            raise DisputedLabel(f"no gold label: the annotators did not agree ({cell})")
        if word not in self.spellings:
            *most, last = self.labels
            raise LabelError(f"unknown gold label {cell}; use {', '.join(most)} or {last}")
        return self.spellings[word]

    def read_order(self, names: Sequence[str]) -> tuple[Label, ...] | None:
        """Read the labels of a model's outputs, in their order; None where each is not there once.

        Finer outputs are read where each label has one: a label may then be there more than once,
        and "" for an output that is left out. Numbers say nothing: data sets number their labels in
        many ways.
        """
        words = [normalised(name) for name in names]
        finer = not self.merged_outputs.keys().isdisjoint(words)
        merged = self.merged_outputs if finer else {}
        table = {**self.spellings, **self.output_spellings, **merged}
        order = tuple(table[word] for word in words if word in table and not word.isdigit())
        known = {*order} - {""} if finer else order
        return order if sorted(known) == sorted(self.labels) and len(order) == len(words) else None

    def gold_kind(self, gold: Label) -> str:
        """Return MERGED where a gold label merges labels of the task, as non-entailment does.

        TOLD_APART of the labels that it merges, "" of any other. Answers to both kinds have no
        average.
        """
        for group in self.groups.values():
            if group.gold not in self.labels and gold in group.golds:
                return MERGED if gold == group.gold else TOLD_APART
        return ""

    def merges(self, golds: Iterable[Label | None]) -> Label | None:
        """Return the gold label that merges labels of the task, None where none of these does."""
        return next((gold for gold in golds if gold and self.gold_kind(gold) == MERGED), None)

    def in_common(self, golds: Sequence[Label | None]) -> list[Label | None]:
        """Return gold labels in the classes that all of them have.

        Where one merges labels that others tell apart, as non-entailment does, those are merged
        too: scores in two classes and in three have no average, and no difference.
        """
        merged = self.merges(golds)
        return [
            merged if merged and gold and self.gold_kind(gold) == TOLD_APART else gold
            for gold in golds
        ]

    def measure_of(self, golds: Iterable[Label | None]) -> str:
        """Return what the mean score is called, with the classes where gold labels are merged."""
        return f"{self.measure} {IN_COMMON}" if self.merges(golds) else self.measure

    def nearest(self, label: Label) -> Label | None:
        """Return the label under which this task counts one, None where that is not certain."""
        if label in self.labels:
            return label
        matching = [own for own in self.labels if self.matches(own, label)]
        return matching[0] if len(matching) == 1 else None

    def admissible(self, gold: Label | None, labels: Sequence[Label] = ()) -> tuple[bool, ...]:
        """Return for each label, by default the task's, whether it is right; none without gold."""
        return tuple(
            gold is not None and self.matches(label, gold) for label in labels or self.labels
        )


GUESS: tuple[Label, ...] = ("guess",)
"""In the place of an order of labels: the one that answers the task's sanity examples best."""
TASKS: dict[str, Task] = {}
"""Every task by name; a module of this folder registers its own when it is imported."""


def register(task: Task) -> Task:
    """Add a task to the registry."""
    TASKS[task.name] = task
    return task


def offered_tasks() -> tuple[Task, ...]:
    """Return the tasks that the page offers, those that are answered with labels first."""
    offered = [task for task in TASKS.values() if task.choice]
    return tuple(sorted(offered, key=lambda task: not task.labels))


def task_named(name: str) -> Task:
    """Return a registered task. Raises LabelError."""
    if name not in TASKS:
        raise LabelError(f"there is no task {name!r}; there are: {', '.join(TASKS)}")
    return TASKS[name]


def read_outputs(
    names: Sequence[str], tasks: Sequence[Task] | None = None
) -> tuple[Task, tuple[Label, ...]]:
    """Find the task whose spellings read the names of a model's outputs, and read their order.

    The names are as people and hubs spell them. Raises LabelError unless each label of one of the
    tasks, by default of any, is there once.
    """
    known = [task for task in tasks or TASKS.values() if task.labels]
    for task in known:
        if order := task.read_order(names):
            return task, order
    several = [f"each of {', '.join(known[0].labels)} once"]
    several += [" and ".join(task.labels) for task in known[1:]]
    raise LabelError(f"{', '.join(names)!r} is no order of labels: {', or '.join(several)}")


def read_labels(text: str, task: Task | None = None) -> tuple[Label, ...] | None:
    """Read labels with commas between them; None where there are none, GUESS of `guess`.

    They are of a task, or of another that asks about the same texts; of any where none is given.
    Raises LabelError, also where the labels of several tasks are spelt so.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        return None
    if tuple(names) == GUESS:
        return GUESS
    if task and not task.labels:
        raise LabelError(f"{task.title.lower()} is answered with spans, so it has no labels")
    alike = [each for each in TASKS.values() if task is None or each.example is task.example]
    known = [each for each in alike if each.read_order(names)]
    if len({each.example for each in known}) > 1:
        tasks = " and of ".join(each.name for each in known)
        raise LabelError(f"{', '.join(names)!r} may be labels of {tasks}; name the task")
    return read_outputs(names, known or alike)[1]


def task_of_example(example: Example) -> Task:
    """Return the first task whose examples are of this dataclass. Raises LabelError."""
    task = next((task for task in TASKS.values() if isinstance(example, task.example)), None)
    if task is None:
        raise LabelError(f"no task has examples of the kind {type(example).__name__}")
    return task


def common_task(tasks: Sequence[Task]) -> Task | None:
    """Return the one of several tasks to which the answers of all can be held, None if none is.

    They read the same fields, and each label of the others counts as one of its own.
    """

    def holds(task: Task, other: Task) -> bool:
        alike = task.fields == other.fields and bool(task.labels and other.labels)
        return task is other or (alike and all(map(task.nearest, other.labels)))

    return next((task for task in tasks if all(holds(task, other) for other in tasks)), None)


def in_common_classes(task: Task, *sets: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
    """Return sets of a task's examples with all gold labels in common, see `Task.in_common`."""
    golds = iter(task.in_common([each.gold for examples in sets for each in examples]))
    return tuple(
        tuple(
            each if each.gold == gold else replace(each, gold=gold)
            for each, gold in zip(examples, islice(golds, len(examples)), strict=True)
        )
        for examples in sets
    )


def example_json(example: Example) -> dict[str, Any]:
    """Return an example as JSON values: every field of its dataclass by name."""
    return asdict(example)


def read_example(task: Task, row: Mapping[str, Any]) -> Example:
    """Read what `example_json` returned; fields that the task's dataclass has not are dropped."""
    known = {name: row[name] for name in (*task.fields, "gold", "id") if name in row}
    example: Example = task.example(**known, **(task.further(row) if task.further else {}))
    return example
