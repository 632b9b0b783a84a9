"""Adversarial variants of questions: of each question the worst one counts (Jia and Liang 2017)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from probe.analysis.batch import Row
from probe.data.questions import ADVERSARIAL, BASE, is_adversarial
from probe.data.tables import Table, is_missing
from probe.metrics import mean

Scored = tuple[bool, Mapping[str, float]]
"""Whether a row is adversarial, and its exact match and F1."""


def variants_json(table: Table, rows: Sequence[Row]) -> dict[str, Any]:  # Any: JSON
    """Return what the variants of questions come to, nothing for a table without `base_id`.

    `adversarial_f1` is the mean over the questions of the lowest F1 of their adversarial variants,
    of the original where there are none (as the code of Jia and Liang counts; the rows without
    `adversarial` count as such), `worst_f1` that of the lowest of all, the original included (as
    their paper can be read), and `original_f1` that of the originals. A figure that no row is
    counted for is left out.
    """
    questions = _questions(table, rows)
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


def _questions(table: Table, rows: Sequence[Row]) -> dict[str, list[Scored]]:
    """Return the scored rows of each question."""
    if BASE not in table.frame:
        return {}
    bases = table.frame[BASE].tolist()
    kinds = table.frame[ADVERSARIAL].tolist() if ADVERSARIAL in table.frame else [True] * len(bases)
    questions: dict[str, list[Scored]] = {}
    for row in rows:
        if row.prediction is None or row.f1 is None or is_missing(bases[row.number]):
            continue
        scores = {"em": float(bool(row.right)), "f1": row.f1}
        scored = is_adversarial(kinds[row.number]), scores
        questions.setdefault(str(bases[row.number]), []).append(scored)
    return questions


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
