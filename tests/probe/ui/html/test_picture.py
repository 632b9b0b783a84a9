"""A picture with its table twin and what can be taken away."""

import csv
import io
import re
from urllib.parse import unquote

import pandas as pd
from markupsafe import Markup

from probe.ui.html.elements import NOTHING
from probe.ui.html.picture import picture

FRAME = pd.DataFrame({"name": ["<b>", "sort"], "value": [0.5, 0.25]})


def file_in(html: str, name: str) -> str:
    """Return the text of a file that a link of the page holds."""
    kept = re.search(rf'download="{name}" href="data:[^,]*,([^"]*)"', html)
    assert kept
    return unquote(kept.group(1))


def test_the_csv_file_holds_the_table() -> None:
    html = picture("Shares", NOTHING, FRAME, stem="shares")
    rows = list(csv.DictReader(io.StringIO(file_in(html, "shares.csv"))))
    assert rows == [{"name": "<b>", "value": "0.5"}, {"name": "sort", "value": "0.25"}]


def test_the_svg_file_is_the_drawing_that_was_given() -> None:
    drawn = Markup('<svg xmlns="http://www.w3.org/2000/svg"><text>50 % &amp; "more"</text></svg>')
    assert file_in(picture("Shares", NOTHING, FRAME, drawn, stem="x"), "x.svg") == drawn


def test_without_an_svg_neither_svg_nor_png_is_offered() -> None:
    html = picture("Shares", NOTHING, FRAME, stem="shares")
    assert "SVG" not in html and "PNG" not in html


def test_the_table_twin_escapes_what_it_shows() -> None:
    html = picture("<i>Shares</i>", NOTHING, FRAME, stem="shares")
    assert "<td>&lt;b&gt;</td>" in html and "<i>" not in html


def test_a_badge_stands_after_the_title() -> None:
    badge = Markup('<span class="badge">off</span>')
    html = picture("Shares", NOTHING, FRAME, stem="shares", beside=badge)
    assert '<h3>Shares</h3><span class="badge">off</span>' in html
