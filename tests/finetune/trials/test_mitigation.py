"""What the trials of a mitigation or a transfer say together, and the threshold search."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finetune.trials import transfer
from finetune.trials.base import Training
from finetune.trials.calibration import BASE as UNCALIBRATED
from finetune.trials.calibration import Cell as Calibrated
from finetune.trials.calibration import Plan as CalibrationPlan
from finetune.trials.calibration import cells as calibration_cells
from finetune.trials.mitigation import (
    BASE,
    Cell,
    Found,
    Plan,
    Point,
    best_threshold,
    cells,
    collapsed,
    conclude,
    grid,
    outcomes,
    quick_cost,
)
from finetune.trials.transfer import matrix, own_and_others
from tests.support.property_settings import STEADY
from tests.support.runs.clean_source import TRAINING

PLAN = Plan("tiny", TRAINING, sizes=(12,), seeds=(0,), tests=6)
CLASS, ENTROPIC = Cell("invalid", 12, 0), Cell("entropic", 12, 0)
SHARES = st.floats(0.34, 1.0)
CLEAN = st.lists(st.tuples(SHARES, st.booleans()), min_size=1, max_size=40)
INVALID = st.lists(SHARES, min_size=1, max_size=40)


def made_point(cell: Cell, clean: int = 8, found: int = 3, commonest: float = 0.5) -> Point:
    """A point of 10 clean and 10 broken texts."""
    return Point(
        cell, Found(clean, 10), Found(1, 10), {"sort": Found(found, 10)}, commonest, 0.4, 0.0,
        1.0, 0, 1.0,
    )  # fmt: skip


def test_cells_are_the_model_as_it_was_what_is_fitted_and_each_training() -> None:
    assert cells(PLAN) == (BASE, Cell("threshold", 0, 0), CLASS, ENTROPIC)
    plan = CalibrationPlan("tiny", TRAINING, sizes=(24,), seeds=(0, 1))
    trained = [Calibrated(name, 24, seed) for name in ("smoothing", "focal") for seed in (0, 1)]
    assert calibration_cells(plan) == (UNCALIBRATED, Calibrated("temperature", 0, 0), *trained)


def test_the_verdict_speaks_of_the_first_method() -> None:
    points = [made_point(BASE, 9, 0), made_point(ENTROPIC, 8, 6), made_point(CLASS, 7, 10)]
    assert conclude(PLAN, points[:2]) is None
    verdict = conclude(PLAN, points)
    assert verdict is not None
    assert (verdict["method"], verdict["clean"], verdict["invalid_found"]) == ("invalid", 0.7, 1.0)
    assert verdict["per_transform"] == {"sort": 1.0}
    assert "loses 20.0 points" in verdict["explanation"]
    assert verdict["warnings"] == []
    (outcome,) = outcomes([made_point(CLASS, 8, 2), made_point(replace(CLASS, seed=1), 6, 6)])
    assert (outcome.clean, outcome.invalid_found) == (pytest.approx(0.7), pytest.approx(0.4))
    assert outcome.seeds == 2


def test_a_model_that_answers_always_the_same_or_rejects_most_is_warned_of() -> None:
    point = made_point(CLASS, commonest=0.96)
    assert collapsed(point) and not collapsed(made_point(CLASS, commonest=0.9))
    assert not collapsed(made_point(BASE, commonest=1.0))  # was not trained
    assert not collapsed(replace(made_point(CLASS, commonest=1.0), gold_commonest=0.97))
    rejecting = replace(made_point(CLASS), rejected=Found(6, 10))
    for after, words in ((point, "the model collapsed"), (rejecting, "60% of whole texts invalid")):
        verdict = conclude(PLAN, [made_point(BASE), after])
        assert verdict is not None
        assert [words in warning for warning in verdict["warnings"]] == [True]


def test_what_quick_training_costs_is_said_where_it_is_paid() -> None:
    quick = Plan("minilm", Training(1e-3), ("invalid",))
    assert "Quick costs much" in quick_cost(quick)
    assert quick_cost(replace(quick, training=Training(2e-5, "full"))) == ""
    assert quick_cost(replace(quick, methods=("threshold",))) == ""


def test_the_grid_is_the_papers() -> None:
    for labels, count in ((3, 667), (2, 501)):
        assert len(grid(labels)) == count
        assert grid(labels)[0] == pytest.approx(1 / labels)
        assert 1 - 0.001 < grid(labels)[-1] <= 1 + 1e-9


@STEADY
@given(CLEAN, INVALID, st.sampled_from([0.0, 0.03, 0.1, 1.0]))
def test_no_other_threshold_finds_more_at_that_price(
    clean: list[tuple[float, bool]], invalid: list[float], tolerance: float
) -> None:
    before = sum(right for _, right in clean)
    best = (-1, 0.0)
    for value in grid(3):
        left = sum(right and confidence >= value for confidence, right in clean)
        if before - left <= tolerance * len(clean) + 1e-9:
            found = sum(confidence < value for confidence in invalid)
            best = max(best, (found, -value))
    confidence, correct = (np.array(column) for column in zip(*clean, strict=True))
    got = best_threshold(confidence, correct, np.array(invalid), 3, tolerance)
    assert (round(got.found * len(invalid)), -got.value) == best
    left = sum(right and confidence >= got.value for confidence, right in clean)
    assert got.accuracy == pytest.approx(left / len(clean))


def test_three_points_may_be_lost_and_no_more() -> None:
    confidence, correct = np.array([0.5] * 3 + [0.6] + [0.9] * 96), np.full(100, True)
    best = best_threshold(confidence, correct, np.array([0.55, 0.7]), 3)
    # up to 0.6 three of 100 are lost and 0.55 is found; above it a fourth
    assert 0.55 < best.value < 0.6
    assert (best.accuracy, best.found) == (0.97, 0.5)
    nothing = best_threshold(np.array([0.4, 0.9]), np.array([True, True]), np.array([1.0]), 3, 0.0)
    assert nothing.value == pytest.approx(1 / 3)


def test_a_transfer_waits_for_every_row_and_holds_the_matrix() -> None:
    plan = transfer.Plan("tiny", TRAINING, ("sort", "drop"), sizes=(12,), seeds=(0,), tests=6)
    sort, drop = (transfer.Cell("one", name, 12, 0) for name in ("sort", "drop"))
    clean = transfer.Cell("clean_only", "", 12, 0)
    salad = transfer.Cell("salad_only", "shuffle", 12, 0)
    assert transfer.cells(plan) == (sort, drop, clean, salad)
    assert transfer.cells(replace(plan, salad_only=False)) == (sort, drop)

    def point(cell: transfer.Cell, right: int = 8, **found: int) -> transfer.Point:
        counts = {name: Found(n, 10) for name, n in found.items()}
        return transfer.Point(cell, Found(right, 10), counts, 1, 1.0)

    points = [point(sort, sort=9, drop=3), point(drop, sort=1, drop=8)]
    assert matrix(plan, points) == [[0.9, 0.3], [0.1, 0.8]]
    assert matrix(plan, points[:1])[1] == [None, None]
    assert own_and_others([[0.9, 0.3], [None, 0.8]]) == ([0.9, 0.8], [0.3])
    assert transfer.conclude(plan, points[:1]) is None
    verdict = transfer.conclude(plan, points)
    assert verdict is not None
    assert verdict["rows"] == verdict["columns"] == ["sort", "drop"]
    assert verdict["matrix"] == [[0.9, 0.3], [0.1, 0.8]] and verdict["salad_only"] is None
    assert "85% of that kind and 20% of the others" in verdict["explanation"]
    whole = transfer.conclude(plan, [*points, point(clean, 9), point(salad, 7)])
    assert whole is not None and whole["salad_only"] == {"clean": 0.9, "salad": 0.7}
    assert "70.0% of whole ones" in whole["explanation"]
