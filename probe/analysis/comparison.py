"""Examples and what each of several models says of them, chunk by chunk."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from probe.analysis.batch import Chunk, in_chunks
from probe.analysis.contrast_sets import Keyed
from probe.data.rows import Columns, Source, is_missing, read_rows, require_text
from probe.errors import ComparisonError, ExampleError
from probe.models.classifier import Model, Precision, Prediction, predict_each
from probe.statistics import (
    MAX_P,
    RESAMPLES,
    Estimate,
    PairedTest,
    exact_p,
    mean,
    p_text,
    paired_bootstrap,
    share,
    wilson,
)
from probe.tasks.nli import Pair
from probe.tasks.task import (
    MERGED,
    TASKS,
    TOLD_APART,
    Example,
    Group,
    Label,
    Task,
    common_task,
    example_json,
)
from probe.templates import TemplatePair


@dataclass(frozen=True)
class Row:
    """An example and each model's prediction, in the models' order, or the reason for none.

    `task` is the one to which the answers of all models are held: where one of them merges labels
    it is that one's. `cut` says for each model whether the example was too long for it, so that its
    end was cut.
    """

    number: int
    task: Task
    example: Any = None  # Any: of the task's own dataclass
    predictions: tuple[Prediction, ...] = ()
    error: str = ""
    cut: tuple[bool, ...] = ()

    @property
    def gold(self) -> Label | None:
        """The gold label that all models are held to."""
        gold: Label | None = self.example.gold if self.example else None
        return (self.task.nearest(gold) or gold) if gold else None

    def right(self, model: int) -> bool | None:
        """Whether a model is right, None where there is no gold label or no prediction."""
        if not self.predictions or self.gold is None:
            return None
        return self.task.matches(self.predictions[model].label, self.gold)

    def f1(self, model: int) -> float | None:
        """How much of the gold answer a model gives, None where there is none or it is a label."""
        if not self.predictions or self.gold is None or not self.task.f1:
            return None
        return _f1(self.task, self.predictions[model].label, self.gold)


@lru_cache(maxsize=200_000)  # every slice asks again for the same answers
def _f1(task: Task, answer: Label, gold: Label) -> float:
    return task.f1(answer, gold) if task.f1 else 0.0


def compare(
    models: Sequence[Model], examples: Sequence[Example], precision: Precision = "auto"
) -> Iterator[Chunk[Row]]:
    """Ask every model about every example; whoever drives it may stop after any chunk.

    An example without text gets its reason. Raises ComparisonError at once for fewer than two
    models.
    """
    task, rows = held_to(models), list[Row]()
    for number, example in enumerate(examples):
        try:
            require_text(task, example)
            rows.append(Row(number, task, example))
        except ExampleError as problem:
            rows.append(Row(number, task, error=str(problem)))
    return compare_rows(models, rows, precision)


def compare_rows(
    models: Sequence[Model], rows: Sequence[Row], precision: Precision = "auto"
) -> Iterator[Chunk[Row]]:
    """Do the same with rows of `read`; those with an error pass through.

    Where some gold labels merge what others tell apart, all answers are held to the task that
    merges them.
    """
    task = held_to(models)
    if other := next((row.task for row in rows if row.task.fields != task.fields), None):
        raise ComparisonError(f"the rows are for {other.title}, the models for {task.title}")

    if has_mixed_golds(task, rows):
        task = next(each for each in TASKS.values() if common_task([each, task]) is each != task)

    def answer(part: Sequence[Row]) -> list[Row]:
        """Run one model after the other over the rows, each in batches of like length."""
        asked = [row.example for row in part if row.example]
        answers = zip(*(predict_each(model, asked, precision) for model in models), strict=True)
        answered = []
        for row in part:
            row = replace(row, task=task)
            if row.example:
                several = next(answers)
                refused = [each for each in several if isinstance(each, ExampleError)]
                if refused:  # a row that one of them cannot read has its reason
                    row = Row(row.number, task, error=str(refused[0]))
                else:
                    cut = tuple(model.too_long(row.example) for model in models)
                    row = replace(row, predictions=tuple(several), cut=cut)
            answered.append(row)
        return answered

    return in_chunks(rows, len(rows), answer)


def has_mixed_golds(task: Task, rows: Sequence[Row]) -> bool:
    """Whether some gold labels merge labels of a task that others of them tell apart."""
    golds = {row.example.gold for row in rows if row.example and row.example.gold}
    return {task.gold_kind(gold) for gold in golds} >= {MERGED, TOLD_APART}


def held_to(models: Sequence[Model]) -> Task:
    """Return the task to which all models are held.

    Raises ComparisonError for fewer than two models, the same one twice, and models whose answers
    cannot be compared.
    """
    require_two([model.name for model in models])
    task = common_task([model.task for model in models])
    if task is None:
        titles = dict.fromkeys(f"{model.name}: {model.task.title}" for model in models)
        raise ComparisonError(f"these models answer different tasks: {'; '.join(titles)}")
    return task


def require_two(names: Sequence[str]) -> None:
    """Refuse fewer than two models and the same one twice. Raises ComparisonError."""
    if len(names) < 2:
        chosen = "".join(f"; chosen: {name}" for name in names)
        raise ComparisonError(f"choose two models or more to compare{chosen}")
    require_different(names)


def require_different(names: Sequence[str]) -> None:
    """Refuse the same model twice. Raises ComparisonError."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ComparisonError(f"the model {twice!r} is named twice; choose different models")


def read(table: Source, columns: Columns, task: Task) -> list[Row]:
    """Read a table's rows, pairs with the heuristic they were made for where a column says.

    Raises FileError for a missing column.
    """
    rows = []
    for row in read_rows(table, columns, task):
        example = row.example
        if isinstance(example, Pair):
            example = of_heuristic(example, row.record.cells.get("heuristic"))
        rows.append(Row(row.number, task, example, error=row.error))
    return rows


def of_heuristic(pair: Pair, heuristic: object) -> Pair:
    """Return a pair with the heuristic of HANS that it was made for, where one is told."""
    if not heuristic or is_missing(heuristic):
        return pair
    return TemplatePair(**example_json(pair), heuristic=str(heuristic))


def keyed(rows: Sequence[Row], keys: Sequence[str]) -> Iterator[Keyed]:
    """Yield rows with what joins them to bundles; `keys` are those of the whole file, in order."""
    models = max((len(row.predictions) for row in rows), default=0)
    for row in rows:
        yield Keyed(keys[row.number], row.number + 1, [row.right(at) for at in range(models)])


@dataclass(frozen=True)
class Cell:
    """Pairs of which one model says one thing and the other another; `n` is how many.

    The rest counts those with a gold label: both right, only the first, only the second, neither.
    """

    n: int
    both: int
    only_first: int
    only_second: int
    neither: int


def accuracy(rows: Sequence[Row], model: int) -> Estimate:
    """Return the share of gold labels that a model meets, with Wilson's interval.

    Of spans it is their exact match.
    """
    return share([hit for row in rows if (hit := row.right(model)) is not None])


def f1(rows: Sequence[Row], model: int) -> Estimate:
    """Return the mean F1 of a model's spans over the rows with a gold answer."""
    return mean([value for row in rows if (value := row.f1(model)) is not None])


def score(rows: Sequence[Row], model: int) -> Estimate:
    """Return what models are compared by: F1 where answers are spans, else accuracy."""
    return f1(rows, model) if any(row.task.has_spans for row in rows) else accuracy(rows, model)


def parts_of(task: Task) -> dict[str, Group]:
    """Return the gold labels that are reported apart: the task's groups, else each label's own."""
    told = "How often an example whose gold label is {} is called that."
    return dict(task.groups) or {
        label: Group(frozenset({label}), label, f"Accuracy, {label}", told.format(label))
        for label in task.labels
    }


def group_accuracies(rows: Sequence[Row], model: int) -> dict[str, Estimate]:
    """Return the accuracy over each part of the task: entailed pairs and others, as HANS has."""
    parts = next((parts_of(row.task) for row in rows), {})
    return {name: accuracy(of_group(rows, group), model) for name, group in parts.items()}


def of_group(rows: Sequence[Row], group: Group) -> list[Row]:
    """Return the rows of a group with its own gold label instead of theirs."""
    return [
        replace(row, example=replace(row.example, gold=group.gold))
        for row in rows
        if row.example and row.example.gold in group.golds
    ]


def agreement(rows: Sequence[Row], first: int, second: int) -> Estimate:
    """Return the share of examples of which both models say the same, gold label or not.

    Where one of them merges labels, they are compared by the labels of that one.
    """
    same = len(differing(rows, first, second, agree=True))
    return wilson(same, sum(bool(row.predictions) for row in rows))


def same_answer(task: Task, first: Label, second: Label) -> bool:
    """Whether two labels are the same answer to the task that all models are held to."""
    if task.labels:
        return (task.nearest(first) or first) == (task.nearest(second) or second)
    return task.agrees(first, second)


def differing(rows: Sequence[Row], first: int, second: int, *, agree: bool = False) -> list[Row]:
    """Return the rows of which two models say different things, or with `agree` the same."""
    return [
        row
        for row in rows
        if row.predictions and same_answer(row.task, *_answers(row, first, second)) == agree
    ]


def labels_of(rows: Sequence[Row], model: int) -> tuple[Label, ...]:
    """Return the labels a model chooses among, in their order; none where it answers with spans."""
    for row in rows:
        if row.predictions:
            return row.predictions[model].labels if row.task.labels else ()
    return rows[0].task.labels if rows else ()


def disagreement(rows: Sequence[Row], first: int, second: int) -> Mapping[tuple[str, str], Cell]:
    """Count the pairs by what the first model and the second say; every cell is there."""
    cells: dict[tuple[str, str], list[Row]] = {
        (a, b): [] for a in labels_of(rows, first) for b in labels_of(rows, second)
    }
    for row in rows:
        if row.predictions:
            cells.setdefault(_answers(row, first, second), []).append(row)
    return {answers: outcomes(group, first, second) for answers, group in cells.items()}


def members(rows: Sequence[Row], first: int, second: int, answers: tuple[str, str]) -> list[Row]:
    """Return the rows of one cell of `disagreement`."""
    return [row for row in rows if row.predictions and _answers(row, first, second) == answers]


def _answers(row: Row, first: int, second: int) -> tuple[Label, Label]:
    return row.predictions[first].label, row.predictions[second].label


def outcomes(rows: Sequence[Row], first: int, second: int) -> Cell:
    """Count rows by which of two models is right, all of them as `n`."""
    right = [(row.right(first), row.right(second)) for row in rows]
    quarters = ((True, True), (True, False), (False, True), (False, False))
    return Cell(len(rows), *(right.count(quarter) for quarter in quarters))


def significance(rows: Sequence[Row], first: int, second: int) -> PairedTest:
    """Test whether two models differ: in F1 by a bootstrap where answers are spans, else McNemar's.

    Over the rows with a gold answer.
    """
    if any(row.task.has_spans for row in rows):
        pairs = [(row.f1(first), row.f1(second)) for row in rows]
        return paired_bootstrap([a - b for a, b in pairs if a is not None and b is not None])
    cell = outcomes([row for row in rows if row.right(first) is not None], first, second)
    p = exact_p(cell.only_first, cell.only_second) if cell.n else math.nan
    return PairedTest(cell.n, cell.only_first, cell.only_second, p)


def in_words(test: PairedTest, first: str, second: str, unit: str = "pair") -> str:
    """Say what a test means; `unit` is what the task calls an example."""
    spans, one, other = test.name == "bootstrap", test.first_higher, test.second_higher
    if not test.n:
        lacking = "right answers to compare with" if spans else "right answers"
        return f"{first} and {second} cannot be tested: there are no {lacking}."
    if not test.discordant:
        same = "have the same F1 on each of" if spans else "are right on the same of"
        return f"{first} and {second} {same} the {test.n:,} {unit}s: no test."
    if test.difference < 0:
        return in_words(test.turned_round, second, first, unit)
    if spans:
        low, high = (  # with a proper minus, and 0 without one
            f"{100 * end:.1f}".replace("-0.0", "0.0").replace("-", "\N{MINUS SIGN}")
            for end in (test.low, test.high)
        )
        told = (
            f"The F1 of {first} is {100 * test.difference:.1f} points above that of {second} "
            f"(95 % interval {low} to {high}), higher on {one:,} of {test.n:,} {unit}s, lower on "
            f"{other:,}. Paired bootstrap with {RESAMPLES:,} resamples"
        )
    else:
        told = (
            f"Of {test.n:,} {unit}s {first} alone is right on {one:,}, {second} alone on "
            f"{other:,}. Exact McNemar test"
        )
    tells = "chance alone would seldom make them differ so much"
    if test.p >= MAX_P:
        tells = f"these {unit}s do not tell the two apart"
    return f"{told}: {p_text(test.p)}; {tells}."
