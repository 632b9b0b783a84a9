"""A dot plot: what several models reach in each row, with 95 % intervals, a mark for each model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from probe.pictures import svg
from probe.pictures.svg import NOTHING, join
from probe.statistics import Estimate

COLOURS = ("#00775a", "#0072b2", "#b35c00", "#a0447e", "#6d5620", "#5f6b78")
"""Of the models in a file: those of `.mark-1` and so on in assets/style/compare.css by day."""
TRACK_WIDTH, LANE, GAP = 320, 14, 16


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


def dot_plot(plot: DotPlot, label: str) -> Markup:
    """Draw it; `label` says what is drawn to who cannot see it."""
    lines = join(_line(plot, row) for row in plot.rows)
    return Markup('{}<div class="dots" role="group" aria-label="{}">{}{}</div>').format(
        _legend(plot), label, lines, _scale(plot)
    )


def mark(number: int) -> Markup:
    """Draw the mark of a model: its colour and its shape; the first is 0."""
    return Markup('<b class="mark mark-{}"></b>').format(number + 1)


def _legend(plot: DotPlot) -> Markup:
    entries = join(
        Markup("<span>{} {}</span>").format(mark(at), name) for at, name in enumerate(plot.models)
    )
    return Markup('<div class="legend">{}</div>').format(entries)


def _line(plot: DotPlot, row: DotRow) -> Markup:
    figures = " · ".join(f"{100 * e.value:.0f}" if e.n else "–" for e in row.estimates)
    return Markup(
        '<span class="name{}">{}</span><span class="lanes" style="--lanes:{}" title="{}">{}{}'
        '</span><span class="soft num figures">{}</span>{}'
    ).format(
        " strong" if row.strong else "",
        row.title,
        len(row.estimates),
        _words(plot, row),
        _reference(plot),
        join(_lane(at, estimate) for at, estimate in enumerate(row.estimates)),
        figures,
        _count(plot, row),
    )


def _words(plot: DotPlot, row: DotRow) -> str:
    return "; ".join(
        f"{name} {100 * one.value:.1f} % ({100 * one.low:.1f} to {100 * one.high:.1f})"
        for name, one in zip(plot.models, row.estimates, strict=True)
        if one.n
    )


def _count(plot: DotPlot, row: DotRow) -> Markup:
    """Show how many examples a row is over, as a button where they can be looked at."""
    if not row.key:
        return Markup('<span class="count soft num">{:,}</span>').format(row.n)
    return Markup(
        '<button type="button" class="count num" data-cell="{}" aria-label="{}">{:,}</button>'
    ).format(row.key, f"show the {row.n:,} {plot.unit}s: {row.title}", row.n)


def _lane(at: int, estimate: Estimate) -> Markup:
    if not estimate.n:
        return NOTHING
    low, high, value = (100 * each for each in (estimate.low, estimate.high, estimate.value))
    return Markup(
        '<span class="lane mark-{}" style="--at:{}"><u style="left:{:.1f}%;width:{:.1f}%"></u>'
        '<b class="mark mark-{}" style="left:{:.1f}%"></b></span>'
    ).format(at + 1, at, low, high - low, at + 1, value)


def _reference(plot: DotPlot) -> Markup:
    if plot.reference is None:
        return NOTHING
    return Markup('<i style="left:{:.1f}%"></i>').format(100 * plot.reference)


def _scale(plot: DotPlot) -> Markup:
    """Write the ends of the scale, and what stands in the last two columns, under the tracks."""
    middle = (
        Markup('<span class="middle" style="left:{:.1f}%">{}</span>').format(
            100 * plot.reference, plot.reference_title
        )
        if plot.reference is not None
        else NOTHING
    )
    return Markup(
        '<span class="name"></span><span class="scale soft tiny"><span>0 %</span>{}'
        '<span class="end">100 %</span></span><span class="soft tiny figures">{}</span>'
        '<span class="soft tiny count">{}s</span>'
    ).format(middle, plot.figures, plot.unit)


def dot_frame(plot: DotPlot) -> pd.DataFrame:
    """Return a row for each model in each row: title, model, value, low, high, n."""
    return pd.DataFrame(
        [
            (row.title, name, *(round(x, 4) for x in (one.value, one.low, one.high)), one.n)
            for row in plot.rows
            for name, one in zip(plot.models, row.estimates, strict=True)
        ],
        columns=["examples", "model", plot.measure, "low", "high", "n"],
    )


def dot_svg(plot: DotPlot, title: str) -> Markup:
    """Draw it as a file of its own."""
    height = LANE * len(plot.models) + GAP
    left = svg.width_of([row.title for row in plot.rows]) + 32
    figures = svg.width_of(["100 · "]) * len(plot.models)
    width = max(left + TRACK_WIDTH + figures + 32, svg.width_of([title]) + 32)
    top, bottom = 72, 72 + height * len(plot.rows)
    parts = [svg.text(16, 26, title), *_svg_legend(plot)]
    for number, row in enumerate(plot.rows):
        parts += _svg_line(row, left, top + number * height, height)
    if plot.reference is not None:
        at = left + TRACK_WIDTH * plot.reference
        parts.append(svg.line((at, 66), (at, bottom), svg.FILE.soft, "3 3"))
        parts.append(svg.text(at, bottom + 18, plot.reference_title, "middle", svg.FILE.soft))
    parts.append(svg.text(left, bottom + 18, "0 %", fill=svg.FILE.soft))
    parts.append(svg.text(left + TRACK_WIDTH, bottom + 18, "100 %", "end", svg.FILE.soft))
    return svg.drawing(width, bottom + 32, title, parts)


def _svg_legend(plot: DotPlot) -> Iterator[Markup]:
    at = 16.0
    for number, name in enumerate(plot.models):
        yield Markup('<circle cx="{:.1f}" cy="46" r="5" fill="{}"/>').format(
            at + 5, COLOURS[number % len(COLOURS)]
        )
        yield svg.text(at + 16, 50, name)
        at += svg.width_of([name]) + 40


def _svg_line(row: DotRow, left: float, top: float, height: float) -> Iterator[Markup]:
    middle = top + height / 2
    yield svg.text(16, middle + 4, row.title)
    yield svg.box(left, top + GAP / 2, TRACK_WIDTH, height - GAP, svg.FILE.track)
    for number, one in enumerate(row.estimates):
        if one.n:
            y, colour = top + GAP / 2 + LANE * (number + 0.5), COLOURS[number % len(COLOURS)]
            low, high, value = (left + TRACK_WIDTH * x for x in (one.low, one.high, one.value))
            yield svg.box(low, y - 1, high - low, 2, colour)
            yield Markup('<circle cx="{:.1f}" cy="{:.1f}" r="4.5" fill="{}"/>').format(
                value, y, colour
            )
    figures = " · ".join(f"{100 * one.value:.0f}" if one.n else "–" for one in row.estimates)
    yield svg.text(left + TRACK_WIDTH + 16, middle + 4, figures, fill=svg.FILE.soft)
