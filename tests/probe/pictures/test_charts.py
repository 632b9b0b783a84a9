"""Charts: where figures stand, what they say, and that any name can stand in them."""

import re
import xml.etree.ElementTree as ET
from colorsys import rgb_to_hls
from itertools import product

import pytest

from probe.pictures.bars import BAR_WIDTH, Bar, bars_frame, bars_svg
from probe.pictures.forest import (
    SHAPES,
    DotPlot,
    DotRow,
    Forest,
    ForestRow,
    dot_frame,
    dot_plot,
    dot_svg,
    forest_frame,
    forest_plot,
    forest_svg,
)
from probe.pictures.heat_map import MOST, Cell, Head, HeatMap, heat_map, heat_svg, share_cell
from probe.pictures.reliability import BOTTOM, TOP, Diagram, bins_frame, diagram, diagrams_svg
from probe.pictures.svg import FILE, REPLACEMENT, drawing, png_file, stacked, svg_file, text
from probe.settings import ASSETS
from probe.statistics import BINS, FEWEST, NOTHING, Estimate, pooled
from tests.support.runs.repairs import bins

ATTACK = "<b onclick=x>&amp;\"'</b>"
SURE = Estimate(0.5, 0.4, 0.6, 90)
HEAT = HeatMap(
    [Head(ATTACK, "sort")],
    [Head("all"), Head("neutral", kind="tone-middle")],
    [[Cell("0.85", 0.5, key="sort.all", n=600), Cell("–")]],
)
FOREST = Forest(
    [ForestRow("Sort", SURE, "sort", words=ATTACK), ForestRow("Drop", NOTHING, "drop")],
    reference=1 / 4,
)
DOTS = DotPlot(["MiniLM", ATTACK], [DotRow("All", [SURE, NOTHING], "gold|all")], 1 / 3, "a guess")
BARS = [
    Bar("Right", "RoBERTa", 0.25, ATTACK, strong=False),
    Bar("Right", "MiniLM", 0.5, "n = 600", strong=True),
]
CURVE = Diagram(bins(600, 0.97, 0.75), 5, (ATTACK, "off"))
FILES = {
    "heat map": (heat_svg(HEAT, "T"), {f"{ATTACK} (sort)", "0.85", "neutral"}),
    "forest": (forest_svg(FOREST, "T"), {"Sort", ATTACK, "Drop"}),
    "dots": (dot_svg(DOTS, "T"), {"MiniLM", ATTACK, "50 · –", "a guess"}),
    "bars": (bars_svg(BARS, "T"), {"Right", ATTACK, "25.0 %", "50.0 %"}),
    "reliability": (diagrams_svg([CURVE], "T"), {ATTACK, "off", "0.33"}),
    "stacked": (stacked([heat_svg(HEAT, "T")] * 2, "T"), {"0.85"}),
}
PAGES = {
    "heat map": heat_map(HEAT, ATTACK),
    "forest": forest_plot(FOREST, ATTACK),
    "dots": dot_plot(DOTS, ATTACK),
    "reliability": diagram(CURVE, ATTACK),
}


def test_every_drawing_is_well_formed_names_itself_and_no_word_of_it_is_markup() -> None:
    for name, (drawn, words) in FILES.items():
        root = ET.fromstring(svg_file(drawn))
        assert root[0].text == "T" and root.get("role") == "img", name
        assert words <= {node.text for node in root.iter()}, name
    for name, page in PAGES.items():
        assert "<b onclick" not in page and 'aria-label="&lt;b onclick=x&gt;' in page, name


def test_every_file_says_its_scale_and_its_n() -> None:
    scales = {"forest": {"0", "1", "chance"}, "dots": {"0 %", "100 %"}, "bars": {"0 %", "100 %"}}
    scales |= {"reliability": {"0", "1", "how sure it is"}, "heat map": {"all", "neutral"}}
    for name, (drawn, _) in FILES.items():
        words = {node.text or "" for node in ET.fromstring(svg_file(drawn)).iter()}
        assert scales.get(name, set()) <= words, name
        assert any(re.fullmatch(r"n = [\d,]+", each) for each in words), name


def test_no_model_has_a_labels_colour_and_marks_differ_without_any() -> None:
    def colours(sheet: str, names: str) -> list[list[str]]:
        text = (ASSETS / "style" / sheet).read_text()
        return [re.findall(rf"--(?:{names}): (#\w+)", each) for each in text.split(".dark", 1)]

    def hue(colour: str) -> tuple[float, float, float]:
        return rgb_to_hls(*(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)))

    labels, models = (
        colours("page.css", "first|middle|last|invalid"),
        colours("compare.css", r"mark-\d"),
    )
    assert models[0] == list(FILE.models) and len(FILE.models) == len(set(SHAPES)) == 6
    for own, theirs in zip(models, labels, strict=True):
        for one, other in product(map(hue, own), map(hue, theirs[:4])):
            apart = abs((one[0] - other[0] + 0.5) % 1 - 0.5) > 0.06 and one[2] > 0.3
            assert apart or abs(one[1] - other[1]) > 0.2, (own, theirs)


def test_figures_stand_at_their_places() -> None:
    track = forest_plot(FOREST, "shares")
    assert 'style="left:40.0%;width:20.0%"></u><b style="left:50.0%">' in track
    assert '<i style="left:25.0%"></i>' in track
    assert [Forest([], low=0, high=2).place(value) for value in (3, -1)] == [1, 0]
    lane = dot_plot(DOTS, "shares")
    assert 'style="left:40.0%;width:20.0%"></u><b class="mark mark-1" style="left:50.0%">' in lane
    assert '<i style="left:33.3%"></i>' in lane
    widths = [node.get("width") for node in ET.fromstring(bars_svg(BARS, "T")).iter()]
    assert {f"{BAR_WIDTH * bar.share:.1f}" for bar in BARS} <= set(widths)
    places = re.findall(r'<rect x="[\d.]+" y="([\d.]+)"', diagram(CURVE, "T"))
    shares = [(BOTTOM - float(place)) / (BOTTOM - TOP) for place in places]
    assert shares == pytest.approx([0.75, 0.97], abs=1e-3)

    lower = re.findall(r"translate\(0,(\d+)\)", FILES["stacked"][0])
    assert lower == ["0", ET.fromstring(heat_svg(HEAT, "T")).get("height")]
    # who cannot see a forest hears every row
    label = re.search('aria-label="([^"]*)"', forest_plot(FOREST, "shares"))
    assert label and label[1] == "shares: Sort 0.50 (0.40 to 0.60); Drop not measured"
    published = Forest([ForestRow("Sort", Estimate(0.5, 0.5, 0.5, 1))])
    assert 'aria-label="shares: Sort 0.50"' in forest_plot(published, "shares")


def test_an_estimate_over_nothing_is_not_drawn_and_only_what_has_a_key_is_a_button() -> None:
    empty = Forest([ForestRow("Drop", NOTHING)])
    assert "<b " not in forest_plot(empty, "T") and "<circle" not in forest_svg(empty, "T")
    assert dot_plot(DOTS, "T").count('class="lane ') == 1
    for drawn, key in ((PAGES["heat map"], "sort.all"), (PAGES["dots"], "gold|all")):
        assert re.findall('<button[^>]* data-cell="([^"]*)"', drawn) == [key]
    assert "<button" not in dot_plot(DotPlot(["a"], [DotRow("All", [SURE])]), "T")


def test_the_ground_of_a_share_grows_from_the_floor_where_there_are_enough() -> None:
    for value, floor, strength in (
        (0.25, 0.25, 0),
        (0.625, 0.25, 0.5),
        (1, 0.25, 1),
        (0.1, 0.5, 0),
    ):
        share = Estimate(value, value, value, 100)
        assert share_cell(share, floor).strength == MOST * strength, (value, floor)
    few = share_cell(Estimate(1.0, 0.9, 1.0, FEWEST - 1))
    assert (few.text, few.strength) == (f"1.00 (n {FEWEST - 1})", 0)
    assert share_cell(NOTHING, key="sort.all") == Cell("–")


def test_the_tables_hold_the_same_figures() -> None:
    assert bars_frame(BARS).values.tolist()[1] == ["Right", "MiniLM", 0.5, "n = 600"]
    assert forest_frame(FOREST).iloc[0].tolist() == ["Sort", "sort", 0.5, 0.4, 0.6, 90, ATTACK]
    assert "words" not in forest_frame(Forest([ForestRow("a", NOTHING)]))
    assert dot_frame(DOTS).iloc[0].tolist() == ["All", "MiniLM", 0.5, 0.4, 0.6, 90]
    (row,) = bins_frame(CURVE.bins).itertuples(index=False)  # empty ones are left out
    assert tuple(row) == (round(14 / BINS, 3), 1.0, 600, 0.97, 0.75)

    together = pooled([bins(100, 0.98, 0.5), bins(300, 0.94, 0.9)])
    assert (together[-1].n, together[0].n) == (400, 0)
    assert together[-1].accuracy == pytest.approx(0.8)  # (50 + 270) / 400
    assert together[-1].confidence == pytest.approx(0.95)  # (98 + 282) / 400


def test_what_no_xml_holds_is_replaced_and_keeps_no_picture_from_being_made() -> None:
    for character in map(chr, (*range(0x20), 0xFFFF)):
        drawn = svg_file(drawing(40, 20, "T", [text(0, 12, f"a{character}b")]))
        kept = character if character in "\t\n\r" else REPLACEMENT
        assert f"a{kept}b" in drawn, ord(character)
    assert png_file(drawing(40, 20, "T", [text(0, 12, "a\x0bb")])).startswith(b"\x89PNG")
