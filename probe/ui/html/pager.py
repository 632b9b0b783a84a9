"""Which page of rows is shown, with the ways to those before and after."""

from markupsafe import Markup

from probe.ui.html.elements import NOTHING


def pager(number: int, last: int, count: int, unit: str = "row") -> Markup:
    """Say which page of how many this is, with the ways to the others; `unit` is one row's name."""
    words = Markup('<span class="soft num">{:,} {}{}, page {} of {}</span>').format(
        count, unit, "" if count == 1 else "s", number, last
    )
    if last == 1:
        return words
    return Markup('<div class="strip">{}{}{}</div>').format(
        _to("Previous", number - 1, last), words, _to("Next", number + 1, last)
    )


def _to(words: str, number: int, last: int) -> Markup:
    off = NOTHING if 1 <= number <= last else Markup(" disabled")
    return Markup('<button type="button" class="btn" data-cell="{}"{}>{}</button>').format(
        number, off, words
    )


def page_pressed(cell: str) -> int:
    """Return the page that a pressed button leads to, the first one where it is none."""
    return int(cell) if cell.isascii() and cell.isdecimal() and len(cell) < 10 else 1
