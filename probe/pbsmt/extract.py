"""Phrase pairs of an aligned sentence pair (Koehn, Och and Marcu 2003, section 2)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from probe.pbsmt.align import Point


@dataclass(frozen=True)
class Extract:
    """A phrase of the premise, one of the hypothesis, and the links within, from their starts."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Point, ...]


def spans(
    width: int, height: int, points: Collection[Point], longest: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield source start, source end, target start, target end of every consistent phrase pair.

    Consistent: there is a link within, and no link leads from within to without. `width` and
    `height` count the words of the source and the target; no phrase has more than `longest`.
    NLTK's function is not used: it cuts a target that is too long, which breaks links.
    """
    targets = _extents(points, width, 0)
    sources = _extents(points, height, 1)
    for start in range(width):
        low, high = height, -1
        for last in range(start, min(start + longest, width)):
            low, high = min(low, targets[last][0]), max(high, targets[last][1])
            if high < low or high - low >= longest:
                continue
            inside = sources[low : high + 1]
            if all(first >= start and final <= last for first, final in inside if final >= 0):
                for begin, end in _wider(low, high + 1, sources, longest):
                    yield start, last + 1, begin, end


def _extents(points: Collection[Point], words: int, side: int) -> list[tuple[int, int]]:
    """Return the first and the last word that each word is linked to; (far away, -1) for none."""
    found = [(1 << 30, -1)] * words
    for point in points:
        low, high = found[point[side]]
        found[point[side]] = min(low, point[1 - side]), max(high, point[1 - side])
    return found


def _wider(
    begin: int, end: int, sources: Sequence[tuple[int, int]], longest: int
) -> Iterator[tuple[int, int]]:
    """Yield a stretch of the target and those with words on either side that have no link."""
    left = begin
    while True:
        right = end
        while right - left <= longest:
            yield left, right
            if right == len(sources) or sources[right][1] >= 0:
                break
            right += 1
        left -= 1
        if left < 0 or sources[left][1] >= 0:
            return


def extract(
    source: Sequence[str], target: Sequence[str], points: Collection[Point], longest: int
) -> Iterator[Extract]:
    """Yield the phrase pairs of a sentence pair as words, as often as they are there."""
    by_source: list[list[int]] = [[] for _ in source]
    for i, j in sorted(points):
        by_source[i].append(j)
    for start, end, begin, stop in spans(len(source), len(target), points, longest):
        links = tuple((i - start, j - begin) for i in range(start, end) for j in by_source[i])
        yield Extract(tuple(source[start:end]), tuple(target[begin:stop]), links)
