"""The difference between two texts, word by word, in time that grows with their length alone.

The longest common stretch of words is taken first, then the longest before and behind it, and so
on (`difflib`). That alone takes the cube of the length where words repeat, so comparisons are
counted. A part for which they do not suffice is cut at the words that each text has once there
(patience diff); what cannot be cut counts as removed and added.
"""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from probe.graphemes import word_spans
from probe.stopping import check_stop

COMPARISONS, COMPARISONS_A_WORD = 200_000, 200
"""How many pairs of equal words are looked at: for any two texts, and for each word besides."""
MAX_CUTS = 10
"""How often a part is cut that came of a cut itself."""
Words = Sequence[str]
EditKind = Literal["kept", "removed", "added", "moved"]


@dataclass(frozen=True)
class Edit:
    """A part of a text that a transform kept, removed, added or put in another order."""

    kind: EditKind
    text: str


def edits(before: str, after: str) -> list[Edit]:
    """Return the edits that turn `before` into `after`, word by word, case aside.

    Kept, moved and added parts in order spell `after`. Where `after` has the words of `before` in
    another order, it is one moved part.
    """
    old, new = word_spans(before), word_spans(after)
    old_words = [before[start:end].lower() for start, end in old]
    new_words = [after[start:end].lower() for start, end in new]
    if old_words != new_words and sorted(old_words) == sorted(new_words):
        return [Edit("moved", after)]
    word_edits: list[Edit] = []
    old_end = new_end = 0
    for match in [*common_stretches(old_words, new_words), Match(len(old), len(new), 0)]:
        word_edits += _edit("removed", before, old[old_end : match.a])
        word_edits += _edit("added", after, new[new_end : match.b])
        old_end, new_end = match.a + match.size, match.b + match.size
        word_edits += _edit("kept", after, new[match.b : new_end])
    return word_edits


def _edit(kind: EditKind, text: str, words: Sequence[tuple[int, int]]) -> list[Edit]:
    return [Edit(kind, text[words[0][0] : words[-1][1]])] if words else []


class Part(NamedTuple):
    """A part of the old words beside a part of the new ones."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int

    @property
    def words(self) -> int:
        """How many words both have."""
        return self.old_end - self.old_start + self.new_end - self.new_start


def common_stretches(old: Words, new: Words) -> list[Match]:
    """Return the stretches that two lists of words share, in the order of both."""
    if old == new:
        return [Match(0, 0, len(old))] if old else []
    comparisons = COMPARISONS + COMPARISONS_A_WORD * (len(old) + len(new))
    joined: list[Match] = []
    for each in sorted(_stretches(old, new, comparisons, MAX_CUTS)):
        last = joined[-1] if joined else Match(0, 0, 0)
        if (last.a + last.size, last.b + last.size) == (each.a, each.b) and joined:
            joined[-1] = Match(last.a, last.b, last.size + each.size)
        else:
            joined.append(each)
    return joined


def _stretches(old: Words, new: Words, comparisons: int, cuts: int) -> Iterator[Match]:
    """Yield the longest stretches that so many comparisons find, then those that cuts find."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    counts = Counter(new)
    costs = [0, *accumulate(counts[word] for word in old)]
    parts, costly = deque([Part(0, len(old), 0, len(new))]), list[Part]()
    while parts:
        check_stop()
        part = parts.popleft()
        cost = costs[part.old_end] - costs[part.old_start]
        if cost > comparisons:
            costly.append(part)
            continue
        comparisons -= cost
        if (match := matcher.find_longest_match(*part)).size:
            yield match
            parts += _between(part, [match])
    words = sum(part.words for part in costly)
    for part in costly if cuts else ():
        yield from _cut(old, new, part, comparisons * part.words // words, cuts - 1)


def _cut(old: Words, new: Words, part: Part, comparisons: int, cuts: int) -> Iterator[Match]:
    """Yield a part's words at which it can be cut, and the stretches between the cuts."""
    cut_at = list(_landmarks(old, new, part))
    yield from cut_at
    for between in _between(part, cut_at) if cut_at else ():
        share = comparisons * between.words // part.words
        one = old[between.old_start : between.old_end]
        other = new[between.new_start : between.new_end]
        for match in _stretches(one, other, share, cuts):
            yield Match(match.a + between.old_start, match.b + between.new_start, match.size)


def _landmarks(old: Words, new: Words, part: Part) -> Iterator[Match]:
    """Yield, in their order, the words at both ends that are alike and the single words between."""
    start = _alike(old[part.old_start : part.old_end], new[part.new_start : part.new_end])
    old_start, new_start = part.old_start + start, part.new_start + start
    end = _alike(old[old_start : part.old_end][::-1], new[new_start : part.new_end][::-1])
    old_end, new_end = part.old_end - end, part.new_end - end
    if start:
        yield Match(part.old_start, part.new_start, start)
    for at, place in _single_words(old[old_start:old_end], new[new_start:new_end]):
        yield Match(old_start + at, new_start + place, 1)
    if end:
        yield Match(old_end, new_end, end)


def _alike(old: Words, new: Words) -> int:
    """Count the first words that are the same."""
    return next(
        (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other),
        min(len(old), len(new)),
    )


def _single_words(old: Words, new: Words) -> list[tuple[int, int]]:
    """Return the places of words that both lists have once, as many as stand in one order."""
    counts, places = (Counter(old), Counter(new)), {word: at for at, word in enumerate(new)}
    single = [word for word in old if all(count[word] == 1 for count in counts)]
    at = {word: place for place, word in enumerate(old)}
    in_order = _increasing([places[word] for word in single])
    return [(at[single[one]], places[single[one]]) for one in in_order]


def _increasing(values: Sequence[int]) -> list[int]:
    """Return where a longest increasing sequence of different values lies (patience sorting)."""
    tops, on_top = list[int](), list[int]()  # the value on top of each pile, and where it lies
    before: list[int | None] = []
    for at, value in enumerate(values):
        pile = bisect_left(tops, value)
        before.append(on_top[pile - 1] if pile else None)
        tops[pile : pile + 1], on_top[pile : pile + 1] = [value], [at]
    sequence, last = list[int](), on_top[-1] if on_top else None
    while last is not None:
        sequence.append(last)
        last = before[last]
    return sequence[::-1]


def _between(part: Part, stretches: Iterable[Match]) -> Iterator[Part]:
    """Yield the parts before, between and behind stretches, where both texts have words."""
    first, last = Match(part.old_start, part.new_start, 0), Match(part.old_end, part.new_end, 0)
    for one, other in pairwise((first, *stretches, last)):
        between = Part(one.a + one.size, other.a, one.b + one.size, other.b)
        if between.old_start < between.old_end and between.new_start < between.new_end:
            yield between
