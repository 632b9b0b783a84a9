"""Adversarial variants of questions: of each question the worst one counts (Jia and Liang 2017)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from probe.analysis.batch import Row
from probe.data.missing import is_missing
from probe.data.questions import ADVERSARIAL, BASE, is_adversarial
from probe.metrics import mean

VariantScore = Sequence[Any]  # Any: JSON
"""A question's name, whether the variant is adversarial, its exact match and its F1."""
Scored = tuple[bool, Mapping[str, float]]
"""Whether a row is adversarial, and its exact match and F1."""


def variant_scores(rows: Iterable[Row]) -> Iterator[VariantScore]:
    """Yield what counts of each scored row whose file names the question that it is a variant of.

    The rows of a file without `adversarial` count as adversarial.
    """
    for row in rows:
        base = row.record.cells.get(BASE)
        if row.prediction is None or row.f1 is None or is_missing(base):
            continue
        adversarial = is_adversarial(row.record.cells.get(ADVERSARIAL, True))
        yield str(base), adversarial, float(bool(row.right)), row.f1


def variants_json(scores: Iterable[VariantScore]) -> dict[str, Any]:  # Any: JSON
    """Return what the variants of questions come to, nothing where there are none.

    `adversarial_f1` is the mean over the questions of the lowest F1 of their adversarial variants,
    of the original where there are none (as the code of Jia and Liang counts), `worst_f1` that of
    the lowest of all, the original included (as their paper can be read), and `original_f1` that of
    the originals. A figure that no row is counted for is left out.
    """
    questions: dict[str, list[Scored]] = {}
    for base, adversarial, em, f1 in scores:
        questions.setdefault(base, []).append((adversarial, {"em": em, "f1": f1}))
    if not questions:
        return {}
    return {
        "questions": len(questions),
        "variants_each": fmean(len(same) for same in questions.values()),
        **{
            f"{name}_{measure}": asdict(mean(values))
            for name, chosen in CHOSEN.items()
            for measure in ("em", "f1")
            if (values := _over(questions, measure, chosen))
        },
    }


def _originals(same: Sequence[Scored]) -> list[Scored]:
    return [row for row in same if not row[0]]


def _adversarial(same: Sequence[Scored]) -> list[Scored]:
    return [row for row in same if row[0]] or list(same)


CHOSEN: Mapping[str, Callable[[Sequence[Scored]], Sequence[Scored]]] = {
    "original": _originals,
    "adversarial": _adversarial,
    "worst": list,
}


def _over(
    questions: Mapping[str, Sequence[Scored]],
    measure: str,
    chosen: Callable[[Sequence[Scored]], Sequence[Scored]],
) -> list[float]:
    """Return for each question that has such rows the lowest value of a measure over them."""
    counted = [chosen(same) for same in questions.values()]
    return [min(scores[measure] for _, scores in same) for same in counted if same]
