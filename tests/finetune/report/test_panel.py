"""A panel draws every point where it belongs, and tells models and sets apart."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from finetune.report.curves import MODEL_SHAPES, Panel, PanelStyle, curve_frame, style_for
from finetune.report.panel import FILE, MARKERS, Plot, drawing, grouped_labels, svg
from finetune.trials.inoculation_plan import Cell
from tests.support.runs.points import make_point

POINTS = [make_point(80, 60), make_point(79, 75, cell=Cell(50, 2e-5, 0))]
FRAME = curve_frame(POINTS, name="da")
BOTH = pd.concat([FRAME, curve_frame(POINTS, name="esim")], ignore_index=True)


def drawn(frame: pd.DataFrame, sizes: tuple[int, ...] = (), rules: dict[str, float] | None = None,
          goal: bool = False) -> str:  # fmt: skip
    """The drawing in a file's colours."""
    panel = Panel(frame, sizes, rules or {}, goal)
    return str(drawing(panel, style_for(frame, rules), FILE))


def lines(text: str) -> list[tuple[str, str]]:
    """The colour and the dashes of each curve."""
    return re.findall(r'<polyline[^>]* stroke="([^"]*)"[^>]*stroke-dasharray="([^"]*)"', text)


def test_more_examples_are_further_right_and_more_accuracy_is_higher() -> None:
    plot = Plot(PanelStyle(("da",), 50, 90), [0, 10, 50])
    assert plot.x(0) < plot.x(10) < plot.x(50) and plot.y(80) < plot.y(60)
    assert plot.x(50) - plot.x(10) == pytest.approx(plot.x(10) - plot.x(0))


def test_the_sets_differ_in_more_than_colour() -> None:
    dashes = [dash for _, dash in lines(drawn(FRAME))]
    assert sorted(dashes) == ["5 4", "none"]
    fills = re.findall(r'<polygon class="circle"[^>]*fill="([^"]*)"', drawn(FRAME))
    assert fills == [FILE.ground] * 2 + [FILE.accent] * 2


def test_the_models_differ_in_colour_and_in_marker() -> None:
    text = drawn(BOTH)
    assert len({colour for colour, _ in lines(text)}) == 2
    assert set(re.findall(r'<polygon class="([^"]*)"', text)) == {"circle", "square"}


def test_the_interval_of_one_model_is_a_band_and_those_of_several_stand_side_by_side() -> None:
    assert drawn(FRAME).count('opacity="0.15"') == 1 and 'class="interval"' not in drawn(FRAME)
    places = re.findall(r'class="interval" x1="([\d.]+)"', drawn(BOTH))
    assert len(places) == len(set(places)) == 4


def test_each_marker_has_a_shape_of_its_own() -> None:
    assert set(MARKERS) == set(MODEL_SHAPES)
    assert len({tuple(corners) for corners in MARKERS.values()}) == len(MODEL_SHAPES)


def test_sizes_to_come_are_written_under_the_axis() -> None:
    text = drawn(FRAME, (10, 50, 100))
    assert re.findall(r'text-anchor="middle"[^>]*>(\d+)<', text) == ["0", "10", "50", "100"]


def test_the_goal_is_marked_only_where_it_is_asked_for() -> None:
    assert "90 % closed" in drawn(FRAME, goal=True)
    assert "90 % closed" not in drawn(FRAME) + drawn(BOTH, goal=True)


def test_rules_that_lie_close_together_share_a_line_of_text() -> None:
    rules = {"majority": 33.0, "overlap": 34.4, "hypothesis only": 50.0}
    text = drawn(FRAME, rules=rules)
    assert "majority 33 %, overlap 34 %" in text and "hypothesis only 50 %" in text


def test_two_rules_stand_on_a_line_of_text_and_more_above_it() -> None:
    rules = {"majority": 33.0, "overlap": 33.2, "numerical": 33.4}
    assert [(words, line) for _, words, line in grouped_labels(rules)] == [
        ("majority 33 %, overlap 33 %", 0),
        ("numerical 33 %", 1),
    ]
    heights = {
        words: float(y)
        for y, words in re.findall(r'y="([\d.]+)"[^>]*>([^<]+ 33 %)<', drawn(FRAME, rules=rules))
    }
    assert heights["numerical 33 %"] < heights["majority 33 %, overlap 33 %"]


def test_each_point_says_itself_where_the_pointer_rests() -> None:
    titles = re.findall("<title>([^<]*)</title>", drawn(FRAME))
    assert len(titles) == 4
    assert any(said.startswith("da, challenge, 50 examples: 75.0 % (") for said in titles)


def test_a_drawing_of_the_page_is_as_wide_as_its_place_and_has_the_pages_colours() -> None:
    text = svg(Panel(FRAME), style_for(FRAME), "accuracy")
    head = text.partition(">")[0]
    assert " width=" not in head and "viewBox=" in head and 'aria-label="accuracy"' in head
    assert "var(--accent)" in text and "#" not in text


def test_a_models_name_is_never_markup() -> None:
    frame = curve_frame(POINTS, name="<img src=x>")
    style = replace(style_for(frame), size=(100, 100))
    assert "<img" not in svg(Panel(frame), style, "<img src=x>")
