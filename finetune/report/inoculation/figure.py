"""The figure of several runs as a file: its panels side by side, one legend, a white ground."""

from collections.abc import Sequence

from markupsafe import Markup

from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.curves import Panel, PanelStyle
from finetune.report.inoculation.sweep import (
    by_panel,
    challenge_title,
    counter_titles,
    measure_of,
    panels,
)
from finetune.report.panel import FILE, MARKERS, drawing, text
from probe.errors import RunError

PANELS_PER_ROW, PANEL_SIZE, ALONE = 2, (380, 200), (640, 300)
"""Panels in a row, and how large each is in pixels, also where there is one only."""
MARGIN, HEAD, LEGEND_LINE = 16, 30, 22
FONT = "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"
WORDS = (
    "Solid: {} on the challenge in percent, with its 95 % interval.",
    "Dashed: {} on the original set. Across: examples shown.",
)
"""What the lines are, where the measure is filled in."""
COUNTER_WORDS = "Dots, then dots and strokes: {}."
BOLD = Markup(' font-size="13" font-weight="600"')


def figure(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    """Draw a panel for each challenge. Raises RunError where no run has a point."""
    runs_of = by_panel(runs)
    drawn, style = panels(runs, selection, PANEL_SIZE if len(runs_of) > 1 else ALONE)
    if not drawn:
        raise RunError("no cell is finished yet, so there is nothing to draw")
    titles = {name: challenge_title(own[0]) for name, own in runs_of.items()}
    words = [line.format(measure_of(runs)) for line in WORDS]
    if others := counter_titles(drawn.values()):
        words.append(COUNTER_WORDS.format(" · ".join(others.values())))
    return of_panels([(titles[name], panel) for name, panel in drawn.items()], style, words)


def of_panels(
    titled: Sequence[tuple[str, Panel]], style: PanelStyle, words: Sequence[str]
) -> Markup:
    """Draw panels under their titles with one legend, which ends with the words."""
    (width, height), count = style.size, len(titled)
    columns = min(PANELS_PER_ROW, count)
    rows = -(-count // columns)
    below = MARGIN + rows * (height + HEAD)
    legend = _legend(style, words, below + 14)
    size = (
        columns * (width + MARGIN) + MARGIN,
        below + LEGEND_LINE * (len(words) + len(style.names)) + 8,
    )
    placed = [
        _placed(panel, style, title, at % columns, at // columns)
        for at, (title, panel) in enumerate(titled)
    ]
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
        'font-size="11" font-family="{font}"><rect width="{w}" height="{h}" fill="#ffffff"/>'
        "{parts}{legend}</svg>"
    ).format(w=size[0], h=size[1], font=FONT, parts=Markup("").join(placed), legend=legend)


def _placed(panel: Panel, style: PanelStyle, title: str, column: int, row: int) -> Markup:
    width, height = style.size
    left, top = MARGIN + column * (width + MARGIN), MARGIN + row * (height + HEAD)
    return Markup(
        '<g transform="translate({},{})">{}<g transform="translate(0,{})">{}</g></g>'
    ).format(
        left,
        top,
        text(4, 14, title, "start", FILE.ink, BOLD),
        HEAD - 8,
        drawing(panel, style, FILE),
    )


def _legend(style: PanelStyle, words: Sequence[str], top: float) -> Markup:
    """Say what colours, markers and dashes mean."""
    keys = [
        _key(name, colour, shape, top + at * LEGEND_LINE)
        for at, (name, colour, shape) in enumerate(
            zip(style.names, style.colours(FILE.accent), style.shapes, strict=True)
        )
    ]
    below = top + len(style.names) * LEGEND_LINE
    lines = [
        text(MARGIN + 4, below + at * LEGEND_LINE, line, "start", FILE.soft)
        for at, line in enumerate(words)
    ]
    return Markup("").join([*keys, *lines])


def _key(name: str, colour: str, shape: str, base: float) -> Markup:
    corners = " ".join(
        f"{MARGIN + 9 + 4 * x:.1f},{base - 4 + 4 * y:.1f}" for x, y in MARKERS[shape]
    )
    return Markup('<polygon points="{}" fill="{}"/>{}').format(
        corners, colour, text(MARGIN + 22, base, name, "start", FILE.ink)
    )
