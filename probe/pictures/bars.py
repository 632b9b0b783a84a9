"""Shares of several measures as bars under each other, as a table and as a file of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from probe.pictures import svg

BAR_WIDTH, ROW_HEIGHT, HEAD_HEIGHT, MARGIN = 360, 40, 36, 16


@dataclass(frozen=True)
class Bar:
    """A share from 0 to 1 of a measure: whose it is, what is noted of it, whether it stands out."""

    measure: str
    name: str
    share: float
    note: str
    strong: bool


def bars_frame(bars: Sequence[Bar]) -> pd.DataFrame:
    """Return the bars as a table: measure, name, share, note."""
    rows = [(bar.measure, bar.name, round(bar.share, 4), bar.note) for bar in bars]
    return pd.DataFrame(rows, columns=["measure", "name", "share", "note"])


def bars_svg(bars: Sequence[Bar], title: str) -> Markup:
    """Draw the bars, each measure under its title."""
    left = svg.width_of(words for bar in bars for words in (bar.name, bar.note)) + 2 * MARGIN
    top, measure, fills = float(HEAD_HEIGHT), "", (svg.FILE.soft, svg.FILE.share)
    parts = [svg.text(MARGIN, 26, title)]
    for bar in bars:
        if bar.measure != measure:
            measure = bar.measure
            parts.append(svg.text(MARGIN, top + 22, measure, fill=svg.FILE.soft))
            top += HEAD_HEIGHT
        parts += [
            svg.text(MARGIN, top + 15, bar.name),
            svg.text(MARGIN, top + 31, bar.note, fill=svg.FILE.soft),
            svg.box(left, top + 12, BAR_WIDTH, 12, svg.FILE.track),
            svg.box(left, top + 12, BAR_WIDTH * bar.share, 12, fills[bar.strong]),
            svg.text(left + BAR_WIDTH + 12, top + 23, f"{100 * bar.share:.1f} %"),
        ]
        top += ROW_HEIGHT
    parts += [
        svg.text(left + BAR_WIDTH * at, top + 12, f"{100 * at:.0f} %", anchor, svg.FILE.soft)
        for at, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end"))
    ]
    widest = svg.width_of([title, *(bar.measure for bar in bars)]) + 2 * MARGIN
    return svg.drawing(max(left + BAR_WIDTH + 80, widest), top + 2 * MARGIN, title, parts)
