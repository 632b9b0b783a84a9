"""A panel of curves as SVG: the page's own, and a file's in colours of its own."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import vl_convert
from markupsafe import Markup

from finetune.report.curves import DASHES, Panel, PanelStyle, counter_tests_in, point_texts, ticks
from probe.statistics import Estimate, interval

LEFT, RIGHT, TOP, BOTTOM = 34, 14, 10, 24
"""Pixels around the plot."""
MERGE_BELOW_POINTS = 2.5  # points: rules closer than this share a label
NAMES_PER_LINE = 2  # of these names stand on one line of it, which fits a phone
NOTHING = Markup("")


@dataclass(frozen=True)
class Palette:
    """The colours of a drawing; `accent` is the first model's, `ground` is under hollow markers."""

    ink: str
    soft: str
    track: str
    accent: str
    ground: str


PAGE = Palette("var(--ink)", "var(--soft)", "var(--track)", "var(--accent)", "var(--card)")
FILE = Palette("#16202c", "#566272", "#dfe3e8", "#0b6e62", "#ffffff")


def _ring(corners: int, turn: float = 0.0) -> list[tuple[float, float]]:
    """Return corners on a circle around nothing, the first at the top unless turned."""
    angles = (2 * math.pi * at / corners + turn for at in range(corners))
    return [(math.sin(angle), -math.cos(angle)) for angle in angles]


_ARM = 0.36
MARKERS: Mapping[str, Sequence[tuple[float, float]]] = {
    "circle": _ring(16),
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "triangle-up": [(1.2 * x, 1.2 * y) for x, y in _ring(3)],
    "diamond": [(1.25 * x, 1.25 * y) for x, y in _ring(4)],
    "cross": [
        (x, y)
        for turn in range(4)
        for x, y in (
            ((-_ARM, -1.1), (_ARM, -1.1), (_ARM, -_ARM)),
            ((1.1, -_ARM), (1.1, _ARM), (_ARM, _ARM)),
            ((_ARM, 1.1), (-_ARM, 1.1), (-_ARM, _ARM)),
            ((-1.1, _ARM), (-1.1, -_ARM), (-_ARM, -_ARM)),
        )[turn]
    ],
    "triangle-down": [(1.2 * x, 1.2 * y) for x, y in _ring(3, math.pi)],
}
"""The corners of each marker of radius 1."""


@dataclass(frozen=True)
class Plot:
    """Where numbers of examples and percentages lie in a panel."""

    style: PanelStyle
    places: Sequence[int]

    @property
    def right(self) -> float:
        """Where the plot ends."""
        return self.style.size[0] - RIGHT

    @property
    def bottom(self) -> float:
        """Where its axis lies."""
        return self.style.size[1] - BOTTOM

    def x(self, examples: int) -> float:
        """Return where a number of examples lies; all are equally far apart."""
        first, steps = LEFT + 8, max(1, len(self.places) - 1)
        return first + (self.right - 6 - first) * list(self.places).index(examples) / steps

    def y(self, accuracy: float) -> float:
        """Return where an accuracy in percent lies."""
        share = (accuracy - self.style.low) / max(1e-9, self.style.high - self.style.low)
        return self.bottom - (self.bottom - TOP) * share


def drawing(panel: Panel, style: PanelStyle, palette: Palette = PAGE) -> Markup:
    """Draw accuracy against the number of examples, without the frame of a file."""
    plot = Plot(style, panel.places)
    colours = dict(zip(style.names, style.colours(palette.accent), strict=True))
    shapes = dict(zip(style.names, style.shapes, strict=True))
    parts = [_grid(plot, palette), _rules(panel, plot, palette), _goal(panel, plot, palette)]
    alone = len(style.names) == 1
    labels = panel.frame["label"] if "label" in panel.frame else point_texts(panel.frame)
    frame = panel.frame.assign(label=labels).sort_values("examples")
    every, counters = list(frame.itertuples(index=False)), counter_tests_in(panel.frame)
    for at, name in enumerate(style.names):
        shift, colour = 3.0 * (at - (len(style.names) - 1) / 2), colours[name]
        for which in (*(counters if alone else ()), "original", "challenge"):
            line = [row for row in every if (row.name, row.set) == (name, which)]
            shade = palette.soft if alone and which != "challenge" else colour
            if which == "challenge":
                parts.append(
                    _band(line, plot, colour) if alone else _bars(line, plot, colour, shift)
                )
            parts.append(_line(line, plot, shade, DASHES[which]))
            fill = colour if which == "challenge" else palette.ground
            parts += [_marker(row, plot, shapes[name], shade, fill) for row in line]
    return Markup("").join(parts)


def svg(panel: Panel, style: PanelStyle, words: str) -> Markup:
    """Return a panel as wide as its place on the page; `words` name it to who cannot see it."""
    return Markup(
        '<svg role="img" aria-label="{}" viewBox="0 0 {} {}" font-size="11">{}</svg>'
    ).format(words, *style.size, drawing(panel, style))


def text(
    x: float, y: float, words: object, anchor: str, fill: str, more: Markup = NOTHING
) -> Markup:
    """Write a line of text; `more` are further attributes."""
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}"{}>{}</text>').format(
        x, y, anchor, fill, more, words
    )


def _grid(plot: Plot, palette: Palette) -> Markup:
    """Draw a line for each round percentage and write the numbers of examples under the plot."""
    lines = [
        _level(plot, value, palette.track)
        + text(LEFT - 6, plot.y(value) + 4, value, "end", palette.soft)
        for value in ticks(plot.style)
    ]
    numbers = [
        text(plot.x(place), plot.style.size[1] - 6, place, "middle", palette.soft)
        for place in plot.places
    ]
    return Markup("").join([_level(plot, plot.style.low, palette.track), *lines, *numbers])


def _level(plot: Plot, accuracy: float, colour: str, dashes: str = "") -> Markup:
    return Markup(
        '<line x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}" stroke="{}" stroke-dasharray="{}"/>'
    ).format(LEFT, plot.right, *[plot.y(accuracy)] * 2, colour, dashes or "none")


def _corners(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _band(line: Sequence[Any], plot: Plot, colour: str) -> Markup:
    """Shade the intervals of one model."""
    there = [(plot.x(row.examples), plot.y(row.high)) for row in line]
    back = [(plot.x(row.examples), plot.y(row.low)) for row in line]
    return Markup('<polygon points="{}" fill="{}" opacity="0.15"/>').format(
        _corners([*there, *back[::-1]]), colour
    )


def _bars(line: Sequence[Any], plot: Plot, colour: str, shift: float) -> Markup:
    """Draw the intervals of several models side by side, so that they do not hide each other."""
    bar = Markup(
        '<line class="interval" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" stroke="{3}" '
        'stroke-width="1.3" opacity="0.6"/>'
    )
    return Markup("").join(
        bar.format(plot.x(row.examples) + shift, plot.y(row.low), plot.y(row.high), colour)
        for row in line
    )


def _line(line: Sequence[Any], plot: Plot, colour: str, dashes: str) -> Markup:
    places = [(plot.x(row.examples), plot.y(row.accuracy)) for row in line]
    return Markup(
        '<polyline points="{}" fill="none" stroke="{}" stroke-width="2.2" stroke-dasharray="{}"/>'
    ).format(_corners(places), colour, dashes or "none")


def _marker(row: Any, plot: Plot, shape: str, colour: str, fill: str) -> Markup:
    """Draw a point, which says itself in words where the pointer rests."""
    x, y = plot.x(row.examples), plot.y(row.accuracy)
    corners = [(x + 3.4 * right, y + 3.4 * down) for right, down in MARKERS[shape]]
    return Markup(
        '<polygon class="{}" points="{}" fill="{}" stroke="{}" stroke-width="1.4">'
        "<title>{}</title></polygon>"
    ).format(shape, _corners(corners), fill, colour, row.label)


def _goal(panel: Panel, plot: Plot, palette: Palette) -> Markup:
    """Mark where 90 % of the gap is closed, as Liu et al. say of their outcome 1."""
    height = panel.goal_height()
    if height is None:
        return NOTHING
    words = text(
        LEFT + 10, plot.y(height) + 13, "90 % closed, the paper’s claim", "start", palette.soft
    )
    return _level(plot, height, palette.soft, "2 3") + words


def _rules(panel: Panel, plot: Plot, palette: Palette) -> Markup:
    """Draw what rules reach that read no example as thin lines with their names."""
    return Markup("").join(
        _level(plot, height, palette.soft)
        + text(plot.right, plot.y(height) - 5 - 12 * line, words, "end", palette.soft)
        for height, words, line in grouped_labels(panel.rules)
    )


def grouped_labels(rules: Mapping[str, float]) -> list[tuple[float, str, int]]:
    """Return lines of text: at what height, the names, how many lines above the lowest.

    Rules that lie close together have one height, and their names stand there two by two.
    """
    groups: list[list[tuple[float, str]]] = []
    for value, name in sorted((value, name) for name, value in rules.items()):
        if groups and value - groups[-1][0][0] < MERGE_BELOW_POINTS:
            groups[-1].append((value, name))
        else:
            groups.append([(value, name)])
    return [
        (
            sum(value for value, _ in group) / len(group),
            ", ".join(f"{name} {value:.0f} %" for value, name in group[at : at + NAMES_PER_LINE]),
            at // NAMES_PER_LINE,
        )
        for group in groups
        for at in range(0, len(group), NAMES_PER_LINE)
    ]


NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may hold; at one of them vl-convert ends the whole process."""
REPLACEMENT = "\ufffd"


def svg_file(drawn: Markup) -> str:
    """Return a drawing as the text of a file, with a replacement for what no XML may hold."""
    return NO_XML.sub(REPLACEMENT, str(drawn))


def png_file(drawn: Markup) -> bytes:
    """Return a drawing as PNG, twice as fine as a screen."""
    return bytes(vl_convert.svg_to_png(svg_file(drawn), scale=2))


NONE = "–"


@dataclass(frozen=True)
class MarkdownTable:
    """A table: what it shows in a sentence, its columns and rows.

    `models` are those that it is about, by name, with the hashes that their runs began with.
    """

    says: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    models: Mapping[str, str]


def written(table: MarkdownTable) -> str:
    """Write the rows of a table, with its columns above them."""
    head, *rows = (f"| {' | '.join(row)} |\n" for row in (table.heads, *table.rows))
    return "".join((head, f"|{'---|' * len(table.heads)}\n", *rows))


def in_percent(value: float | None) -> str:
    """Write a share in per cent, a dash for none."""
    return NONE if value is None else f"{100 * value:.1f}"


def with_interval(estimate: Estimate) -> str:
    """Write a share in per cent with its interval, such as 81.5 (80.4–82.6)."""
    return f"{in_percent(estimate.value)} ({interval(estimate, '–')})" if estimate.n else NONE
