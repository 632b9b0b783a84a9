"""Phrase pairs of an aligned sentence pair (Koehn, Och and Marcu 2003, section 2)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from probe.pbsmt.align import Link

NO_LINKS = (1 << 30, -1)
"""The first and the last linked word where there is no link."""


@dataclass(frozen=True)
class PhrasePair:
    """A phrase of the premise, one of the hypothesis, and the links within, from their starts."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...]


def phrase_spans(
    source_length: int, target_length: int, links: Collection[Link], max_words: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield source start, source end, target start, target end of every consistent phrase pair.

    Consistent: there is a link within, and no link leads from within to without. The lengths count
    the words of the source and the target; no phrase has more than `max_words`. NLTK's function is
    not used: it cuts a target that is too long, which breaks links.
    """
    target_extents = _extents(links, source_length, 0)
    source_extents = _extents(links, target_length, 1)
    for start in range(source_length):
        low, high = target_length, -1
        for last in range(start, min(start + max_words, source_length)):
            first_linked, last_linked = target_extents[last]
            low, high = min(low, first_linked), max(high, last_linked)
            if high < low or high - low >= max_words:
                continue
            extents = source_extents[low : high + 1]
            if all(left >= start and right <= last for left, right in extents if right >= 0):
                widened = _widened(low, high + 1, source_extents, max_words)
                for target_start, target_end in widened:
                    yield start, last + 1, target_start, target_end


def _extents(links: Collection[Link], words: int, side: int) -> list[tuple[int, int]]:
    """Return the first and the last word that each word is linked to, NO_LINKS for none.

    `side` is 0 for the words of the source, 1 for those of the target.
    """
    extents = [NO_LINKS] * words
    for link in links:
        first, last = extents[link[side]]
        extents[link[side]] = min(first, link[1 - side]), max(last, link[1 - side])
    return extents


def _widened(
    start: int, end: int, source_extents: Sequence[tuple[int, int]], max_words: int
) -> Iterator[tuple[int, int]]:
    """Yield a target span, and its extensions by adjacent words that have no link."""
    left = start
    while True:
        right = end
        while right - left <= max_words:
            yield left, right
            if right == len(source_extents) or source_extents[right][1] >= 0:
                break
            right += 1
        left -= 1
        if left < 0 or source_extents[left][1] >= 0:
            return


def extract(
    source: Sequence[str], target: Sequence[str], links: Collection[Link], max_words: int
) -> Iterator[PhrasePair]:
    """Yield the phrase pairs of a sentence pair, one for each occurrence."""
    linked_targets: list[list[int]] = [[] for _ in source]
    for i, j in sorted(links):
        linked_targets[i].append(j)
    for start, end, target_start, target_end in phrase_spans(
        len(source), len(target), links, max_words
    ):
        inner = tuple(
            (i - start, j - target_start) for i in range(start, end) for j in linked_targets[i]
        )
        yield PhrasePair(tuple(source[start:end]), tuple(target[target_start:target_end]), inner)
