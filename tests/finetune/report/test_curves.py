"""The curves say what the points say, also while most are missing."""

import pandas as pd
import pytest

from finetune.report.curves import Panel, PanelStyle, curve_frame, style_for, ticks
from finetune.trials.inoculation_plan import Cell
from tests.support.runs.points import make_point

POINTS = [make_point(80, 60), make_point(79, 75, cell=Cell(50, 2e-5, 0))]
BOTH = pd.concat([curve_frame(POINTS, name=name) for name in ("da", "esim")], ignore_index=True)


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


def test_the_selection_chooses_whose_accuracy_is_drawn() -> None:
    bold = make_point(70, 78, cell=Cell(50, 1e-2, 0), dev=0.70)
    mild = make_point(79, 66, cell=Cell(50, 1e-5, 0), dev=0.79)
    points = [POINTS[0], bold, mild]
    rates = [curve_frame(points, by).iloc[-1]["lr"] for by in ("oracle_lr", "dev_lr")]
    assert rates == [1e-2, 1e-5]


@pytest.mark.parametrize("there", [0, 1, 2])
def test_sizes_to_come_keep_their_place(there: int) -> None:
    assert Panel(curve_frame(POINTS[:there]), (10, 50, 100)).places == [0, 10, 50, 100]


def test_the_models_differ_in_colour_and_in_marker() -> None:
    style = style_for(BOTH)
    assert style.names == ("da", "esim")
    assert len(set(style.colours("#0b6e62"))) == len(set(style.shapes)) == 2


def test_nine_tenths_of_the_gap_are_the_goal() -> None:
    assert Panel(curve_frame(POINTS), goal=True).goal_height() == pytest.approx(60 + 0.9 * 20)


@pytest.mark.parametrize("frame", [curve_frame([make_point(60, 60)]), BOTH])
def test_there_is_no_goal_without_a_gap_nor_for_several_models(frame: pd.DataFrame) -> None:
    assert Panel(frame, goal=True).goal_height() is None


def test_the_axis_has_room_for_every_interval_and_rule() -> None:
    look = style_for(curve_frame(POINTS), {"majority": 33.0})
    assert (look.low, look.high) == (30, 90)


def test_a_long_axis_has_a_tick_for_every_second_tenth() -> None:
    assert ticks(PanelStyle(("da",), 30, 90)) == [40, 60, 80]
    assert ticks(PanelStyle(("da",), 60, 90)) == [60, 70, 80, 90]
