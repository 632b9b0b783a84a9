"""Reliability diagrams: how often answers are right by how sure a model is of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from probe.pictures import svg
from probe.pictures.svg import FILE, PAGE, Palette
from probe.statistics import BINS, Bin

LEFT, RIGHT, TOP, BOTTOM = 34.0, 290.0, 22.0, 160.0
"""Where the scales begin and end, in pixels of a drawing of 300 by 192."""
WIDTH, HEIGHT, WORDS_HEIGHT = 300, 192, 20
LEGEND = (
    "Where a bar ends under the dashed line the model is surer of its answers than it is right; "
    "the narrow bar leads to how sure it is of them on average."
)


@dataclass(frozen=True)
class Diagram:
    """Bins of a model's answers, of which those from `first` on are drawn, under its words.

    A model as it was `before` a change has a share's colour, any other the accent.
    """

    bins: Sequence[Bin]
    first: int
    words: Sequence[str] = ()
    before: bool = False


def diagram(drawn: Diagram, label: str) -> Markup:
    """Draw it for the page; `label` says what is drawn to who cannot see it."""
    return svg.on_page(WIDTH, HEIGHT, label, _parts(drawn, PAGE))


def diagrams_svg(drawn: Sequence[Diagram], title: str) -> Markup:
    """Draw some side by side under their words as a file of its own."""
    widths = [max(float(WIDTH), svg.width_of(each.words)) + 16 for each in drawn]
    said = [(*each.words, f"n = {sum(one.n for one in each.bins):,}") for each in drawn]
    top = 34 + WORDS_HEIGHT * max(map(len, said), default=0)
    parts = [svg.text(16, 26, title)]
    for at, each in enumerate(drawn):
        left = 16 + sum(widths[:at])
        for number, words in enumerate(said[at]):
            base, fill = 46 + WORDS_HEIGHT * number, FILE.soft if number else FILE.ink
            parts.append(svg.text(left, base, words, fill=fill))
        parts.append(svg.moved(left, top, svg.join(_parts(each, FILE))))
    parts.append(svg.text(16, top + HEIGHT + 20, LEGEND, fill=FILE.soft))
    width = max(sum(widths), svg.width_of([title, LEGEND])) + 32
    return svg.drawing(width, top + HEIGHT + 32, title, parts)


def _parts(drawn: Diagram, palette: Palette) -> Iterator[Markup]:
    least = drawn.first / BINS

    def across(confidence: float) -> float:
        return LEFT + (confidence - least) / (1 - least) * (RIGHT - LEFT)

    def height(share: float) -> float:
        return BOTTOM - share * (BOTTOM - TOP)

    colour, gap = palette.accent, palette.share
    if drawn.before:
        colour, gap = gap, colour
    for each in drawn.bins[drawn.first :]:
        if each.n:
            start, end, top = across(each.low) + 1.5, across(each.high) - 1.5, height(each.accuracy)
            third, sure = (end - start) / 3, height(each.confidence)
            yield Markup('<g><title>{}</title><g opacity="0.4">{}</g>{}{}</g>').format(
                f"sure by {each.low:.2f} to {each.high:.2f}: right on {100 * each.accuracy:.0f} % "
                f"of {each.n:,}",
                svg.box(start, top, end - start, BOTTOM - top, colour),
                svg.line((start, top), (end, top), colour),
                svg.box(start + third, min(top, sure), third, abs(sure - top), gap),
            )
    yield svg.line((LEFT, height(least)), (RIGHT, height(1)), palette.soft, "4 4")
    yield svg.line((LEFT, BOTTOM), (RIGHT, BOTTOM), palette.track)
    for left, base, words, anchor in (
        (LEFT, BOTTOM + 15, f"{least:.2f}", "start"),
        (RIGHT, BOTTOM + 15, "1.00", "end"),
        ((LEFT + RIGHT) / 2, BOTTOM + 28, "how sure it is", "middle"),
        (LEFT - 4, BOTTOM, "0", "end"),
        (LEFT - 4, TOP + 4, "1", "end"),
        (LEFT, TOP - 8, "how often it is right", "start"),
    ):
        yield svg.text(left, base, words, anchor, palette.soft)


def bins_frame(bins: Sequence[Bin]) -> pd.DataFrame:
    """Return the bins that hold answers as a table; shares are from 0 to 1."""
    rows = [
        (round(b.low, 3), round(b.high, 3), b.n, round(b.confidence, 4), round(b.accuracy, 4))
        for b in bins
        if b.n
    ]
    return pd.DataFrame(rows, columns=["from", "to", "answers", "confidence", "accuracy"])
