"""Curves of accuracy by examples, as Liu et al. 2019 draw them: a panel for each challenge.

Colour and marker tell the models apart, a solid line with full markers is the challenge, a dashed
one with hollow markers the original set.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import pandas as pd
from markupsafe import Markup

from probe.pictures import svg
from probe.pictures.svg import FILE, PAGE, Palette, join, text

DASHES = {"challenge": "", "original": "5 4", "addsent_first": "1 4", "addsent_other": "9 3 1 3"}
"""The dashes of each line; of a model that is drawn alone its counter-tests have one, too."""
MODEL_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""Of the models in turn, so that colour is never the only cue."""
STEP, WIDE_STEP, WIDE_FROM = 10, 20, 40
"""Points between the ticks of an axis, and on one of more points than the last."""
GOAL = 0.9
"""The share of the gap that the paper calls outcome 1 where it is closed."""


@dataclass(frozen=True)
class PanelStyle:
    """What panels of one figure share: the models in their order and the axis, in percent."""

    names: tuple[str, ...]
    low: float
    high: float
    size: tuple[int, int] = (380, 190)

    def looks(self, palette: Palette) -> list[tuple[str, str, str]]:
        """Return each name with its colour, of which the first stands out, and its marker."""
        colours = cycle((palette.accent, *palette.models[1:]))
        shapes = cycle(MODEL_SHAPES)
        return [*zip(self.names, colours, shapes, strict=False)]


@dataclass(frozen=True)
class Panel:
    """One panel: the rows of `curve_frame`, the sizes that there are or will be.

    A frame with a column `label` says its points by that. `rules` are baselines by name, in
    percent. With `goal` a line marks 90 % of the gap, where one model is drawn. Unless `from_zero`
    the axis begins where the rows do, as that of a training's steps.
    """

    frame: pd.DataFrame
    sizes: tuple[int, ...] = ()
    rules: Mapping[str, float] = field(default_factory=dict)
    goal: bool = False
    from_zero: bool = True

    @property
    def places(self) -> list[int]:
        """The numbers of examples along the axis."""
        start = [0] if self.from_zero else []
        return sorted({*start, *self.sizes, *(int(size) for size in self.frame["examples"])})

    @property
    def models(self) -> list[str]:
        """The models that are drawn."""
        return list(dict.fromkeys(str(name) for name in self.frame["name"]))

    def goal_height(self) -> float | None:
        """Return where 90 % of the gap is closed, None where it is not to be marked."""
        start = self.frame[self.frame["examples"] == 0].set_index("set")["accuracy"]
        if not self.goal or len(self.models) > 1 or not {"original", "challenge"} <= {*start.index}:
            return None
        gap = float(start["original"] - start["challenge"])
        return float(start["challenge"]) + GOAL * gap if gap > 0 else None


def style_for(frame: pd.DataFrame, rules: Mapping[str, float] | None = None) -> PanelStyle:
    """Return a look that has room for all of a frame and for the rules, in percent."""
    values = [*frame["low"], *frame["high"], *(rules or {}).values()]
    low, high = (min(values), max(values)) if values else (0.0, 100.0)
    names = tuple(dict.fromkeys(str(name) for name in frame["name"]))
    return PanelStyle(names, max(0.0, 10 * (low // 10)), min(100.0, 10 * -(-high // 10)))


def ticks(style: PanelStyle) -> list[int]:
    """Return the round percentages of an axis, every tenth of a short one."""
    step = WIDE_STEP if style.high - style.low > WIDE_FROM else STEP
    first = math.ceil(style.low / step) * step
    return list(range(first, int(style.high) + 1, step))


def counter_tests_in(frame: pd.DataFrame) -> list[str]:
    """Return the names of the counter-tests that are drawn: of one model alone, not of several."""
    if frame["name"].nunique() > 1:
        return []
    return [name for name in frame["set"].unique() if name not in ("challenge", "original")]


def point_texts(frame: pd.DataFrame) -> list[str]:
    """Say each point in words."""
    return [
        f"{row.name_}, {row.set}, {row.examples} examples: {row.accuracy:.1f} % "
        f"({row.low:.1f} to {row.high:.1f}), n {row.n}, rate {row.lr:g}, seeds {row.seeds}"
        for row in frame.rename(columns={"name": "name_"}).itertuples(index=False)
    ]


LEFT, RIGHT, TOP, BOTTOM = 34, 14, 10, 24
"""Pixels around the plot."""
MERGE_BELOW_POINTS = 2.5  # points: rules closer than this share a label
NAMES_PER_LINE = 2  # of these names stand on one line of it, which fits a phone


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
        (x * cosine - y * sine, x * sine + y * cosine)
        for cosine, sine in ((1, 0), (0, 1), (-1, 0), (0, -1))
        for x, y in ((-_ARM, -1.1), (_ARM, -1.1), (_ARM, -_ARM))
    ],
    "triangle-down": [(1.2 * x, 1.2 * y) for x, y in _ring(3, math.pi)],
}
"""The corners of each marker of radius 1."""


def drawing(panel: Panel, style: PanelStyle, palette: Palette = PAGE) -> Markup:
    """Draw accuracy against the number of examples, without the frame of a file.

    A line for each round percentage, what rules reach that read no example as thin lines with
    their names, where 90 % of the gap is closed, as Liu et al. say of their outcome 1; then the
    lines of each model, whose points say themselves in words where the pointer rests. The intervals
    of one model are shaded, those of several stand side by side, so that none hides another.
    """
    soft, alone, places = palette.soft, len(style.names) == 1, panel.places
    right, bottom, first = style.size[0] - RIGHT, style.size[1] - BOTTOM, LEFT + 8

    def x_of(examples: int) -> float:
        """Return where a number of examples lies; all are equally far apart."""
        return first + (right - 6 - first) * places.index(examples) / max(1, len(places) - 1)

    def y_of(accuracy: float) -> float:
        share = (accuracy - style.low) / max(1e-9, style.high - style.low)
        return bottom - (bottom - TOP) * share

    def level(accuracy: float, colour: str, dashes: str = "") -> Markup:
        return svg.line((LEFT, y := y_of(accuracy)), (right, y), colour, dashes)

    parts = [level(style.low, palette.track)]
    for value in ticks(style):
        parts.append(level(value, palette.track))
        parts.append(text(LEFT - 6, y_of(value) + 4, value, "end", soft))
    widest = max(len(str(place)) for place in places)
    room = max(1, math.ceil(len(places) * (7 * widest + 6) / (right - first)))
    for place in places[::-1][::room][::-1]:  # the last one always, and as many as there is room
        parts.append(text(x_of(place), style.size[1] - 6, place, "middle", soft))
    for height, words, above in grouped_labels(panel.rules):
        parts.append(level(height, soft))
        parts.append(text(right, y_of(height) - 5 - 12 * above, words, "end", soft))
    if (goal := panel.goal_height()) is not None:
        words = "90 % closed, the paper’s claim"
        parts.append(level(goal, soft, "2 3"))
        parts.append(text(LEFT + 10, y_of(goal) + 13, words, "start", soft))
    labels = panel.frame["label"] if "label" in panel.frame else point_texts(panel.frame)
    frame = panel.frame.assign(label=labels).sort_values("examples")
    every: list[Any] = list(frame.itertuples(index=False))  # Any: a row of the frame
    counters = counter_tests_in(panel.frame)
    for at, (name, colour, shape) in enumerate(style.looks(palette)):
        shift = 3.0 * (at - (len(style.names) - 1) / 2)
        for which in (*(counters if alone else ()), "original", "challenge"):
            line = [row for row in every if (row.name, row.set) == (name, which)]
            shade, fill = (soft if alone else colour), palette.ground
            if which == "challenge":
                shade, fill = colour, colour
                lows, highs = (
                    [(x_of(row.examples), y_of(getattr(row, end))) for row in line]
                    for end in ("low", "high")
                )
                if alone:
                    parts.append(BAND.format(corners([*highs, *lows[::-1]]), colour))
                else:
                    parts += [
                        INTERVAL.format(x + shift, low, high, colour)
                        for (x, low), (_, high) in zip(lows, highs, strict=True)
                    ]
            points = [(x_of(row.examples), y_of(row.accuracy)) for row in line]
            parts.append(LINE.format(corners(points), shade, DASHES[which] or "none"))
            for row, (x, y) in zip(line, points, strict=True):
                ring = [(x + 3.4 * across, y + 3.4 * down) for across, down in MARKERS[shape]]
                parts.append(MARKER.format(shape, corners(ring), fill, shade, row.label))
    return join(parts)


def on_page(panel: Panel, style: PanelStyle, words: str) -> Markup:
    """Return a panel as wide as its place on the page; `words` name it to who cannot see it."""
    return svg.on_page(*style.size, words, [drawing(panel, style)])


def corners(places: Sequence[tuple[float, float]]) -> str:
    """Return places as the points of a polygon."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


BAND = Markup('<polygon points="{}" fill="{}" opacity="0.15"/>')
INTERVAL = Markup(
    '<line class="interval" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" stroke="{3}" '
    'stroke-width="1.3" opacity="0.6"/>'
)
LINE = Markup(
    '<polyline points="{}" fill="none" stroke="{}" stroke-width="2.2" stroke-dasharray="{}"/>'
)
MARKER = Markup(
    '<polygon class="{}" points="{}" fill="{}" stroke="{}" stroke-width="1.4">'
    "<title>{}</title></polygon>"
)


def grouped_labels(rules: Mapping[str, float]) -> list[tuple[float, str, int]]:
    """Return lines of text: at what height, the names, how many lines above the lowest.

    Rules that lie close together have one height, and their names stand there two by two.
    """
    groups: list[list[tuple[float, str]]] = []
    for value, name in sorted((value, name) for name, value in rules.items()):
        if not groups or value - groups[-1][0][0] >= MERGE_BELOW_POINTS:
            groups.append([])
        groups[-1].append((value, name))
    return [
        (
            sum(value for value, _ in group) / len(group),
            ", ".join(f"{name} {value:.0f} %" for value, name in group[at : at + NAMES_PER_LINE]),
            at // NAMES_PER_LINE,
        )
        for group in groups
        for at in range(0, len(group), NAMES_PER_LINE)
    ]


PANELS_PER_ROW, PANEL_SIZE, ALONE = 2, (380, 200), (640, 300)
"""Panels in a row, and how large each is in pixels, also where there is one only."""
MARGIN, HEAD, LEGEND_LINE = 16, 30, 22
BOLD = Markup(' font-size="13" font-weight="600"')


def of_panels(
    titled: Sequence[tuple[str, Panel]], style: PanelStyle, words: Sequence[str]
) -> Markup:
    """Draw panels under their titles with one legend, which ends with the words."""
    (width, height), columns = style.size, min(PANELS_PER_ROW, len(titled))
    parts = []
    for at, (title, panel) in enumerate(titled):
        row, column = divmod(at, columns)
        left, top = MARGIN + column * (width + MARGIN), MARGIN + row * (height + HEAD)
        parts.append(text(left + 4, top + 14, title, more=BOLD))
        parts.append(svg.moved(left, top + HEAD - 8, drawing(panel, style, FILE)))
    base = below = MARGIN + -(-len(titled) // columns) * (height + HEAD)
    for name, colour, shape in style.looks(FILE):
        base += LEGEND_LINE
        ring = corners([(MARGIN + 9 + 4 * x, base - 12 + 4 * y) for x, y in MARKERS[shape]])
        parts.append(Markup('<polygon points="{}" fill="{}"/>').format(ring, colour))
        parts.append(text(MARGIN + 22, base - 8, name))
    parts += [
        text(MARGIN + 4, base + 14 + at * LEGEND_LINE, line, fill=FILE.soft)
        for at, line in enumerate(words)
    ]
    wide = columns * (width + MARGIN) + MARGIN
    high = below + LEGEND_LINE * (len(words) + len(style.names)) + 8
    return svg.drawing(wide, high, "; ".join(title for title, _ in titled), parts, 11)
