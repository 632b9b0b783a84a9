"""Measures before and after as bars with a mark where they were."""

import re
from xml.etree import ElementTree

from finetune.ui.html.repair.calibration import BeforeAfter, Column, before_after, before_after_svg

DRAWN = BeforeAfter(
    [Column("Error", False, 3), Column("Right, %", True, 1)],
    [("As it was", [0.1, 0.75]), ("Mended", [0.025, None])],
)


def test_a_bar_ends_at_its_value_and_its_mark_is_where_it_was() -> None:
    mended = before_after(DRAWN, "x").partition("Mended")[2]
    assert "--was:100.0%;--is:25.0%" in mended


def test_shares_are_drawn_on_a_scale_of_a_hundred() -> None:
    assert "75.0<i" in before_after(DRAWN, "x")
    assert "--was:75.0%;--is:75.0%" in before_after(DRAWN, "x")


def test_what_was_not_measured_is_a_dash_without_a_bar() -> None:
    assert '<td class="num">–</td>' in before_after(DRAWN, "x")


def test_the_file_holds_every_title_and_figure() -> None:
    root = ElementTree.fromstring(before_after_svg(DRAWN, "Before and after"))
    words = {element.text for element in root.iter() if element.tag.endswith("text")}
    assert {"As it was", "Mended", "Error", "Right, %", "0.100", "0.025", "75.0", "–"} <= words


def test_a_column_of_nothing_has_a_scale() -> None:
    empty = BeforeAfter([Column("Error", False, 3)], [("As it was", [0.0])])
    assert re.search(r"--is:0.0%", before_after(empty, "x"))


def test_a_title_is_no_markup() -> None:
    shown = BeforeAfter([Column("<b>", False, 1)], [("<i>x", [1.0])])
    assert "<b>" not in before_after(shown, "x") and "<i>x" not in before_after(shown, "x")
