"""The reliability diagram of a report: how often answers are right by how sure the model is."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from probe.calibration import BINS, Bin, first_bin, in_words

LEFT, RIGHT, TOP, BOTTOM = 34.0, 290.0, 22.0, 160.0
"""Where the scales begin and end, in pixels of a drawing of 300 by 192."""
WIDTH, HEIGHT = 300, 192
BAR, LINE = "var(--accent, #0b6e62)", "currentColor"
"""Colours: the page's accent where it has one."""
HEADS = ("sure from", "to", "answers", "mean confidence", "right")
NOTE = "Where a bar ends under the dashed line the model is surer of its answers than it is right."


def diagram(bins: Sequence[Bin], labels: int) -> Markup:
    """Draw the bins of a model that chooses among so many labels."""
    return Markup(
        '<svg class="reliability" viewBox="0 0 {} {}" role="img" font-size="11" fill="{}" '
        'aria-label="How often it is right by how sure it is">{}</svg>'
    ).format(WIDTH, HEIGHT, LINE, Markup("").join(_parts(bins, first_bin(bins, labels))))


def rows(bins: Sequence[Bin]) -> list[tuple[str, ...]]:
    """Return the bins that hold answers as the rows of a table with `HEADS`."""
    return [
        (
            f"{each.low:.2f}",
            f"{each.high:.2f}",
            f"{each.n:,}",
            f"{each.confidence:.3f}",
            f"{each.accuracy:.3f}",
        )
        for each in bins
        if each.n
    ]


def _parts(bins: Sequence[Bin], first: int) -> Iterator[Markup]:
    least = first / BINS
    for each in bins[first:]:
        if each.n:
            yield _bar(each, _across(each.low, least) + 1.5, _across(each.high, least) - 1.5)
    yield Markup(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-dasharray="4 4"/>'
        '<line x1="{:.1f}" y1="{y:.1f}" x2="{:.1f}" y2="{y:.1f}" stroke="{}" stroke-opacity="0.3"/>'
    ).format(LEFT, _height(least), RIGHT, _height(1), LINE, LEFT, RIGHT, LINE, y=BOTTOM)
    text = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
    yield text.format(LEFT, BOTTOM + 15, "start", f"{least:.2f}")
    yield text.format(RIGHT, BOTTOM + 15, "end", "1.00")
    yield text.format((LEFT + RIGHT) / 2, BOTTOM + 28, "middle", "how sure it is")
    yield text.format(LEFT - 4, BOTTOM, "end", "0")
    yield text.format(LEFT - 4, TOP + 4, "end", "1")
    yield text.format(LEFT, TOP - 8, "start", "how often it is right")


def _bar(each: Bin, start: float, end: float) -> Markup:
    top = _height(each.accuracy)
    return Markup(
        '<g><title>{}</title><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" '
        'fill-opacity="0.55"/></g>'
    ).format(in_words(each), start, top, end - start, BOTTOM - top, BAR)


def _across(confidence: float, least: float) -> float:
    return LEFT + (confidence - least) / (1 - least) * (RIGHT - LEFT)


def _height(share: float) -> float:
    return BOTTOM - share * (BOTTOM - TOP)
