"""What a comparison means, in a sentence or two."""

from collections.abc import Sequence
from itertools import pairwise

from probe.analysis.comparison import Row
from probe.analysis.slices import ALL, Measured, inference, measure
from probe.analysis.statistics import MAX_P, accuracy, agreement, mcnemar, p_text
from probe.models.bundled import title_of
from probe.tasks.nli import ENTAILMENT, NON_ENTAILMENT
from probe.tasks.task import Task

MIN_ROWS = 20
"""Examples of a slice from which a sentence speaks of it."""
PARTS = {ALL: "", ENTAILMENT: " and it follows", NON_ENTAILMENT: " and it does not follow"}


def in_a_sentence(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Say which model is better, whether that may be chance, and where all of them fail."""
    scored = [row for row in rows if row.predictions]
    if not scored:
        return "No row could be compared."
    if not any(row.gold for row in scored):
        return _unjudged(scored, names)
    order = sorted(range(len(names)), key=lambda at: -accuracy(scored, at).value)
    against = "; ".join(_against(scored, names, a, b) for a, b in pairwise(order))
    return f"{against}.{_weakness(scored, len(names))}"


def _unjudged(rows: Sequence[Row], names: Sequence[str]) -> str:
    same = agreement(rows, 0, 1)
    first, second = title_of(names[0]), title_of(names[1])
    return (
        f"{first} and {second} say the same of {100 * same.value:.0f} % of {same.n:,} "
        f"{rows[0].task.unit}s. There are no gold labels, so nothing can be called right."
    )


def _against(rows: Sequence[Row], names: Sequence[str], better: int, other: int) -> str:
    """Compare a model with the next one in the order of accuracy, by McNemar's test."""
    first, second = title_of(names[better]), title_of(names[other])
    test = mcnemar(rows, better, other)
    shares = [f"{100 * accuracy(rows, at).value:.1f}" for at in (better, other)]
    if not test.only_first + test.only_second:
        return f"{first} and {second} are right on the same {rows[0].task.unit}s, {shares[0]} %"
    if test.p < MAX_P:
        return (
            f"{first} is better than {second} "
            f"({shares[0]} against {shares[1]} % right, {p_text(test.p)})"
        )
    return (
        f"{first} and {second} cannot be told apart "
        f"({shares[0]} and {shares[1]} % right, {p_text(test.p)})"
    )


def _weakness(rows: Sequence[Row], models: int) -> str:
    """Say in which slice every model does worst, where it is surely under chance or its own mean.

    Every interval has to end below. The heuristics of HANS are left to their own profile.
    """
    task = rows[0].task
    lines = [one for one in measure(rows) if one.n >= MIN_ROWS and one.slice.fits is not inference]
    means = [accuracy(rows, at).value for at in range(models)]
    guessing = [one for one in lines if _below(one, [_chance(task, one.gold)] * models)]
    if guessing:
        return f" {_all(models)} right less often than a guess {_where(_worst(guessing))}."
    weak = [one for one in lines if _below(one, means)]
    return f" {_all(models)} weaker {_where(_worst(weak))}." if weak else ""


def _below(line: Measured, bounds: Sequence[float]) -> bool:
    return all(one.high < bound for one, bound in zip(line.accuracies, bounds, strict=True))


def _chance(task: Task, gold: str) -> float:
    """Return the accuracy of guessing: a part of merged labels is compared in two classes."""
    return 0.5 if gold in PARTS and gold != ALL else 1 / len(task.labels)


def _worst(lines: Sequence[Measured]) -> Measured:
    return min(lines, key=lambda line: max(one.value for one in line.accuracies))


def _all(models: int) -> str:
    numbers = {2: "Both", 3: "All three", 4: "All four", 5: "All five", 6: "All six"}
    return f"{numbers.get(models, f'All {models}')} are"


def _where(line: Measured) -> str:
    part = PARTS.get(line.gold, f" and the right answer is {line.gold}")
    shares = [f"{100 * one.value:.0f}" for one in line.accuracies]
    listed = f"{', '.join(shares[:-1])} and {shares[-1]} %"
    return f"where {line.slice.where}{part} ({listed} of {line.n})"
