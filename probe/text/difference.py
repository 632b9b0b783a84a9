"""The difference between two texts, word by word, in time that grows with their length alone.

The longest common stretch of words is taken first, then the longest before and behind it, and so
on (`difflib`). That alone takes the cube of the length where words repeat, so comparisons are
counted. A part for which they do not suffice is cut at the words that each text has once there
(patience diff); what cannot be cut counts as removed and added.
"""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import accumulate, pairwise
from typing import Literal

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


def common_stretches(old: Words, new: Words) -> list[Match]:
    """Return the stretches that two lists of words share, in the order of both."""
    if old == new:
        return [Match(0, 0, len(old))] if old else []
    matcher, counts = SequenceMatcher(None, old, new, autojunk=False), Counter(new)
    costs = [0, *accumulate(counts[word] for word in old)]
    comparisons = COMPARISONS + COMPARISONS_A_WORD * (len(old) + len(new))
    found = list[Match]()
    parts: deque[tuple[int, int, int, int, int]] = deque([(0, len(old), 0, len(new), MAX_CUTS)])
    while parts:
        check_stop()
        start, end, new_start, new_end, cuts = parts.popleft()
        cost = costs[end] - costs[start]
        if cost <= comparisons:
            comparisons -= cost
            matches = [matcher.find_longest_match(start, end, new_start, new_end)]
        else:
            cuts -= 1
            cut_at = _landmarks(old[start:end], new[new_start:new_end]) if cuts >= 0 else []
            matches = [Match(start + at, new_start + place, size) for at, place, size in cut_at]
        if matches and matches[0].size:
            found += matches
            ends = Match(start, new_start, 0), Match(end, new_end, 0)
            for one, other in pairwise((ends[0], *matches, ends[1])):
                between = (one.a + one.size, other.a, one.b + one.size, other.b)
                if between[0] < between[1] and between[2] < between[3]:
                    parts.append((*between, cuts))
    joined: list[Match] = []
    for each in sorted(found):
        last = joined[-1] if joined else Match(-1, -1, 0)
        if (last.a + last.size, last.b + last.size) == (each.a, each.b):
            joined[-1] = Match(last.a, last.b, last.size + each.size)
        else:
            joined.append(each)
    return joined


def _landmarks(old: Words, new: Words) -> list[Match]:
    """Return, in their order, what is alike at both ends, and the words between them.

    Of those the ones that both lists have once, as many as stand in one order (patience sorting).
    """
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    one, other = old[start : len(old) - end], new[start : len(new) - end]
    counts, places = (Counter(one), Counter(other)), {word: at for at, word in enumerate(other)}
    single = [at for at, word in enumerate(one) if all(count[word] == 1 for count in counts)]
    tops, on_top = list[int](), list[int]()  # the place on top of each pile, and whose it is
    before: dict[int, int | None] = {}
    for at in single:
        pile = bisect_left(tops, places[one[at]])
        before[at] = on_top[pile - 1] if pile else None
        tops[pile : pile + 1], on_top[pile : pile + 1] = [places[one[at]]], [at]
    in_order, last = list[int](), on_top[-1] if on_top else None
    while last is not None:
        in_order.append(last)
        last = before[last]
    words = [Match(start + at, start + places[one[at]], 1) for at in reversed(in_order)]
    ends = Match(0, 0, start), Match(len(old) - end, len(new) - end, end)
    return [match for match in (ends[0], *words, ends[1]) if match.size]


def _alike(old: Words, new: Words) -> int:
    """Count the first words that are the same."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))
