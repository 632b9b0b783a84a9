"""What compared rows say of the models: accuracy, agreement, disagreement, McNemar's test.

A model is named by its place among the compared ones, from 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from probe.analysis.comparison import Row
from probe.first_import import first_import
from probe.metrics import Estimate, share
from probe.tasks.task import Group, Label, Task

MAX_P = 0.05  # below which a difference is called one


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


def accuracy(rows: Sequence[Row], model: int) -> Estimate:
    """Return the share of gold labels that a model meets, with Wilson's interval."""
    hits = [row.right(model) for row in rows]
    return share([hit for hit in hits if hit is not None])


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
    return {answers: _cell(group, first, second) for answers, group in cells.items()}


def members(rows: Sequence[Row], first: int, second: int, answers: tuple[str, str]) -> list[Row]:
    """Return the rows of one cell of `disagreement`."""
    return [row for row in rows if row.predictions and _answers(row, first, second) == answers]


def _answers(row: Row, first: int, second: int) -> tuple[Label, Label]:
    return row.predictions[first].label, row.predictions[second].label


def _cell(rows: Sequence[Row], first: int, second: int) -> Cell:
    outcomes = [(row.right(first), row.right(second)) for row in rows]
    quarters = ((True, True), (True, False), (False, True), (False, False))
    return Cell(len(rows), *(outcomes.count(quarter) for quarter in quarters))


def mcnemar(rows: Sequence[Row], first: int, second: int) -> McNemar:
    """Test whether two models differ in accuracy (McNemar 1947; exact, binomial)."""
    # imported here, as in probe.metrics
    with first_import:
        from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

    cell = _cell([row for row in rows if row.right(first) is not None], first, second)
    if not cell.n:
        return McNemar(0, 0, 0, float("nan"))
    table = np.array([[cell.both, cell.only_first], [cell.only_second, cell.neither]])
    p = float(statsmodels_mcnemar(table, exact=True).pvalue)
    return McNemar(cell.n, cell.only_first, cell.only_second, p)


def in_words(test: McNemar, first: str, second: str) -> str:
    """Say what a test means."""
    if not test.n:
        return f"{first} and {second} cannot be tested: there are no gold labels."
    if not test.only_first + test.only_second:
        return f"{first} and {second} are right on the same of the {test.n:,} pairs: no test."
    counts = (
        f"Of {test.n:,} pairs {first} alone is right on {test.only_first:,}, "
        f"{second} alone on {test.only_second:,}"
    )
    verdict = (
        "chance alone would seldom make them differ so much"
        if test.p < MAX_P
        else "these pairs do not tell the two apart"
    )
    return f"{counts}. Exact McNemar test: {p_text(test.p)}; {verdict}."


def p_text(p: float) -> str:
    """Write a p value with three decimals."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
