"""Curves: every point where it belongs, models and sets told apart, also while most are missing."""

import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from finetune.report.inoculation import curve_frame
from finetune.trials.inoculation import Cell
from probe.pictures.curves import (
    MARKERS,
    MODEL_SHAPES,
    Panel,
    PanelStyle,
    drawing,
    grouped_labels,
    of_panels,
    on_page,
    style_for,
    ticks,
)
from probe.pictures.svg import FILE
from tests.support.runs.points import make_point

POINTS = [make_point(80, 60), make_point(79, 75, cell=Cell(50, 2e-5, 0))]
FRAME = curve_frame(POINTS, name="da")
BOTH = pd.concat([FRAME, curve_frame(POINTS, name="esim")], ignore_index=True)


def drawn(frame: pd.DataFrame, sizes: tuple[int, ...] = (), rules: dict[str, float] | None = None,
          goal: bool = False) -> str:  # fmt: skip
    """The drawing in a file's colours."""
    panel = Panel(frame, sizes, rules or {}, goal)
    return str(drawing(panel, style_for(frame, rules), FILE))


def test_a_row_for_each_size_and_set_in_percent_with_wilsons_interval() -> None:
    rows = curve_frame(POINTS)[["examples", "set", "accuracy"]].to_numpy().tolist()
    assert rows == [
        [0, "challenge", 60.0], [0, "original", 80.0],
        [50, "challenge", 75.0], [50, "original", 79.0],
    ]  # fmt: skip
    # (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n) for p = .8, n = 100, z = 1.96
    row = curve_frame(POINTS).iloc[1]
    assert (row["low"], row["high"]) == pytest.approx((71.11, 86.66), abs=0.01)
    bold = make_point(70, 78, cell=Cell(50, 1e-2, 0), dev=0.70)
    mild = make_point(79, 66, cell=Cell(50, 1e-5, 0), dev=0.79)
    for by, lr in (("oracle_lr", 1e-2), ("dev_lr", 1e-5)):
        assert curve_frame([POINTS[0], bold, mild], by).iloc[-1]["lr"] == lr


def test_points_lie_where_they_belong_and_the_axis_has_room_for_every_interval_and_rule() -> None:
    line = re.findall(r'<polyline points="([^"]*)"', drawn(FRAME, (10, 50)))[-1]  # the challenge
    (start, before), (end, after) = (map(float, each.split(",")) for each in line.split())
    assert start < end and before > after  # 60 % of none, 75 % of fifty
    places = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="middle"', drawn(FRAME, (10, 50)))
    first, middle, last = map(float, places)
    assert (first, last) == (start, end) == (42, 360) and last - middle == pytest.approx(
        middle - first, abs=0.2
    )
    for there in range(3):  # sizes to come keep their place
        assert Panel(curve_frame(POINTS[:there]), (10, 50, 100)).places == [0, 10, 50, 100]
    under = re.findall(r'text-anchor="middle"[^>]*>(\d+)<', drawn(FRAME, (10, 50, 100)))
    assert under == ["0", "10", "50", "100"]
    look = style_for(curve_frame(POINTS), {"majority": 33.0})
    assert (look.low, look.high) == (30, 90)
    assert ticks(PanelStyle(("da",), 30, 90)) == [40, 60, 80]
    assert ticks(PanelStyle(("da",), 60, 90)) == [60, 70, 80, 90]


def test_sets_and_models_differ_in_more_than_colour() -> None:
    lines = re.compile(r'<polyline[^>]* stroke="([^"]*)"[^>]*stroke-dasharray="([^"]*)"')
    assert sorted(dash for _, dash in lines.findall(drawn(FRAME))) == ["5 4", "none"]
    fills = re.findall(r'<polygon class="circle"[^>]*fill="([^"]*)"', drawn(FRAME))
    assert fills == [FILE.ground] * 2 + [FILE.accent] * 2
    assert len({colour for colour, _ in lines.findall(drawn(BOTH))}) == 2
    assert set(re.findall(r'<polygon class="([^"]*)"', drawn(BOTH))) == {"circle", "square"}
    assert drawn(FRAME).count('opacity="0.15"') == 1 and 'class="interval"' not in drawn(FRAME)
    places = re.findall(r'class="interval" x1="([\d.]+)"', drawn(BOTH))
    assert len(places) == len(set(places)) == 4  # side by side
    assert len({tuple(MARKERS[shape]) for shape in MODEL_SHAPES}) == len(MODEL_SHAPES)


def test_nine_tenths_of_the_gap_are_the_goal_of_one_model_where_it_is_asked_for() -> None:
    assert Panel(curve_frame(POINTS), goal=True).goal_height() == pytest.approx(60 + 0.9 * 20)
    for frame in (curve_frame([make_point(60, 60)]), BOTH):
        assert Panel(frame, goal=True).goal_height() is None
    assert "90 % closed" in drawn(FRAME, goal=True)
    assert "90 % closed" not in drawn(FRAME) + drawn(BOTH, goal=True)


def test_rules_that_lie_close_together_share_lines_of_text() -> None:
    rules = {"majority": 33.0, "overlap": 33.2, "numerical": 33.4, "hypothesis only": 50.0}
    assert [(words, line) for _, words, line in grouped_labels(rules)] == [
        *(("majority 33 %, overlap 33 %", 0), ("numerical 33 %", 1), ("hypothesis only 50 %", 0))
    ]
    lines = re.findall(r'y="([\d.]+)"[^>]*>([^<]+ 33 %)<', drawn(FRAME, rules=rules))
    heights = {words: float(y) for y, words in lines}
    assert heights["numerical 33 %"] < heights["majority 33 %, overlap 33 %"]


def test_the_page_and_the_file_say_every_point_and_no_name_is_markup() -> None:
    titles = re.findall("<title>([^<]*)</title>", drawn(FRAME))
    assert len(titles) == 4
    assert any(said.startswith("da, challenge, 50 examples: 75.0 % (") for said in titles)
    attack = curve_frame(POINTS, name="<img src=x>")
    page = on_page(Panel(attack), style_for(attack), "<img src=x>")
    head = page.partition(">")[0]
    assert " width=" not in head and "viewBox=" in head and "<img" not in page
    assert "var(--accent)" in page and "#" not in page
    file = of_panels([("<img> one", Panel(attack))] * 3, style_for(attack), ["Solid: <img>."])
    texts = [node.text for node in ET.fromstring(file).iter()]
    assert texts.count("<img> one") == 3 and {"<img src=x>", "Solid: <img>."} <= {*texts}
