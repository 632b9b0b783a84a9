"""A picture: a drawing under its title, its table twin, and what can be taken away of it.

The drawings are in `pictures`: `heat_map` and `forest_plot`, each with an SVG file of its own.
"""

import hmac
import secrets
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from probe.pictures.forest import (
    DotPlot,
    Forest,
    dot_frame,
    dot_plot,
    dot_svg,
    forest_frame,
    forest_plot,
    forest_svg,
)
from probe.pictures.svg import captioned, svg_file
from probe.ui.html.elements import NOTHING, join, note, sheet

BETWEEN = Markup(" · ")
SECRET = secrets.token_bytes(32)


def seal(svg: bytes) -> str:
    """Return by what a drawing is known that this process has made: no other becomes a PDF."""
    return hmac.new(SECRET, svg, "sha256").hexdigest()


def picture(
    title: str,
    drawing: Markup,
    frame: pd.DataFrame,
    svg: Markup = NOTHING,
    *,
    stem: str,
    sentence: str = "",
    beside: Markup = NOTHING,
) -> Markup:
    """Show a drawing as a card with its table folded away.

    `frame` holds the same figures: the table twin and the CSV file. `svg` is the drawing as a file
    of its own, from which the browser makes the PNG; `stem` names the files, `sentence` stands
    below, in the file too, and `beside`, such as a badge, after the title.
    """
    below = note(sentence) if sentence else NOTHING
    if svg and sentence:
        svg = captioned(svg, title, sentence)
    return Markup(
        '<section class="card picture" aria-label="{title}">'
        '<div class="strip head"><h3>{title}</h3>{beside}'
        '<span class="grow"></span><span class="tiny take">{take}</span></div>{drawing}{below}'
        '<div class="as-table" hidden>{twin}</div></section>'
    ).format(
        title=title,
        beside=beside,
        take=take_away(frame, svg_file(svg), stem),
        drawing=drawing,
        below=below,
        twin=sheet(frame, f"{title}, as table"),
    )


def chart(title: str, drawn: Forest | DotPlot, *, stem: str, sentence: str = "") -> Markup:
    """Show a forest or a plot of dots as a card, with its table and files."""
    if isinstance(drawn, Forest):
        shown, frame = forest_plot(drawn, title), forest_frame(drawn)
        svg = forest_svg(drawn, title)
    else:
        shown, frame, svg = dot_plot(drawn, title), dot_frame(drawn), dot_svg(drawn, title)
    return picture(title, shown, frame, svg, stem=stem, sentence=sentence)


def take_away(frame: pd.DataFrame, svg: str, stem: str) -> Markup:
    """Return what unfolds the table, and the links to the files of a picture."""
    links = [
        Markup(
            '<button type="button" aria-expanded="false" onclick="unfoldTable(this)">as table'
            "</button>"
        )
    ]
    if svg:
        links += [
            _download(svg, "image/svg+xml", f"{stem}.svg", "SVG"),
            Markup('<button type="button" onclick="takePng(this)">PNG</button>'),
            Markup(
                '<button type="button" data-seal="{}" onclick="takePdf(this)">PDF</button>'
            ).format(seal(svg.encode())),
        ]
    links.append(_download(frame.to_csv(index=False), "text/csv", f"{stem}.csv", "CSV"))
    return join(links, BETWEEN)


def _download(text: str, kind: str, name: str, words: str) -> Markup:
    """Return a link that holds the file itself."""
    return Markup('<a download="{}" href="data:{};charset=utf-8,{}">{}</a>').format(
        name, kind, quote(text), words
    )
