"""Drawings as files: SVG and PNG."""

import re

import vl_convert
from markupsafe import Markup

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may hold; at one of them vl-convert ends the whole process."""
REPLACEMENT = "\ufffd"


def svg_file(drawn: Markup) -> str:
    """Return a drawing as the text of a file, with a replacement for what no XML may hold."""
    return NO_XML.sub(REPLACEMENT, str(drawn))


def png_file(drawn: Markup) -> bytes:
    """Return a drawing as PNG, twice as fine as a screen."""
    return bytes(vl_convert.svg_to_png(svg_file(drawn), scale=2))
