"""Heat maps: the ground of a cell, its text and what a press reports."""

import xml.etree.ElementTree as ET

from probe.pictures.heat_map import MOST, Cell, Head, HeatMap, heat_map, heat_svg, share_cell
from probe.statistics import FEWEST, NOTHING, Estimate


def share(value: float) -> Estimate:
    """Return a share over a hundred."""
    return Estimate(value, value, value, 100)


HEAT = HeatMap(
    [Head("Sort <all>", "sort")], [Head("all"), Head("neutral", kind="tone-middle")], [[
        Cell("0.85", 0.5, key="sort.all"), Cell("–")
    ]]
)  # fmt: skip


def test_the_ground_grows_from_the_floor_to_one() -> None:
    assert share_cell(share(0.25), floor=0.25).strength == 0
    assert share_cell(share(0.625), floor=0.25).strength == MOST / 2
    assert share_cell(share(1.0), floor=0.25).strength == MOST


def test_a_share_of_a_few_has_no_ground_and_says_of_how_many() -> None:
    few = share_cell(Estimate(1.0, 0.9, 1.0, FEWEST - 1))
    assert (few.text, few.strength) == (f"1.00 (n {FEWEST - 1})", 0)


def test_a_share_below_the_floor_has_no_ground() -> None:
    assert share_cell(share(0.1), floor=0.5).strength == 0


def test_a_share_of_nothing_is_a_dash_that_cannot_be_pressed() -> None:
    assert share_cell(NOTHING, key="sort.all") == Cell("–")


def test_only_a_cell_with_a_key_is_a_button() -> None:
    html = heat_map(HEAT, "shares")
    assert html.count("<button") == 1 and 'data-cell="sort.all"' in html


def test_titles_are_escaped_on_the_page_and_in_the_file() -> None:
    assert "Sort &lt;all&gt;" in heat_map(HEAT, "shares")
    texts = [node.text for node in ET.fromstring(heat_svg(HEAT, "Shares")).iter() if node.text]
    assert "Sort <all> (sort)" in texts and "0.85" in texts
