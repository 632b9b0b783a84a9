"""Where a page of rows stands among the others."""

import pytest

from probe.ui.html.pager import page_pressed, pager


def test_a_single_page_has_no_buttons() -> None:
    assert "1 row, page 1 of 1" in pager(1, 1, 1)
    assert "<button" not in pager(1, 1, 1)


@pytest.mark.parametrize(("number", "off"), [(1, "Previous"), (2, ""), (3, "Next")])
def test_the_ways_that_lead_nowhere_are_off(number: int, off: str) -> None:
    shown = pager(number, 3, 2_500, "pair")
    assert f"2,500 pairs, page {number} of 3" in shown
    for words in ("Previous", "Next"):
        assert (f" disabled>{words}<" in shown) == (words == off)


@pytest.mark.parametrize(
    ("cell", "number"), [("7", 7), ("", 1), ("-1", 1), ("²", 1), ("9" * 5000, 1)]
)
def test_a_pressed_button_names_its_page(cell: str, number: int) -> None:
    assert page_pressed(cell) == number
