"""What a comparison means, in a sentence or two."""

from collections.abc import Sequence
from itertools import pairwise

from probe.analysis.comparison.rows import Row, has_mixed_golds
from probe.analysis.comparison.slice_table import inference
from probe.analysis.comparison.slices import ALL, Measured, measure
from probe.analysis.comparison.statistics import MAX_P, agreement, p_text, score, significance
from probe.metrics import FEWEST
from probe.models.bundled import title_of
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT
from probe.tasks.task import Task

IN_TWO_CLASSES = (
    " Some gold labels are of two classes and some of three, so all are compared in two: entailed "
    "or not."
)
PARTS = {ALL: "", ENTAILMENT: " and it follows", NON_ENTAILMENT: " and it does not follow"}


def in_a_sentence(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Say which model is better, whether that may be chance, and where all of them fail."""
    scored = [row for row in rows if row.predictions]
    if not scored:
        return "No row could be compared."
    if not any(row.gold for row in scored):
        return _unjudged(scored, names)
    order = sorted(range(len(names)), key=lambda at: -score(scored, at).value)
    against = "; ".join(_against(scored, names, a, b) for a, b in pairwise(order))
    merged = IN_TWO_CLASSES if has_mixed_golds(NLI, scored) else ""
    return f"{against}.{merged}{_weakness(scored, len(names))}"


def _unjudged(rows: Sequence[Row], names: Sequence[str]) -> str:
    same = agreement(rows, 0, 1)
    first, second = title_of(names[0]), title_of(names[1])
    return (
        f"{first} and {second} say the same of {100 * same.value:.0f} % of {same.n:,} "
        f"{rows[0].task.unit}s. There are no {gold_name(rows[0].task)}, so nothing can be called "
        "right."
    )


def gold_name(task: Task) -> str:
    """Return what the task calls what is right."""
    return "right answers to compare with" if task.has_spans else "gold labels"


def _against(rows: Sequence[Row], names: Sequence[str], better: int, other: int) -> str:
    """Compare a model with the next one in the order of accuracy or F1, by the task's test."""
    first, second, task = title_of(names[better]), title_of(names[other]), rows[0].task
    test = significance(rows, better, other)
    shares = [f"{100 * score(rows, at).value:.1f}" for at in (better, other)]
    if not test.discordant:
        same = "equally good on each" if task.has_spans else "right on the same"
        of = f"{task.unit}, F1" if task.has_spans else f"{task.unit}s,"
        return f"{first} and {second} are {same} {of} {shares[0]} %"
    if test.p < MAX_P:
        said, joint = f"{first} is better than {second}", "against"
    else:
        said, joint = f"{first} and {second} cannot be told apart", "and"
    return f"{said} ({_right(task, f' {joint} '.join(shares))}, {p_text(test.p)})"


def _right(task: Task, shares: str) -> str:
    """Say of shares in per cent what they are of."""
    return f"F1 {shares} %" if task.has_spans else f"{shares} % right"


def _weakness(rows: Sequence[Row], models: int) -> str:
    """Say in which slice every model does worst, where it is surely under chance or its own mean.

    Every interval has to end below. The heuristics of HANS are left to their own profile.
    """
    task = rows[0].task
    lines = [one for one in measure(rows) if one.n >= FEWEST and one.slice.fits is not inference]
    means = [score(rows, at).value for at in range(models)]
    guesses = lines if task.labels else []
    guessing = [one for one in guesses if _below(one, [_chance(task, one.gold)] * models)]
    if guessing:
        return f" {_all(models)} right less often than a guess {_where(_worst(guessing))}."
    weak = [one for one in lines if _below(one, means)]
    return f" {_all(models)} weaker {_where(_worst(weak))}." if weak else ""


def _below(line: Measured, bounds: Sequence[float]) -> bool:
    return all(one.high < bound for one, bound in zip(line.scores, bounds, strict=True))


def _chance(task: Task, gold: str) -> float:
    """Return the accuracy of guessing: a part of merged labels is compared in two classes."""
    return 0.5 if gold in PARTS and gold != ALL else 1 / len(task.labels)


def _worst(lines: Sequence[Measured]) -> Measured:
    return min(lines, key=lambda line: max(one.value for one in line.scores))


def _all(models: int) -> str:
    numbers = {2: "Both", 3: "All three", 4: "All four", 5: "All five", 6: "All six"}
    return f"{numbers.get(models, f'All {models}')} are"


def _where(line: Measured) -> str:
    part = PARTS.get(line.gold, f" and the right answer is {line.gold}")
    shares = [f"{100 * one.value:.0f}" for one in line.scores]
    listed = f"{', '.join(shares[:-1])} and {shares[-1]} %"
    return f"where {line.slice.where}{part} ({listed} of {line.n})"
