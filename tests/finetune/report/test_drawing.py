"""Drawings are made whatever names stand in them."""

import pytest
from markupsafe import Markup

from finetune.report.panel import REPLACEMENT, png_file, svg_file

CONTROLS = [chr(code) for code in range(0x20) if chr(code) not in "\t\n\r"]
PICTURE = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text y="12">{}</text></svg>'
)


@pytest.mark.parametrize("character", [*CONTROLS, "\uffff"], ids=ascii)
def test_a_character_that_no_xml_holds_is_replaced(character: str) -> None:
    drawn = svg_file(PICTURE.format(f"a{character}b"))
    assert f"a{REPLACEMENT}b" in drawn
    assert character not in drawn


def test_such_a_character_does_not_keep_a_picture_from_being_made() -> None:
    assert png_file(PICTURE.format("a\x0bb")).startswith(b"\x89PNG")
