"""Charts are drawn whatever names stand in them."""

import altair as alt
import pandas as pd
import pytest

from finetune.report.drawing import REPLACEMENT, draw_png, draw_svg

CONTROLS = [chr(code) for code in range(0x20) if chr(code) not in "\t\n\r"]


def chart(name: str) -> dict[str, object]:
    frame = pd.DataFrame({"name": [name], "accuracy": [1.0]})
    marks = alt.Chart(frame, title=name).mark_point().encode(x="accuracy:Q", y="name:N")
    drawn: dict[str, object] = marks.to_dict()
    return drawn


@pytest.mark.parametrize("character", [*CONTROLS, "\uffff"], ids=ascii)
def test_a_character_that_no_xml_holds_is_replaced(character: str) -> None:
    drawn = draw_svg(chart(f"a{character}b"))
    assert f"a{REPLACEMENT}b" in drawn
    assert character not in drawn


def test_such_a_character_does_not_keep_a_picture_from_being_made() -> None:
    assert draw_png(chart("a\x0bb")).startswith(b"\x89PNG")
