"""What compared rows say of the models: accuracy, F1, agreement, disagreement, and a test.

Where answers are labels, two models are compared by accuracy and McNemar's test; where they are
spans, by F1 and a paired bootstrap. A model is named by its place among the compared ones, from 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from probe.analysis.comparison.paired_bootstrap import RESAMPLES, PairedBootstrap, paired_bootstrap
from probe.analysis.comparison.rows import Row
from probe.first_import import first_import
from probe.metrics import Estimate, mean, share
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


def exact_p(only_first: int, only_second: int) -> float:
    """Return the two-sided p of the discordant counts (McNemar 1947; exact, binomial)."""
    # imported here, as in probe.metrics
    with first_import:
        from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

    table = np.array([[0, only_first], [only_second, 0]])  # the concordant do not count
    return float(statsmodels_mcnemar(table, exact=True).pvalue)


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


def p_text(p: float) -> str:
    """Write a p value with three decimals."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
