"""A forest plot: an estimate and its 95 % interval on a track, row by row, beside a reference."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from probe.pictures import svg
from probe.pictures.svg import NOTHING, join
from probe.statistics import Estimate

TRACK_WIDTH, ROW_HEIGHT = 320, 34
NEAR = 0.3
"""A reference nearer to an end of the scale than this takes the place of the end's words."""
AT_END = 0.08
"""Its words would leave the picture here, if they stood about it."""


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
    kind = "forest with-words" if several else "forest"
    lines = join(_line(forest, row, several) for row in forest.rows)
    return Markup('<div class="{}" role="img" aria-label="{}">{}{}</div>').format(
        kind, f"{label}: {in_words(forest)}", lines, _scale(forest, several)
    )


def in_words(forest: Forest) -> str:
    """Say every row in words: its title, estimate and interval."""
    return "; ".join(f"{row.title} {_figure(row.estimate)}" for row in forest.rows)


def _figure(estimate: Estimate) -> str:
    if not estimate.n:
        return "not measured"
    if estimate.low == estimate.high:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def _line(forest: Forest, row: ForestRow, several: bool) -> Markup:
    behind = Markup('<span class="soft">{}</span>').format(row.more or row.words)
    return Markup('<span class="name">{}</span>{}{}').format(
        row.title, _track(forest, row.estimate), behind if several else NOTHING
    )


def _track(forest: Forest, estimate: Estimate) -> Markup:
    drawn = _reference(forest)
    if estimate.n:
        low, high = forest.place(estimate.low), forest.place(estimate.high)
        drawn += Markup(
            '<u style="left:{:.1f}%;width:{:.1f}%"></u><b style="left:{:.1f}%"></b>'
        ).format(100 * low, 100 * (high - low), 100 * forest.place(estimate.value))
    return Markup('<span class="track" title="{}">{}</span>').format(_figure(estimate), drawn)


def _reference(forest: Forest) -> Markup:
    if forest.reference is None:
        return NOTHING
    return Markup('<i style="left:{:.1f}%"></i>').format(100 * forest.place(forest.reference))


def _scale(forest: Forest, several: bool) -> Markup:
    """Write what the ends of the scale and the reference mean, under the last track."""
    words = join(
        Markup('<span class="{}" style="left:{:.1f}%">{}</span>').format(anchor, 100 * at, title)
        for at, title, anchor in _marks(forest)
    )
    if not words:
        return NOTHING
    last = Markup("<span></span>") if several else NOTHING
    return Markup('<span></span><span class="scale soft tiny">{}</span>{}').format(words, last)


def _marks(forest: Forest) -> list[tuple[float, str, str]]:
    """Return where the words of the scale stand, from 0 to 1, the words, and their anchor."""
    ends = [(0.0, forest.low_title, "start"), (1.0, forest.high_title, "end")]
    if forest.reference is None:
        return [end for end in ends if end[1]]
    at = forest.place(forest.reference)
    apart = [end for end in ends if end[1] and abs(end[0] - at) > NEAR]
    anchor = "start" if at < AT_END else "end" if at > 1 - AT_END else "middle"
    return [*apart, (at, forest.reference_title, anchor)]


def forest_frame(forest: Forest) -> pd.DataFrame:
    """Return the rows as a table: title, name, value, low, high, n, and words where there are."""
    columns = ["title", "name", "value", "low", "high", "n", "words"]
    rows = [
        (
            row.title,
            row.code,
            *(
                round(value, 4)
                for value in (row.estimate.value, row.estimate.low, row.estimate.high)
            ),
            row.estimate.n,
            row.words,
        )
        for row in forest.rows
    ]
    frame = pd.DataFrame(rows, columns=columns)
    return frame if any(row.words for row in forest.rows) else frame.drop(columns="words")


def forest_svg(forest: Forest, title: str) -> Markup:
    """Draw it as a file of its own."""
    left = svg.width_of([row.title for row in forest.rows]) + 32
    words = svg.width_of([row.words for row in forest.rows]) if forest.beside else 0.0
    width = left + TRACK_WIDTH + (24 + words if words else 40)
    bottom = 48 + ROW_HEIGHT * len(forest.rows)
    parts = [svg.text(16, 26, title)]
    for at, row in enumerate(forest.rows):
        middle = 48 + (at + 0.5) * ROW_HEIGHT
        parts += [
            svg.text(16, middle + 4, row.title),
            svg.box(left, middle - 4, TRACK_WIDTH, 8, svg.FILE.track),
            _svg_mark(forest, row.estimate, left, middle),
        ]
        if forest.beside:
            parts.append(
                svg.text(left + TRACK_WIDTH + 16, middle + 4, row.words, fill=svg.FILE.soft)
            )
    parts += [_svg_reference(forest, left, bottom)]
    parts += [
        svg.text(left + TRACK_WIDTH * at, bottom + 20, words, anchor, svg.FILE.soft)
        for at, words, anchor in _marks(forest)
    ]
    return svg.drawing(max(width, svg.width_of([title]) + 32), bottom + 32, title, parts)


def _svg_mark(forest: Forest, estimate: Estimate, left: float, middle: float) -> Markup:
    if not estimate.n:
        return NOTHING
    low, high, at = (
        left + TRACK_WIDTH * forest.place(value)
        for value in (estimate.low, estimate.high, estimate.value)
    )
    return svg.box(low, middle - 1.5, high - low, 3, svg.FILE.share) + Markup(
        '<circle cx="{:.1f}" cy="{:.1f}" r="5" fill="{}"/>'
    ).format(at, middle, svg.FILE.share)


def _svg_reference(forest: Forest, left: float, bottom: float) -> Markup:
    if forest.reference is None:
        return NOTHING
    at = left + TRACK_WIDTH * forest.place(forest.reference)
    return svg.line((at, 42), (at, bottom), svg.FILE.soft, "3 3")
