"""Phrase pairs scored and pruned: relative frequencies and lexical weights, both ways.

Scores as in Koehn, Och and Marcu (2003), sections 2 and 4, put together log-linearly; the weights
are those that Moses starts from.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from probe.pbsmt.align import Point
from probe.pbsmt.extract import Extract

NULL = ""  # what a word without a link is linked to
Words = tuple[str, ...]
Lexicon = Mapping[tuple[str, str], float]
"""p(second word | first word)."""


@dataclass(frozen=True)
class Weights:
    """Weights of the four scores, e being the premise's phrase and f the hypothesis's."""

    forward: float = 0.2  # phi(f|e)
    backward: float = 0.2  # phi(e|f)
    lexical_forward: float = 0.2
    lexical_backward: float = 0.2


@dataclass(frozen=True)
class Pruning:
    """What stays: pairs seen `least` times, the `options` best of each phrase of a premise.

    A word that stayed itself needs to be seen once only: what is said of rare words by chance is
    nothing to learn from.
    """

    least: int = 2
    options: int = 12


def lexicons(
    pairs: Iterable[tuple[Sequence[str], Sequence[str], Iterable[Point]]],
) -> tuple[Lexicon, Lexicon]:
    """Return p(hypothesis word | premise word) and the other way round, from the links."""
    links = Counter(link for pair in pairs for link in _linked(*pair))
    sources, targets = Counter[str](), Counter[str]()
    for (source, target), count in links.items():
        sources[source] += count
        targets[target] += count
    forward = {(s, t): count / sources[s] for (s, t), count in links.items()}
    backward = {(t, s): count / targets[t] for (s, t), count in links.items()}
    return forward, backward


def _linked(
    source: Sequence[str], target: Sequence[str], points: Iterable[Point]
) -> Iterator[tuple[str, str]]:
    links = list(points)
    yield from ((source[i], target[j]) for i, j in links)
    first, second = {i for i, _ in links}, {j for _, j in links}
    yield from ((word, NULL) for i, word in enumerate(source) if i not in first)
    yield from ((NULL, word) for j, word in enumerate(target) if j not in second)


def lexical(given: Words, made: Words, links: Sequence[Point], lexicon: Lexicon) -> float:
    """Return the lexical weight of `made`: each word's mean over the words it is linked to."""
    product = 1.0
    for j, word in enumerate(made):
        linked = [given[i] for i, other in links if other == j] or [NULL]
        product *= sum(lexicon.get((it, word), 0.0) for it in linked) / len(linked)
    return product


def score(
    counts: Mapping[Extract, int],
    forward: Lexicon,
    backward: Lexicon,
    weights: Weights = Weights(),
    pruning: Pruning = Pruning(),
) -> dict[Words, list[tuple[float, Words]]]:
    """Return the best targets of each source, best first, with their natural-log scores.

    A pair that was linked in several ways has the lexical weight of the best of them.
    """
    pairs: defaultdict[tuple[Words, Words], list[Extract]] = defaultdict(list)
    joint, sources, targets = Counter[tuple[Words, Words]](), Counter[Words](), Counter[Words]()
    for found, count in counts.items():
        pairs[found.source, found.target].append(found)
        joint[found.source, found.target] += count
        sources[found.source] += count
        targets[found.target] += count
    table: defaultdict[Words, list[tuple[float, Words]]] = defaultdict(list)
    for (source, target), ways in pairs.items():
        count = joint[source, target]
        if count < pruning.least and (len(source) > 1 or source != target):
            continue
        back = [tuple((j, i) for i, j in way.links) for way in ways]
        there = max(lexical(source, target, way.links, forward) for way in ways)
        again = max(lexical(target, source, links, backward) for links in back)
        total = (
            weights.forward * math.log(count / sources[source])
            + weights.backward * math.log(count / targets[target])
            + weights.lexical_forward * math.log(there)
            + weights.lexical_backward * math.log(again)
        )
        table[source].append((total, target))
    return {
        source: sorted(found, key=lambda it: (-it[0], it[1]))[: pruning.options]
        for source, found in sorted(table.items())
    }
