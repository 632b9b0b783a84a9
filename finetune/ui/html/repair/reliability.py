"""A reliability diagram: how often answers are right by how sure the model is of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from finetune.report.panel import FILE, PAGE, Palette
from probe.pictures import svg
from probe.statistics import BINS, Bin, bin_words
from probe.ui.html.elements import join

LEFT, RIGHT, TOP, BOTTOM = 30.0, 286.0, 22.0, 160.0
"""Where the scales begin and end, in pixels of a drawing of 300 by 192."""
WIDTH, HEIGHT = 300, 192
TITLE_HEIGHT = 28
ACROSS, UP = "how sure it is", "how often it is right"
BEFORE, AFTER = "var(--for)", "var(--accent)"
FILE_COLOURS = {BEFORE: svg.SHARE, AFTER: FILE.accent}
"""The colours of the bars on the page, and those of a file."""


@dataclass(frozen=True)
class Diagram:
    """Bins of one model's answers, of which those from `first` on are drawn, in a colour."""

    bins: Sequence[Bin]
    first: int
    colour: str

    def across(self, confidence: float) -> float:
        """Return where a confidence stands, in pixels."""
        least = self.first / BINS
        return LEFT + (confidence - least) / (1 - least) * (RIGHT - LEFT)


def pooled(repeats: Sequence[Sequence[Bin]]) -> tuple[Bin, ...]:
    """Return the bins of the answers of all repeats together."""
    return tuple(_together(same) for same in zip(*repeats, strict=True))


def _together(same: Sequence[Bin]) -> Bin:
    n = sum(each.n for each in same)
    confidence, accuracy = (
        sum(each.n * getattr(each, name) for each in same) / n if n else 0.0
        for name in ("confidence", "accuracy")
    )
    return Bin(same[0].low, same[0].high, n, confidence, accuracy)


def diagram(drawn: Diagram, label: str) -> Markup:
    """Draw it for the page; `label` says what is drawn to who cannot see it."""
    return Markup(
        '<svg viewBox="0 0 {} {}" role="img" font-size="11" aria-label="{}">{}</svg>'
    ).format(WIDTH, HEIGHT, label, join(_parts(drawn, PAGE, drawn.colour)))


def diagram_svg(drawn: Diagram, title: str) -> Markup:
    """Draw it as a file of its own."""
    shifted = Markup('<g transform="translate(0 {})">{}</g>').format(
        TITLE_HEIGHT, join(_parts(drawn, FILE, FILE_COLOURS[drawn.colour]))
    )
    width = max(WIDTH, svg.width_of([title]) + 32)
    return svg.drawing(width, HEIGHT + TITLE_HEIGHT + 8, title, [svg.text(16, 24, title), shifted])


def _parts(drawn: Diagram, palette: Palette, colour: str) -> Iterator[Markup]:
    for each in drawn.bins[drawn.first :]:
        if each.n:
            yield _bar(drawn, each, colour)
    yield Markup(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-dasharray="4 4"/>'
    ).format(LEFT, _height(drawn.first / BINS), RIGHT, _height(1), palette.soft)
    yield Markup('<line x1="{:.1f}" y1="{y:.1f}" x2="{:.1f}" y2="{y:.1f}" stroke="{}"/>').format(
        LEFT, RIGHT, palette.track, y=BOTTOM
    )
    least = svg.text(LEFT, BOTTOM + 15, f"{drawn.first / BINS:.2f}", fill=palette.soft)
    yield least + svg.text(RIGHT, BOTTOM + 15, "1.00", "end", palette.soft)
    yield svg.text((LEFT + RIGHT) / 2, BOTTOM + 28, ACROSS, "middle", palette.soft)
    yield svg.text(LEFT, TOP - 8, UP, fill=palette.soft)


def _bar(drawn: Diagram, each: Bin, colour: str) -> Markup:
    start, end = drawn.across(each.low) + 1.5, drawn.across(each.high) - 1.5
    top = _height(each.accuracy)
    return Markup(
        '<g><title>{words}</title><rect x="{start:.1f}" y="{top:.1f}" width="{width:.1f}" '
        'height="{height:.1f}" rx="3" fill="{colour}" fill-opacity="0.3"/>'
        '<line x1="{start:.1f}" x2="{end:.1f}" y1="{top:.1f}" y2="{top:.1f}" stroke="{colour}" '
        'stroke-width="2.5"/></g>'
    ).format(
        words=bin_words(each),
        start=start,
        end=end,
        width=end - start,
        top=top,
        height=BOTTOM - top,
        colour=colour,
    )


def _height(share: float) -> float:
    return BOTTOM - share * (BOTTOM - TOP)


def bins_frame(bins: Sequence[Bin]) -> pd.DataFrame:
    """Return the bins that hold answers as a table; shares are from 0 to 1."""
    columns = ["from", "to", "answers", "confidence", "accuracy"]
    rows = [
        (
            *(round(edge, 3) for edge in (each.low, each.high)),
            each.n,
            round(each.confidence, 4),
            round(each.accuracy, 4),
        )
        for each in bins
        if each.n
    ]
    return pd.DataFrame(rows, columns=columns)
