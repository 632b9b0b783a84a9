"""Runs of repairs with known figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from finetune.trials import calibration as calibration
from finetune.trials import debiasing as debiasing
from finetune.trials import mitigation as mitigation
from finetune.trials import transfer as transfer
from finetune.trials.base import CONTROL, MethodCell, Training
from finetune.trials.calibration import Agreement
from finetune.trials.calibration import Point as CalibrationPoint
from finetune.trials.generalisation import Hits
from finetune.trials.mitigation import Found
from finetune.trials.mitigation import Point as MitigationPoint
from finetune.trials.planning import EXPERIMENTS
from finetune.trials.transfer import Point as TransferPoint
from probe.runs.run import StoredRun
from probe.statistics import BINS, Bin, Calibration
from tests.support.runs.stored import stored

TRAINING = Training(1e-3)
CALIBRATION_PLAN = calibration.Plan("minilm", TRAINING, ("temperature", "smoothing"), seeds=(0,))
MITIGATION_PLAN = mitigation.Plan("minilm", TRAINING, ("invalid", "entropic", "threshold"))
TRANSFER_PLAN = transfer.Plan("minilm", TRAINING, ("sort", "drop"), seeds=(0,))
DEBIASING_PLAN = debiasing.Plan("minilm", TRAINING, ("poe", CONTROL), (100,), (0, 1))
TESTS = 200
"""Broken texts of each kind."""


def bins(n: int, confidence: float, accuracy: float) -> tuple[Bin, ...]:
    """Return the bins of n answers that are all in the last."""
    empty = [Bin(at / BINS, (at + 1) / BINS, 0, 0.0, 0.0) for at in range(BINS - 1)]
    return (*empty, Bin(14 / BINS, 1.0, n, confidence, accuracy))


def calibrated(
    cell: calibration.Cell, ece: float, stay: int = 180, temperature: float = 1.0
) -> CalibrationPoint:
    """Return a point whose confidence is off by so much; so many of 200 answers stay."""
    measured = Calibration(600, 0.75, 0.75 + ece, ece, 0.3, 0.6, bins(600, 0.97, 0.75))
    salad = {name: Agreement(stay, TESTS, 0.9) for name in ("sort", "drop")}
    return CalibrationPoint(cell, measured, salad, temperature, 3, 2.0)


CALIBRATED = (
    calibrated(calibration.BASE, 0.11),
    calibrated(calibration.Cell("temperature", 0, 0), 0.02, temperature=1.7),
    calibrated(calibration.Cell("smoothing", 1000, 0), 0.05, stay=170),
)


def mitigated(
    cell: mitigation.Cell, right: int, sort: int, drop: int, commonest: float = 0.4
) -> MitigationPoint:
    """Return a point: so many of 500 whole texts are right, of 200 broken ones found."""
    found = {"sort": Found(sort, TESTS), "drop": Found(drop, TESTS)}
    salad = {name: Agreement(each.n - each.count, each.n, 0.6) for name, each in found.items()}
    return MitigationPoint(
        cell, Found(right, 500), Found(10, 500), found, commonest, 0.36, 0.4, 1.7, 3, 3.0, salad
    )


MITIGATED = (
    mitigated(mitigation.BASE, 374, 0, 0),
    mitigated(mitigation.Cell("threshold", 0, 0), 370, 50, 30),
    *(mitigated(mitigation.Cell("invalid", 1000, seed), 371, 190, 186) for seed in (0, 1)),
    *(mitigated(mitigation.Cell("entropic", 1000, seed), 360, 180, 170) for seed in (0, 1)),
)


def transferred(lesson: transfer.Lesson, name: str, right: int, **found: int) -> TransferPoint:
    """Return a point: so many of 500 whole texts are right, of 200 broken ones found."""
    counts = {each: Found(count, TESTS) for each, count in found.items()}
    return TransferPoint(transfer.Cell(lesson, name, 1000, 0), Found(right, 500), counts, 3, 4.0)


TRANSFERRED = (
    transferred("one", "sort", 370, sort=194, drop=110),
    transferred("one", "drop", 365, sort=102, drop=190),
    transferred("clean_only", "", 350),
    transferred("salad_only", "shuffle", 325),
)


def debiased(
    method: str, size: int, seed: int, hans: tuple[int, int], original: int
) -> debiasing.Point:
    """Return a point: so many of 100 entailed, of 100 other pairs of HANS and of originals."""
    labels = ("entailment", "non-entailment")
    told = {at: dict(zip(labels, (Hits(n // 4, 25) for n in hans), strict=True)) for at in "abcd"}
    whole = {at: {"neutral": Hits(original // 4, 25)} for at in "abcd"}
    knows = Found(60, 100) if method in debiasing.AGAINST_WEAK else Found(0, 0)
    clusters = {debiasing.ORIGINAL: whole, "templates_hans": told}
    majority = replace(knows, count=40 * bool(knows.n))
    return debiasing.Point(MethodCell(method, size, seed), clusters, knows, majority, 3, 2.0)


DEBIASED = (
    debiased("baseline", 0, 0, (96, 8), 80),
    *(debiased("poe", 100, seed, (88, 60), 76) for seed in (0, 1)),
    *(debiased(CONTROL, 100, seed, (96, 12), 80) for seed in (0, 1)),
)


def calibration_run(
    points: Sequence[CalibrationPoint] = CALIBRATED,
    plan: calibration.Plan = CALIBRATION_PLAN,
    **fields: Any,
) -> StoredRun:
    """Return a calibration of these points, judged if there are enough."""
    return _judged(stored(calibration.TRIALS, plan, points), fields)


def mitigation_run(
    points: Sequence[MitigationPoint] = MITIGATED,
    plan: mitigation.Plan = MITIGATION_PLAN,
    **fields: Any,
) -> StoredRun:
    """Return a mitigation of these points, judged if there are enough."""
    return _judged(stored(mitigation.TRIALS, plan, points), fields)


def transfer_run(
    points: Sequence[TransferPoint] = TRANSFERRED,
    plan: transfer.Plan = TRANSFER_PLAN,
    **fields: Any,
) -> StoredRun:
    """Return a transfer of these points, judged if there are enough."""
    return _judged(stored(transfer.TRIALS, plan, points), fields)


def debiasing_run(
    points: Sequence[debiasing.Point] = DEBIASED,
    plan: debiasing.Plan = DEBIASING_PLAN,
    **fields: Any,
) -> StoredRun:
    """Return a debiasing of these points, judged if there are enough."""
    return _judged(stored(debiasing.TRIALS, plan, points), fields)


def _judged(run: StoredRun, fields: Mapping[str, Any]) -> StoredRun:
    return replace(run, verdict=EXPERIMENTS[run.kind].conclude(run, {}) or {}, **fields)
