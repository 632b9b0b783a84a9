"""Bars of shares: the file and the table hold what the page draws."""

import xml.etree.ElementTree as ET

from probe.pictures.bars import BAR_WIDTH, Bar, bars_frame, bars_svg

BARS = [
    Bar("Right < wrong", "RoBERTa", 0.25, "Gupta et al.", strong=False),
    Bar("Right < wrong", "MiniLM", 0.5, "n = 600", strong=True),
]


def test_a_bar_is_as_long_as_its_share() -> None:
    widths = [node.get("width") for node in ET.fromstring(bars_svg(BARS, "Shares")).iter()]
    assert {f"{BAR_WIDTH * bar.share:.1f}" for bar in BARS} <= set(widths)


def test_the_file_is_well_formed_and_names_a_measure_once() -> None:
    texts = [node.text for node in ET.fromstring(bars_svg(BARS, "Shares")).iter()]
    assert texts.count("Right < wrong") == 1
    assert {"RoBERTa", "n = 600", "25.0 %", "50.0 %"} <= set(texts)


def test_the_table_has_a_row_for_each_bar() -> None:
    assert bars_frame(BARS).values.tolist() == [
        ["Right < wrong", "RoBERTa", 0.25, "Gupta et al."],
        ["Right < wrong", "MiniLM", 0.5, "n = 600"],
    ]
