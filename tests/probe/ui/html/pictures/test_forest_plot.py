"""Forest plots: where estimates stand on the track, and what they say in words."""

import re
import xml.etree.ElementTree as ET

from probe.pictures.forest import Forest, ForestRow, forest_frame, forest_plot, forest_svg
from probe.statistics import NOTHING, Estimate

HALF = ForestRow("Sort", Estimate(0.5, 0.4, 0.6, 90), "sort")
UNIT = Forest([HALF, ForestRow("Drop", NOTHING, "drop")], reference=1 / 4)


def test_the_estimate_its_interval_and_the_reference_stand_at_their_places() -> None:
    html = forest_plot(UNIT, "shares")
    assert 'style="left:40.0%;width:20.0%"></u><b style="left:50.0%">' in html
    assert '<i style="left:25.0%"></i>' in html


def test_a_value_beyond_the_scale_stands_at_its_end() -> None:
    assert Forest([], low=0, high=2).place(3) == 1
    assert Forest([], low=0, high=2).place(-1) == 0


def test_who_cannot_see_the_plot_hears_every_row() -> None:
    label = re.search('aria-label="([^"]*)"', forest_plot(UNIT, "shares"))
    assert label and label.group(1) == "shares: Sort 0.50 (0.40 to 0.60); Drop not measured"


def test_an_estimate_over_nothing_is_not_drawn() -> None:
    assert "<b " not in forest_plot(Forest([ForestRow("Drop", NOTHING)]), "shares")
    assert "<circle" not in forest_svg(Forest([ForestRow("Drop", NOTHING)]), "Shares")


def test_the_file_is_well_formed_and_holds_every_row() -> None:
    row = ForestRow("a < b", HALF.estimate, words="stays & stays")
    texts = [node.text for node in ET.fromstring(forest_svg(Forest([row]), "Shares")).iter()]
    assert {"a < b", "stays & stays"} <= set(texts)


def test_the_table_has_words_only_where_a_row_has_some() -> None:
    assert list(forest_frame(UNIT).columns) == ["title", "name", "value", "low", "high", "n"]
    assert "words" in forest_frame(Forest([ForestRow("a", NOTHING, words="x")])).columns


def test_a_published_estimate_is_read_without_an_interval() -> None:
    row = ForestRow("Sort", Estimate(0.5, 0.5, 0.5, 1))
    assert 'aria-label="shares: Sort 0.50"' in forest_plot(Forest([row]), "shares")
