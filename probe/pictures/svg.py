"""What charts are put together from: palettes, boxes, lines, words, and whole files."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap

from markupsafe import Markup


@dataclass(frozen=True)
class Palette:
    """Text, quieter text, a track, a share, what stands out, the ground, and models in turn.

    No model has a label's colour.
    """

    ink: str
    soft: str
    track: str
    share: str
    accent: str
    ground: str
    models: tuple[str, ...]


PAGE = Palette(
    "var(--ink)", "var(--soft)", "var(--track)", "var(--for)", "var(--accent)", "var(--card)",
    tuple(f"var(--mark-{number})" for number in range(1, 7)),
)  # fmt: skip
"""Those of the page, by day and by night."""
FILE = Palette(
    "#16202c", "#566272", "#e9ecf0", "#d89000", "#0b6e62", "#ffffff",
    ("#00775a", "#16202c", "#8f7a00", "#6a4fc0", "#4f8a10", "#4d4500"),
)  # fmt: skip
"""The same by day, for a drawing that leaves the page."""
NOTHING = Markup("")
CHARACTER = 7.4
"""Pixels that a character of 13 pixels takes at most, on average."""
CAPTION_WIDTH = 96
"""Characters of a line below a drawing in a file."""
FONT = "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"


def drawing(
    width: float, height: float, title: str, parts: Iterable[Markup], font_size: int = 13
) -> Markup:
    """Return a whole SVG file on white ground."""
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" height="{h:.0f}" '
        'viewBox="0 0 {w:.0f} {h:.0f}" role="img" font-size="{size}" font-family="{font}">'
        "<title>{title}</title>{ground}{parts}</svg>"
    ).format(
        w=width,
        h=height,
        size=font_size,
        font=FONT,
        title=title,
        ground=box(0, 0, width, height, FILE.ground),
        parts=join(parts),
    )


def on_page(width: float, height: float, label: str, parts: Iterable[Markup]) -> Markup:
    """Return a drawing as wide as its place; `label` says what is drawn to who cannot see it."""
    return Markup(
        '<svg role="img" aria-label="{}" viewBox="0 0 {:.0f} {:.0f}" font-size="11">{}</svg>'
    ).format(label, width, height, join(parts))


def moved(left: float, top: float, drawn: Markup) -> Markup:
    """Move a drawing by so many pixels."""
    return Markup('<g transform="translate({:.0f},{:.0f})">{}</g>').format(left, top, drawn)


def stacked(drawings: Sequence[Markup], title: str) -> Markup:
    """Return drawings one under the other in a file of their own."""
    # a drawing of ours begins with how large it is
    found = [re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawing)[0] for drawing in drawings]
    sizes = [(int(width), int(height)) for width, height in found]
    tops = [sum(height for _, height in sizes[:at]) for at in range(len(sizes))]
    placed = [moved(0, top, one) for top, one in zip(tops, drawings, strict=True)]
    width, height = max(width for width, _ in sizes), sum(height for _, height in sizes)
    return drawing(width, height, title, placed)


def captioned(drawn: Markup, title: str, words: str) -> Markup:
    """Return a file's drawing over the sentence that says how to read it."""
    lines = wrap(words, CAPTION_WIDTH)
    said = [text(16, 16 + 19 * at, line, fill=FILE.soft) for at, line in enumerate(lines)]
    return stacked([drawn, drawing(width_of(lines) + 32, 19 * len(lines) + 8, title, said)], title)


def join(parts: Iterable[Markup]) -> Markup:
    """Return markup one after another."""
    return NOTHING.join(parts)


def box(left: float, top: float, width: float, height: float, fill: str) -> Markup:
    """Draw a filled rectangle; places are pixels."""
    return Markup(
        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" rx="4"/>'
    ).format(left, top, width, height, fill)


def line(
    start: tuple[float, float], end: tuple[float, float], stroke: str, dashes: str = ""
) -> Markup:
    """Draw a line from one place to another."""
    return Markup(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-dasharray="{}"/>'
    ).format(*start, *end, stroke, dashes or "none")


def text(
    left: float,
    base: float,
    words: object,
    anchor: str = "start",
    fill: str = FILE.ink,
    more: Markup = NOTHING,
) -> Markup:
    """Write a line of text; `anchor` is start, middle or end, `more` are further attributes."""
    if not str(words):
        return NOTHING
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}"{}>{}</text>').format(
        left, base, anchor, fill, more, words
    )


def width_of(words: Iterable[str]) -> float:
    """Return the pixels that the longest of some texts takes."""
    return CHARACTER * max(map(len, words), default=0)


def mixed(strength: float) -> str:
    """Return a share's colour over white, stronger from 0 to 1."""
    channels = (int(FILE.share[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(strength * own + (1 - strength) * 255):02x}" for own in channels)


NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may hold; at one of them vl-convert ends the whole process."""
REPLACEMENT = "\ufffd"


def svg_file(drawn: str) -> str:
    """Return a drawing as the text of a file, with a replacement for what no XML may hold."""
    return NO_XML.sub(REPLACEMENT, str(drawn))


def png_file(drawn: Markup) -> bytes:
    """Return a drawing as PNG, twice as fine as a screen."""
    import vl_convert  # large, and few ask for a PNG

    return bytes(vl_convert.svg_to_png(svg_file(drawn), scale=2))


def pdf_file(drawn: str) -> bytes:
    """Return a drawing as PDF, whose text stays text and whose fonts are in it."""
    import vl_convert  # as above

    return bytes(vl_convert.svg_to_pdf(svg_file(drawn)))


def figure_files(stem: str, drawn: Markup) -> dict[str, bytes]:
    """Return the files of a figure by their names."""
    svg = svg_file(drawn) + "\n"
    return {f"{stem}.svg": svg.encode(), f"{stem}.pdf": pdf_file(drawn)}
