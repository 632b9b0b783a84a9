"""Stand-alone SVG: what a drawing that leaves the page is put together from, in light colours."""

from collections.abc import Iterable

from markupsafe import Markup

from probe.ui.html.elements import NOTHING, join

INK, SOFT, TRACK, SHARE = "#16202c", "#566272", "#e9ecf0", "#d89000"
"""Text, quieter text, the ground of a track, and a share's colour: those of the page by day."""
WHITE = "#ffffff"
CHARACTER = 7.4
"""Pixels that a character of 13 pixels takes at most, on average."""


def drawing(width: float, height: float, title: str, parts: Iterable[Markup]) -> Markup:
    """Return a whole SVG file on white ground."""
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" height="{h:.0f}" '
        'viewBox="0 0 {w:.0f} {h:.0f}" role="img" font-size="13" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, sans-serif">'
        "<title>{title}</title>{ground}{parts}</svg>"
    ).format(
        w=width,
        h=height,
        title=title,
        ground=box(0, 0, width, height, WHITE),
        parts=join(parts),
    )


def box(left: float, top: float, width: float, height: float, fill: str) -> Markup:
    """Draw a filled rectangle; places are pixels."""
    return Markup(
        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" rx="4"/>'
    ).format(left, top, width, height, fill)


def text(left: float, base: float, words: str, anchor: str = "start", fill: str = INK) -> Markup:
    """Write a line of text; `anchor` is start, middle or end."""
    if not words:
        return NOTHING
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}">{}</text>').format(
        left, base, anchor, fill, words
    )


def width_of(words: Iterable[str]) -> float:
    """Return the pixels that the longest of some texts takes."""
    return CHARACTER * max(map(len, words), default=0)


def mixed(strength: float) -> str:
    """Return a share's colour over white, stronger from 0 to 1."""
    channels = (int(SHARE[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(strength * own + (1 - strength) * 255):02x}" for own in channels)
