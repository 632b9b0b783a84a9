"""The threshold search against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finetune.trials.mitigation import best_threshold, grid
from tests.support.property_settings import STEADY

SHARES = st.floats(0.34, 1.0)
CLEAN = st.lists(st.tuples(SHARES, st.booleans()), min_size=1, max_size=40)
INVALID = st.lists(SHARES, min_size=1, max_size=40)


@pytest.mark.parametrize(("labels", "count"), [(3, 667), (2, 501)])
def test_the_grid_is_the_papers(labels: int, count: int) -> None:
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


def test_where_nothing_is_found_nothing_is_rejected() -> None:
    best = best_threshold(np.array([0.4, 0.9]), np.array([True, True]), np.array([1.0]), 3, 0.0)
    assert best.value == pytest.approx(1 / 3)
