"""The inoculation curve says what the points say, also while most are missing."""

import pytest

from finetune.plan import Cell
from finetune.plots import curve, curve_frame
from tests.points import make_point

POINTS = [make_point(80, 60), make_point(79, 75, cell=Cell(50, 2e-5, 0))]


def test_a_row_for_each_size_and_set_in_percent() -> None:
    rows = curve_frame(POINTS)[["examples", "set", "accuracy"]].to_numpy().tolist()
    assert rows == [
        [0, "challenge", 60.0], [0, "original", 80.0],
        [50, "challenge", 75.0], [50, "original", 79.0],
    ]  # fmt: skip


def test_the_interval_is_wilsons() -> None:
    row = curve_frame(POINTS).iloc[1]
    # (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n) for p = .8, n = 100, z = 1.96
    assert (row["low"], row["high"]) == (
        pytest.approx(71.11, abs=0.01),
        pytest.approx(86.66, abs=0.01),
    )


@pytest.mark.parametrize("there", [0, 1, 2])
def test_sizes_to_come_keep_their_place(there: int) -> None:
    chart = curve(curve_frame(POINTS[:there]), (10, 50, 100)).to_dict()
    scales = [layer["encoding"]["x"]["scale"] for layer in chart["layer"][1:]]
    assert all(scale == {"domain": [0, 10, 50, 100]} for scale in scales)


def test_the_lines_differ_in_more_than_colour() -> None:
    *_, lines, marks = curve(curve_frame(POINTS)).to_dict()["layer"]
    assert lines["encoding"]["strokeDash"]["scale"] == {
        "domain": ["challenge", "original"], "range": [[1, 0], [6, 4]],
    }  # fmt: skip
    assert marks["encoding"]["shape"]["scale"]["range"] == ["circle", "square"]


def test_no_goal_is_drawn_without_a_gap() -> None:
    chart = curve(curve_frame([make_point(60, 60)])).to_dict()
    assert [] in chart["datasets"].values()
