"""What compared rows say of the models: accuracy, agreement, disagreement, McNemar's test.

A model is named by its place among the compared ones, from 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from probe.analysis.comparison import Row
from probe.metrics import Estimate, share
from probe.tasks.nli import ENTAILMENT, LABELS, NON_ENTAILMENT
from probe.tasks.task import Label

SURE = 0.05


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
    found = [row.right(model) for row in rows]
    return share([bool(hit) for hit in found if hit is not None])


def entailed_and_not(rows: Sequence[Row], model: int) -> tuple[Estimate, Estimate]:
    """Return the accuracy over entailed pairs and over the others, in two classes as HANS."""
    folded = in_two_classes(rows)
    return (
        accuracy([row for row in folded if row.gold == ENTAILMENT], model),
        accuracy([row for row in folded if row.gold != ENTAILMENT], model),
    )


def in_two_classes(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with a gold label, neutral and contradiction as non-entailment."""
    return [
        row
        if row.pair.gold == ENTAILMENT
        else replace(row, pair=replace(row.pair, gold=NON_ENTAILMENT))
        for row in rows
        if row.pair and row.pair.gold
    ]


def agreement(rows: Sequence[Row], first: int, second: int) -> Estimate:
    """Return the share of pairs of which both models say the same, gold label or not.

    Where one of them tells only two classes, two are compared.
    """
    return share([_same(row, first, second) for row in rows if row.predictions])


def _same(row: Row, first: int, second: int) -> bool:
    a, b = row.predictions[first], row.predictions[second]
    if a.labels == b.labels:
        return a.label == b.label
    return (a.label == ENTAILMENT) == (b.label == ENTAILMENT)


def labels_of(rows: Sequence[Row], model: int) -> tuple[Label, ...]:
    """Return the labels a model chooses among, in our order."""
    said = next((row.predictions[model] for row in rows if row.predictions), None)
    return said.labels if said else LABELS


def disagreement(rows: Sequence[Row], first: int, second: int) -> Mapping[tuple[str, str], Cell]:
    """Count the pairs by what the first model and the second say; every cell is there."""
    found: dict[tuple[str, str], list[Row]] = {
        (a, b): [] for a in labels_of(rows, first) for b in labels_of(rows, second)
    }
    for row in rows:
        if row.predictions:
            found[_said(row, first), _said(row, second)].append(row)
    return {said: _cell(group, first, second) for said, group in found.items()}


def members(rows: Sequence[Row], first: int, second: int, said: tuple[str, str]) -> list[Row]:
    """Return the rows of one cell of `disagreement`."""
    return [
        row for row in rows if row.predictions and (_said(row, first), _said(row, second)) == said
    ]


def _said(row: Row, model: int) -> str:
    return str(row.predictions[model].label)


def _cell(rows: Sequence[Row], first: int, second: int) -> Cell:
    outcomes = [(row.right(first), row.right(second)) for row in rows]
    quarters = ((True, True), (True, False), (False, True), (False, False))
    return Cell(len(rows), *(outcomes.count(quarter) for quarter in quarters))


def mcnemar(rows: Sequence[Row], first: int, second: int) -> McNemar:
    """Test whether two models differ in accuracy (McNemar 1947; exact, binomial)."""
    cell = _cell([row for row in rows if row.right(first) is not None], first, second)
    if not cell.n:
        return McNemar(0, 0, 0, float("nan"))
    table = np.array([[cell.both, cell.only_first], [cell.only_second, cell.neither]])
    p = float(statsmodels_mcnemar(table, exact=True).pvalue)
    return McNemar(cell.n, cell.only_first, cell.only_second, p)


def in_words(found: McNemar, first: str, second: str) -> str:
    """Say what a test means."""
    if not found.n:
        return f"{first} and {second} cannot be tested: there are no gold labels."
    if not found.only_first + found.only_second:
        return f"{first} and {second} are right on the same of the {found.n:,} pairs: no test."
    counts = (
        f"Of {found.n:,} pairs {first} alone is right on {found.only_first:,}, "
        f"{second} alone on {found.only_second:,}"
    )
    verdict = (
        "chance alone would seldom make them differ so much"
        if found.p < SURE
        else "these pairs do not tell the two apart"
    )
    return f"{counts}. Exact McNemar test: {p_text(found.p)}; {verdict}."


def p_text(p: float) -> str:
    """Write a p value with three decimals."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
