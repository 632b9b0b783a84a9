"""Forest and dot plots: estimates and their 95 % intervals on tracks, row by row.

A forest has one estimate a row beside a reference, a dot plot one for each of several models.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from probe.pictures import svg
from probe.pictures.curves import MARKERS
from probe.pictures.svg import NOTHING, join
from probe.statistics import Estimate

SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
"""Of the models in turn, as on the page, so that colour is never the only cue."""
TRACK_WIDTH, LANE, GAP = 320, 14, 16
NEAR, AT_END = 0.3, 0.08
"""A reference nearer to an end of the scale than the first takes the place of the end's words;
nearer than the second they would leave the picture, if they stood about it."""


@dataclass(frozen=True)
class ForestRow:
    """An estimate with its plain title and code name; `more` stands behind its track.

    An estimate from a paper that gives no interval has its own value for both ends.
    `words` say the same as `more` where markup cannot stand, in the table and the file.
    """

    title: str
    estimate: Estimate
    code: str = ""
    words: str = ""
    more: Markup = NOTHING


@dataclass(frozen=True)
class Forest:
    """Rows over the same scale from `low` to `high`, whose ends have words of their own.

    A dashed line marks the `reference`, such as chance, unless it is None. Words of rows stand
    beside their tracks unless `beside` is false: long ones are for the table alone.
    """

    rows: Sequence[ForestRow]
    low: float = 0.0
    high: float = 1.0
    low_title: str = ""
    high_title: str = ""
    reference: float | None = None
    reference_title: str = "chance"
    beside: bool = True

    def place(self, value: float) -> float:
        """Return where a value stands on the scale, from 0 to 1; one beyond an end stands there."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def forest_plot(forest: Forest, label: str) -> Markup:
    """Draw it; `label` says what is drawn to who cannot see it."""
    several = forest.beside and any(row.more or row.words for row in forest.rows)
    words = "; ".join(f"{row.title} {_figure(row.estimate)}" for row in forest.rows)
    lines = []
    for row in forest.rows:
        track, one = _reference(forest.reference, forest.place), row.estimate
        if one.n:
            low, high = forest.place(one.low), forest.place(one.high)
            track += Markup(
                '<u style="left:{:.1f}%;width:{:.1f}%"></u><b style="left:{:.1f}%"></b>'
            ).format(100 * low, 100 * (high - low), 100 * forest.place(one.value))
        behind = Markup('<span class="soft">{}</span>').format(row.more or row.words)
        lines.append(
            Markup('<span class="name">{}</span><span class="track" title="{}">{}</span>{}').format(
                row.title, _figure(one), track, behind if several else NOTHING
            )
        )
    if marks := _marks(forest):  # under the last track
        mark = Markup('<span class="{}" style="left:{:.1f}%">{}</span>')
        scale = join(mark.format(anchor, 100 * at, words) for at, words, anchor in marks)
        last = Markup("<span></span>") if several else NOTHING
        under = Markup('<span></span><span class="scale soft tiny">{}</span>{}')
        lines.append(under.format(scale, last))
    return Markup('<div class="{}" role="img" aria-label="{}">{}</div>').format(
        "forest with-words" if several else "forest", f"{label}: {words}", join(lines)
    )


def _figure(estimate: Estimate) -> str:
    if not estimate.n:
        return "not measured"
    if estimate.low == estimate.high:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def _reference(reference: float | None, place: Callable[[float], float] = float) -> Markup:
    if reference is None:
        return NOTHING
    return Markup('<i style="left:{:.1f}%"></i>').format(100 * place(reference))


Mark = tuple[float, str, str]
"""Where words of the scale stand, from 0 to 1, the words, and their anchor."""


def _marks(forest: Forest) -> list[Mark]:
    ends = [
        (0.0, forest.low_title or f"{forest.low:g}", "start"),
        (1.0, forest.high_title or f"{forest.high:g}", "end"),
    ]
    if forest.reference is None:
        return ends
    at = forest.place(forest.reference)
    apart = [end for end in ends if abs(end[0] - at) > (NEAR if len(end[1]) > 3 else AT_END)]
    anchor = "start" if at < AT_END else "end" if at > 1 - AT_END else "middle"
    return [*apart, (at, forest.reference_title, anchor)]


def forest_frame(forest: Forest) -> pd.DataFrame:
    """Return the rows as a table: title, name, value, low, high, n, and words where there are."""
    rows = [(row.title, row.code, *_rounded(row.estimate), row.words) for row in forest.rows]
    frame = pd.DataFrame(rows, columns=["title", "name", "value", "low", "high", "n", "words"])
    return frame if any(row.words for row in forest.rows) else frame.drop(columns="words")


def _rounded(one: Estimate) -> tuple[float, ...]:
    """Return value, low, high and n."""
    return (*(round(x, 4) for x in (one.value, one.low, one.high)), one.n)


def forest_svg(forest: Forest, title: str) -> Markup:
    """Draw it as a file of its own."""
    rows = [(r.title, [r.estimate], r.words if forest.beside else "") for r in forest.rows]
    return _svg(title, rows, _marks(forest), forest.reference, forest.place)


@dataclass(frozen=True)
class DotRow:
    """What each model reaches; a press on its number of examples reports `key`, if there is one."""

    title: str
    estimates: Sequence[Estimate]
    key: str = ""
    strong: bool = False

    @property
    def n(self) -> int:
        """How many examples it is over."""
        return max((estimate.n for estimate in self.estimates), default=0)


@dataclass(frozen=True)
class DotPlot:
    """Rows over a scale of 0 to 100 %; a dashed line marks the `reference`, such as chance.

    `measure` is what is drawn, and `figures` what stands under the figures.
    """

    models: Sequence[str]
    rows: Sequence[DotRow]
    reference: float | None = None
    reference_title: str = ""
    unit: str = "example"
    measure: str = "accuracy"
    figures: str = "% right"


def mark(number: int) -> Markup:
    """Draw the mark of a model: its colour and its shape; the first is 0."""
    return Markup('<b class="mark mark-{}"></b>').format(number + 1)


def _figures(row: DotRow) -> str:
    return " · ".join(f"{100 * one.value:.0f}" if one.n else "–" for one in row.estimates)


def dot_plot(plot: DotPlot, label: str) -> Markup:
    """Draw it; `label` says what is drawn to who cannot see it."""
    legend, middle = Markup("<span>{} {}</span>"), NOTHING
    if plot.reference is not None:
        middle = Markup('<span class="middle" style="left:{:.1f}%">{}</span>').format(
            100 * plot.reference, plot.reference_title
        )
    # under the tracks the ends of the scale, and what stands in the last two columns
    scale = Markup(
        '<span class="name"></span><span class="scale soft tiny"><span>0 %</span>{}'
        '<span class="end">100 %</span></span><span class="soft tiny figures">{}</span>'
        '<span class="soft tiny count">{}s</span>'
    )
    return Markup(
        '<div class="legend">{}</div><div class="dots" role="group" aria-label="{}">{}{}</div>'
    ).format(
        join(legend.format(mark(at), name) for at, name in enumerate(plot.models)),
        label,
        join(_dots(plot, row) for row in plot.rows),
        scale.format(middle, plot.figures, plot.unit),
    )


def _dots(plot: DotPlot, row: DotRow) -> Markup:
    """Draw a row, whose number of examples is a button where they can be looked at."""
    lanes, words = [], []
    lane = Markup(
        '<span class="lane mark-{number}" style="--at:{at}">'
        '<u style="left:{low:.1f}%;width:{width:.1f}%"></u>'
        '<b class="mark mark-{number}" style="left:{value:.1f}%"></b></span>'
    )
    for at, (name, one) in enumerate(zip(plot.models, row.estimates, strict=True)):
        if one.n:
            low, high, value = (100 * each for each in (one.low, one.high, one.value))
            lanes.append(lane.format(number=at + 1, at=at, low=low, width=high - low, value=value))
            words.append(f"{name} {value:.1f} % ({low:.1f} to {high:.1f})")
    count = Markup('<span class="count soft num">{:,}</span>').format(row.n)
    if row.key:
        count = Markup(
            '<button type="button" class="count num" data-cell="{}" aria-label="{}">{:,}</button>'
        ).format(row.key, f"show the {row.n:,} {plot.unit}s: {row.title}", row.n)
    return Markup(
        '<span class="name{}">{}</span><span class="lanes" style="--lanes:{}" title="{}">{}{}'
        '</span><span class="soft num figures">{}</span>{}'
    ).format(
        " strong" if row.strong else "",
        row.title,
        len(row.estimates),
        "; ".join(words),
        _reference(plot.reference),
        join(lanes),
        _figures(row),
        count,
    )


def dot_frame(plot: DotPlot) -> pd.DataFrame:
    """Return a row for each model in each row: title, model, value, low, high, n."""
    rows = [
        (row.title, name, *_rounded(one))
        for row in plot.rows
        for name, one in zip(plot.models, row.estimates, strict=True)
    ]
    return pd.DataFrame(rows, columns=["examples", "model", plot.measure, "low", "high", "n"])


def dot_svg(plot: DotPlot, title: str) -> Markup:
    """Draw it as a file of its own."""
    marks = [(0.0, "0 %", "start"), (1.0, "100 %", "end")]
    if plot.reference is not None:
        marks.append((plot.reference, plot.reference_title, "middle"))
    rows = [(row.title, row.estimates, _figures(row)) for row in plot.rows]
    return _svg(title, rows, marks, plot.reference, float, svg.FILE.models, plot.models)


def _svg(
    title: str,
    rows: Sequence[tuple[str, Sequence[Estimate], str]],
    marks: Sequence[Mark],
    reference: float | None,
    place: Callable[[float], float],
    colours: Sequence[str] = (svg.FILE.share,),
    models: Sequence[str] = (),
) -> Markup:
    """Draw a track for each row of a title, estimates, and words and n behind the track."""
    height = LANE * max((len(estimates) for _, estimates, _ in rows), default=1) + GAP
    left, at = svg.width_of([words for words, *_ in rows]) + 32, 16.0
    top = 72 if models else 48
    bottom, parts = top + height * len(rows), [svg.text(16, 26, title)]

    def dot(number: int, across: float, down: float) -> Markup:
        corners = MARKERS[SHAPES[number % len(SHAPES)]]
        places = " ".join(f"{across + 5 * x:.1f},{down + 5 * y:.1f}" for x, y in corners)
        colour = colours[number % len(colours)]
        return Markup('<polygon points="{}" fill="{}"/>').format(places, colour)

    for number, name in enumerate(models):
        parts.append(dot(number, at + 5, 46))
        parts.append(svg.text(at + 16, 50, name))
        at += svg.width_of([name]) + 40
    said = svg.width_of([words for *_, words in rows])
    beyond = left + TRACK_WIDTH + 16 + (said + 16 if said else 0)
    for number, (name, estimates, words) in enumerate(rows):
        start = top + number * height
        parts.append(svg.text(16, start + height / 2 + 4, name))
        parts.append(svg.box(left, start + GAP / 2, TRACK_WIDTH, height - GAP, svg.FILE.track))
        for lane, one in enumerate(estimates):
            if one.n:
                y, colour = start + GAP / 2 + LANE * (lane + 0.5), colours[lane % len(colours)]
                low, high, value = (
                    left + TRACK_WIDTH * place(each) for each in (one.low, one.high, one.value)
                )
                parts += [svg.box(low, y - 1, high - low, 2, colour), dot(lane, value, y)]
        behind = left + TRACK_WIDTH + 16
        parts.append(svg.text(behind, start + height / 2 + 4, words, fill=svg.FILE.soft))
        n = max((one.n for one in estimates if one.low < one.high), default=0)
        counted = f"n = {n:,}" if n else ""
        parts.append(svg.text(beyond, start + height / 2 + 4, counted, fill=svg.FILE.soft))
    if reference is not None:
        line = left + TRACK_WIDTH * place(reference)
        parts.append(svg.line((line, top - 6), (line, bottom), svg.FILE.soft, "3 3"))
    parts += [
        svg.text(left + TRACK_WIDTH * where, bottom + 18, words, anchor, svg.FILE.soft)
        for where, words, anchor in marks
    ]
    width = beyond + svg.width_of(["n = 100,000"]) + 16
    return svg.drawing(max(width, svg.width_of([title]) + 32), bottom + 32, title, parts)
