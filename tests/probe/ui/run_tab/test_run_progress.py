"""How far a run is said to be."""

import pytest

from probe.runs.run import Json, Run, RunCell, StoredRun
from probe.ui.run_tab.view import how_far, seconds_left


def running(done: int, steps: int, each: float, passed: float) -> StoredRun:
    """Return a run `passed` seconds after its begin, whose steps took so many seconds `each`."""
    result, began = {"seconds": each}, 1000.0
    cells = [RunCell[Json, Json, Json](at, {}, "done", result=result) for at in range(done)]
    cells += [RunCell(at, {}, "queued") for at in range(done, steps)]
    return Run(
        "run1", "checkup", "me", {}, "running", False, "", began, began, began + passed, {}, {}, "",
        tuple(cells),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("passed", "left"),
    [
        (60, 180),  # three more steps of 60 s
        (100, 140),
        (120, 120),
        (180, 180),  # the second step takes 120 s so far, and each 90 s on average
    ],
)
def test_the_step_under_way_is_taken_off_what_is_left_until_it_lasts_longer(
    passed: float, left: float
) -> None:
    assert seconds_left(running(1, 4, 60, passed)) == pytest.approx(left)


def test_a_run_taken_up_again_counts_the_steps_that_it_lacks() -> None:
    assert seconds_left(running(2, 4, 60, 1)) == pytest.approx(120)


def test_nothing_is_said_to_be_left_where_the_last_step_takes_too_long() -> None:
    assert how_far(running(3, 4, 60, 230)).endswith("4 min · about 10 s left")
    assert how_far(running(3, 4, 60, 400)).endswith("7 min")


def test_before_the_first_step_has_ended_nothing_is_said_to_be_left() -> None:
    assert " left" not in how_far(running(0, 4, 60, 30))
