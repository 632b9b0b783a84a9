"""Charts as SVG and PNG."""

import re
from collections.abc import Mapping
from typing import Any

import vl_convert
from markupsafe import Markup

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may hold; at one of them vl-convert ends the whole process."""
REPLACEMENT = "\ufffd"


def draw_svg(chart: Mapping[str, Any]) -> str:
    """Return a chart, given as Vega-Lite, as SVG."""
    return str(vl_convert.vegalite_to_svg(drawable(chart)))


def draw_png(chart: Mapping[str, Any]) -> bytes:
    """Return a chart, given as Vega-Lite, as PNG, twice as fine as a screen."""
    return bytes(vl_convert.vegalite_to_png(drawable(chart), scale=2))


def as_markup(drawn: str) -> Markup:
    """Return SVG that `draw_svg` made as markup.

    It is trusted because vl-convert writes it as well-formed XML of its own elements, in which
    names and sentences stand as escaped text and attributes.
    """
    return Markup(drawn)


def drawable(value: Any) -> Any:  # Any: what JSON holds
    """Return JSON values with a replacement for each character that cannot be drawn."""
    if isinstance(value, str):
        return NO_XML.sub(REPLACEMENT, value)
    if isinstance(value, Mapping):
        return {drawable(name): drawable(held) for name, held in value.items()}
    if isinstance(value, list):
        return [drawable(held) for held in value]
    return value
