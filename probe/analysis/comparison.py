"""Examples and what each of several models says of them, chunk by chunk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from probe.analysis.batch import Chunk, in_chunks
from probe.data.rows import Columns, InputRow, Source, is_missing, read_rows, require_text
from probe.errors import ComparisonError, ExampleError
from probe.models.classifier import Model, Precision, Prediction, predict_each
from probe.statistics import (
    MAX_P,
    RESAMPLES,
    Estimate,
    PairedBootstrap,
    exact_p,
    mean,
    p_text,
    paired_bootstrap,
    share,
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

HEURISTIC = "heuristic"
"""The column of `python -m probe templates hans` that names the heuristic a pair was made for."""


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
    task = held_to(models)
    rows = [as_row(number, task, example) for number, example in enumerate(examples)]
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
        return list(_answered(models, [replace(row, task=task) for row in part], precision))

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
        chosen = f"; chosen: {names[0]}" if names else ""
        raise ComparisonError(f"choose two models or more to compare{chosen}")
    require_different(names)


def require_different(names: Sequence[str]) -> None:
    """Refuse the same model twice. Raises ComparisonError."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ComparisonError(f"the model {twice!r} is named twice; choose different models")


def _answered(models: Sequence[Model], rows: Sequence[Row], precision: Precision) -> Iterator[Row]:
    """Run one model after the other over the rows, each in batches of like length.

    A row that one of them cannot read has its reason in place of answers.
    """
    examples = [row.example for row in rows if row.example]
    answers = zip(*(predict_each(model, examples, precision) for model in models), strict=True)
    for row in rows:
        if row.example:
            several = next(answers)
            refused = next((each for each in several if isinstance(each, ExampleError)), None)
            given = tuple(each for each in several if not isinstance(each, ExampleError))
            if refused:
                yield Row(row.number, row.task, error=str(refused))
                continue
            cut = tuple(model.too_long(row.example) for model in models)
            row = replace(row, predictions=given, cut=cut)
        yield row


def as_row(number: int, task: Task, example: Example) -> Row:
    """Return a row to be answered, or its reason where a field has no text."""
    try:
        require_text(task, example)
    except ExampleError as problem:
        return Row(number, task, error=str(problem))
    return Row(number, task, example)


def read(table: Source, columns: Columns, task: Task) -> list[Row]:
    """Read a table's rows, pairs with the heuristic they were made for where a column says.

    Raises FileError for a missing column.
    """
    rows = ((row, row.record.cells.get(HEURISTIC)) for row in read_rows(table, columns, task))
    return [_unanswered(row, task, "" if is_missing(said) else str(said)) for row, said in rows]


def _unanswered(row: InputRow, task: Task, heuristic: str) -> Row:
    example = row.example
    if heuristic and isinstance(example, Pair):
        example = TemplatePair(**example_json(example), heuristic=heuristic)
    return Row(row.number, task, example, error=row.error)


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


@dataclass(frozen=True)
class McNemar:
    """McNemar's exact test of two models on the same `n` pairs with a gold label.

    `only_first` and `only_second` are the discordant counts b and c: pairs that only one model
    gets right. `p` is two-sided, from the binomial distribution; NaN where n is 0.
    """

    n: int
    only_first: int
    only_second: int
    p: float

    @property
    def discordant(self) -> int:
        """On how many pairs only one model is right."""
        return self.only_first + self.only_second


Test = McNemar | PairedBootstrap
"""Whether two models differ on the same examples."""


def accuracy(rows: Sequence[Row], model: int) -> Estimate:
    """Return the share of gold labels that a model meets, with Wilson's interval.

    Of spans it is their exact match.
    """
    hits = [row.right(model) for row in rows]
    return share([hit for hit in hits if hit is not None])


def f1(rows: Sequence[Row], model: int) -> Estimate:
    """Return the mean F1 of a model's spans over the rows with a gold answer."""
    values = [row.f1(model) for row in rows]
    return mean([value for value in values if value is not None])


def score(rows: Sequence[Row], model: int) -> Estimate:
    """Return what models are compared by: F1 where answers are spans, else accuracy."""
    return f1(rows, model) if any(row.task.has_spans for row in rows) else accuracy(rows, model)


def parts_of(task: Task) -> dict[str, Group]:
    """Return the gold labels that are reported apart: the task's groups, else each label's own."""
    alone = {label: _alone(label) for label in task.labels}
    return dict(task.groups) or alone


def _alone(label: Label) -> Group:
    told = f"How often an example whose gold label is {label} is called that."
    return Group(frozenset({label}), label, f"Accuracy, {label}", told)


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
    return share([_same(row, first, second) for row in rows if row.predictions])


def _same(row: Row, first: int, second: int) -> bool:
    return same_answer(row.task, row.predictions[first].label, row.predictions[second].label)


def same_answer(task: Task, first: Label, second: Label) -> bool:
    """Whether two labels are the same answer to the task that all models are held to."""
    if task.labels:
        return (task.nearest(first) or first) == (task.nearest(second) or second)
    return task.agrees(first, second)


def differing(rows: Sequence[Row], first: int, second: int) -> list[Row]:
    """Return the rows of which two models say different things."""
    return [row for row in rows if row.predictions and not _same(row, first, second)]


def agreeing(rows: Sequence[Row], first: int, second: int) -> list[Row]:
    """Return the rows of which two models say the same."""
    return [row for row in rows if row.predictions and _same(row, first, second)]


def labels_of(rows: Sequence[Row], model: int) -> tuple[Label, ...]:
    """Return the labels a model chooses among, in their order; none where it answers with spans."""
    answered = next((row for row in rows if row.predictions), None)
    if answered is None:
        return rows[0].task.labels if rows else ()
    return answered.predictions[model].labels if answered.task.labels else ()


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


def mcnemar(rows: Sequence[Row], first: int, second: int) -> McNemar:
    """Test whether two models differ in accuracy."""
    cell = outcomes([row for row in rows if row.right(first) is not None], first, second)
    if not cell.n:
        return McNemar(0, 0, 0, float("nan"))
    p = exact_p(cell.only_first, cell.only_second)
    return McNemar(cell.n, cell.only_first, cell.only_second, p)


def bootstrap(rows: Sequence[Row], first: int, second: int) -> PairedBootstrap:
    """Test whether two models differ in F1 over the rows with a gold answer."""
    pairs = [(row.f1(first), row.f1(second)) for row in rows]
    return paired_bootstrap([a - b for a, b in pairs if a is not None and b is not None])


def significance(rows: Sequence[Row], first: int, second: int) -> Test:
    """Test whether two models differ, in F1 where answers are spans, else in accuracy."""
    spans = any(row.task.has_spans for row in rows)
    return bootstrap(rows, first, second) if spans else mcnemar(rows, first, second)


def in_words(test: Test, first: str, second: str, unit: str = "pair") -> str:
    """Say what a test means; `unit` is what the task calls an example."""
    if isinstance(test, PairedBootstrap):
        return _bootstrap_words(test, first, second, unit)
    return _mcnemar_words(test, first, second, unit)


def _mcnemar_words(test: McNemar, first: str, second: str, unit: str) -> str:
    if not test.n:
        return f"{first} and {second} cannot be tested: there are no gold labels."
    if not test.discordant:
        return f"{first} and {second} are right on the same of the {test.n:,} {unit}s: no test."
    counts = (
        f"Of {test.n:,} {unit}s {first} alone is right on {test.only_first:,}, "
        f"{second} alone on {test.only_second:,}"
    )
    return f"{counts}. Exact McNemar test: {_verdict(test.p, unit)}"


def _bootstrap_words(test: PairedBootstrap, first: str, second: str, unit: str) -> str:
    if not test.n:
        return f"{first} and {second} cannot be tested: there are no right answers to compare with."
    if not test.discordant:
        return f"{first} and {second} have the same F1 on each of the {test.n:,} {unit}s: no test."
    if test.difference < 0:
        return _bootstrap_words(test.turned_round, second, first, unit)
    return (
        f"The F1 of {first} is {100 * test.difference:.1f} points above that of {second} "
        f"(95 % interval {_signed(test.low)} to {_signed(test.high)}), higher on "
        f"{test.first_higher:,} of {test.n:,} {unit}s, lower on {test.second_higher:,}. "
        f"Paired bootstrap with {RESAMPLES:,} resamples: {_verdict(test.p, unit)}"
    )


def _signed(share: float) -> str:
    """Write points with a proper minus, and 0 without one."""
    return f"{100 * share:.1f}".replace("-0.0", "0.0").replace("-", "\N{MINUS SIGN}")


def _verdict(p: float, unit: str) -> str:
    told = (
        "chance alone would seldom make them differ so much"
        if p < MAX_P
        else f"these {unit}s do not tell the two apart"
    )
    return f"{p_text(p)}; {told}."
