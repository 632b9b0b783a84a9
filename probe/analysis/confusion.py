"""What is called what: counts by gold label and answer, and precision, recall and F1 of each class.

Recall of a class is its accuracy. The macro F1 is the mean over the classes that are a gold label
or an answer, as scikit-learn has it; that a text is invalid is an answer and no class.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probe.statistics import NOTHING, RESAMPLES, SEED, Estimate, wilson
from probe.tasks.task import INVALID, TASKS, TOLD_APART, Label, Task, common_task

Counts = Mapping[tuple[Label, Label], int]
"""How many examples have a gold label and an answer."""


@dataclass(frozen=True)
class OfClass:
    """A class: the shares of its examples that are called so, and of those called so that are."""

    label: Label
    recall: Estimate
    precision: Estimate
    f1: float


@dataclass(frozen=True)
class Confusion:
    """Counts by gold label and answer, each in the task's order, and what they come to.

    The macro F1 has the interval of a bootstrap of the examples. It and the classes are of two
    where a gold label merges two; where others tell these apart there are none.
    """

    golds: tuple[Label, ...]
    answers: tuple[Label, ...]
    counts: Counts
    classes: tuple[OfClass, ...] = ()
    macro_f1: Estimate = NOTHING

    def of(self, gold: Label, answer: Label) -> int:
        """Return a count."""
        return self.counts.get((gold, answer), 0)


def confusion(task: Task, told: Iterable[tuple[Label, Label]] | Counts) -> Confusion | None:
    """Count gold labels and answers; None without any, and where answers are spans."""
    counts = Counter(told)
    if not task.labels or not counts.total():
        return None
    return _measured(task, tuple(sorted(counts.items())))


@lru_cache(maxsize=256)  # a page asks again for the same answers
def _measured(task: Task, items: tuple[tuple[tuple[Label, Label], int], ...]) -> Confusion:
    counts = dict(items)
    known = {gold for gold, _ in counts}
    golds = tuple(label for label in dict.fromkeys((*task.labels, *task.golds)) if label in known)
    said = {answer for _, answer in counts}
    answers = (*task.labels, *sorted(said - {*task.labels}))
    merged = task.merges(golds)
    if merged and any(task.gold_kind(gold) == TOLD_APART for gold in golds):
        return Confusion(golds, answers, counts)
    held = next(
        (each for each in TASKS.values() if merged in each.labels
         and common_task([task, each]) is each),
        task,
    )  # fmt: skip
    labels = held.labels
    # (gold, answer), the last column of answers that are no class
    cells = np.zeros((len(labels), len(labels) + 1), dtype=np.int64)
    for (gold, answer), count in counts.items():
        row = labels.index(held.nearest(gold) or gold)
        own = None if answer == INVALID else held.nearest(answer)
        cells[row, labels.index(own) if own else -1] += count
    right, given, called = np.diag(cells), cells.sum(axis=1), cells[:, :-1].sum(axis=0)
    f1s = _f1s(cells)
    classes = tuple(
        OfClass(label, wilson(right[at], int(given[at])), wilson(right[at], int(called[at])),
                float(f1s[at]))
        for at, label in enumerate(labels)
    )  # fmt: skip
    n = int(cells.sum())
    drawn = np.random.default_rng(SEED).multinomial(n, cells.ravel() / n, RESAMPLES)
    means = np.nanmean(_f1s(drawn.reshape(-1, *cells.shape)), axis=-1)
    low, high = np.percentile(means, (2.5, 97.5))
    macro = Estimate(float(np.nanmean(f1s)), float(low), float(high), n)
    return Confusion(golds, answers, counts, classes, macro)


def _f1s(cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the F1 of each class, NaN of one that is neither a gold label nor an answer.

    # (..., gold, answer and one more) -> (..., gold)
    """
    square = cells[..., :-1]
    right = np.diagonal(square, axis1=-2, axis2=-1)
    both = cells.sum(axis=-1) + square.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        f1s: NDArray[np.float64] = 2 * right / both
    return f1s


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON values, null where n is 0."""
    known = vars(estimate) if estimate.n else dict.fromkeys(("value", "low", "high"))
    return {"n": estimate.n, **known}


def confusion_json(found: Confusion | None) -> dict[str, Any]:  # Any: JSON
    """Return confusion, macro_f1 and classes, nothing where there is none.

    confusion: {gold, answer, n} for each two. classes: {recall, precision, f1} by label.
    """
    if found is None:
        return {}
    return {
        "confusion": [
            {"gold": gold, "answer": answer, "n": found.of(gold, answer)}
            for gold in found.golds
            for answer in found.answers
        ],
        "macro_f1": estimate_json(found.macro_f1),
        "classes": {
            each.label: {
                "recall": estimate_json(each.recall),
                "precision": estimate_json(each.precision),
                "f1": None if math.isnan(each.f1) else each.f1,
            }
            for each in found.classes
        },
    }
