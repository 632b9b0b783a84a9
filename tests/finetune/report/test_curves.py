"""The curves say what the points say, also while most are missing."""

import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from finetune.experiments.inoculation.plan import Cell
from finetune.report.curves import PanelStyle, curve, curve_frame, panel, style_for, svg
from tests.support.points import make_point

POINTS = [make_point(80, 60), make_point(79, 75, cell=Cell(50, 2e-5, 0))]
BOTH = pd.concat([curve_frame(POINTS, name=name) for name in ("da", "esim")], ignore_index=True)


def encodings(chart: dict[str, Any], channel: str) -> list[Any]:
    """Every encoding of a channel that a chart's layers have."""
    mine = [chart["encoding"][channel]] if channel in chart.get("encoding", {}) else []
    return mine + [found for part in chart.get("layer", []) for found in encodings(part, channel)]


def drawn_words(chart: dict[str, Any]) -> set[str]:
    return {row["label"] for rows in chart["datasets"].values() for row in rows if "label" in row}


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
    chart = curve(curve_frame(POINTS[:there]), (10, 50, 100)).to_dict()
    scales = [it["scale"] for it in encodings(chart, "x") if "scale" in it]
    assert scales
    assert all(scale == {"domain": [0, 10, 50, 100]} for scale in scales)


def test_the_sets_differ_in_more_than_colour() -> None:
    chart = curve(curve_frame(POINTS)).to_dict()
    assert [it["scale"] for it in encodings(chart, "strokeDash")] == [
        {"domain": ["challenge", "original"], "range": [[1, 0], [6, 4]]}
    ]
    marks = [layer.get("mark", {}) for layer in chart["layer"]]
    filled = [mark["filled"] for mark in marks if "filled" in mark]
    assert filled == [True, False]


def test_the_models_differ_in_colour_and_in_marker() -> None:
    chart = panel(BOTH, style_for(BOTH)).to_dict()
    for channel in ("color", "shape"):
        for found in encodings(chart, channel):
            assert found["scale"]["domain"] == ["da", "esim"]
            assert len(set(found["scale"]["range"])) == 2


def test_nine_tenths_of_the_gap_are_marked() -> None:
    chart = curve(curve_frame(POINTS)).to_dict()
    rows = [row for rows in chart["datasets"].values() for row in rows]
    goal = next(row for row in rows if row.get("label") == "90 % closed")
    assert goal["accuracy"] == pytest.approx(60 + 0.9 * 20)


@pytest.mark.parametrize("frame", [curve_frame([make_point(60, 60)]), BOTH])
def test_no_goal_is_drawn_without_a_gap_nor_for_several_models(frame: pd.DataFrame) -> None:
    assert "90 % closed" not in drawn_words(panel(frame, style_for(frame)).to_dict())


def test_rules_that_lie_close_together_share_a_line_of_text() -> None:
    rules = {"majority": 33.0, "overlap": 34.4, "hypothesis only": 50.0}
    words = drawn_words(panel(curve_frame(POINTS), style_for(BOTH), (), rules).to_dict())
    assert {"majority 33 %, overlap 34 %", "hypothesis only 50 %"} <= words


def test_two_rules_stand_on_a_line_of_text_and_more_above_it() -> None:
    rules = {"majority": 33.0, "overlap": 33.2, "numerical": 33.4}
    chart = panel(curve_frame(POINTS), style_for(BOTH), (), rules)
    words = drawn_words(chart.to_dict())
    assert {"majority 33 %, overlap 33 %", "numerical 33 %"} <= words
    heights = {
        said: float(y)
        for y, said in re.findall(
            r'translate\([\d.]+,([\d.]+)\)"[^>]*>([^<]+ 33 %)<', svg(chart, style_for(BOTH))
        )
    }
    assert heights["numerical 33 %"] < heights["majority 33 %, overlap 33 %"]


def test_the_axis_has_room_for_every_interval_and_rule() -> None:
    look = style_for(curve_frame(POINTS), {"majority": 33.0})
    assert (look.low, look.high) == (30, 90)


def test_each_point_says_itself_where_the_pointer_rests() -> None:
    frame = curve_frame(POINTS, name="da")
    titles = re.findall(
        "<title>([^<]*)</title>", svg(panel(frame, style_for(frame)), style_for(frame))
    )
    assert len(titles) == 4
    assert any(said.startswith("da, challenge, 50 examples: 75.0 % (") for said in titles)


def test_a_drawing_is_as_wide_as_its_place() -> None:
    look = PanelStyle(("model",), 50, 90)
    head = svg(panel(curve_frame(POINTS), look), look).partition(">")[0]
    assert " width=" not in head and "viewBox=" in head


def test_a_models_name_is_never_markup() -> None:
    frame = curve_frame(POINTS, name="<img src=x>")
    look = replace(style_for(frame), legend=True)
    assert "<img" not in svg(panel(frame, look), look)


def test_only_the_page_names_a_picture_not_its_parts() -> None:
    frame = curve_frame(POINTS)
    assert not re.search(
        r" (role|aria-\w+)=", svg(panel(frame, style_for(frame)), style_for(frame))
    )
