"""Phrase pairs scored and pruned: relative frequencies and lexical weights, in both directions.

Scores as in Koehn, Och and Marcu (2003), sections 2 and 4, combined log-linearly; the weights are
those that Moses starts from.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from probe.pbsmt.align import Link
from probe.pbsmt.extract import PhrasePair

NULL = ""  # what a word without a link is linked to
Words = tuple[str, ...]
Lexicon = Mapping[tuple[str, str], float]
"""p(second word | first word)."""


@dataclass(frozen=True)
class FeatureWeights:
    """Weights of the four scores, e being the premise's phrase and f the hypothesis's."""

    forward: float = 0.2  # phi(f|e)
    backward: float = 0.2  # phi(e|f)
    lexical_forward: float = 0.2
    lexical_backward: float = 0.2


@dataclass(frozen=True)
class Pruning:
    """What is kept: pairs seen `min_count` times, the `max_options` best targets of each source.

    A word that is translated by itself needs to be seen once only: the chance translations of rare
    words are nothing to learn from.
    """

    min_count: int = 2
    max_options: int = 12


def lexicons(
    pairs: Iterable[tuple[Sequence[str], Sequence[str], Iterable[Link]]],
) -> tuple[Lexicon, Lexicon]:
    """Return p(hypothesis word | premise word) and the reverse, from the links."""
    counts = Counter(linked for pair in pairs for linked in _linked_words(*pair))
    sources, targets = Counter[str](), Counter[str]()
    for (source, target), count in counts.items():
        sources[source] += count
        targets[target] += count
    forward = {(s, t): count / sources[s] for (s, t), count in counts.items()}
    backward = {(t, s): count / targets[t] for (s, t), count in counts.items()}
    return forward, backward


def _linked_words(
    source: Sequence[str], target: Sequence[str], links: Iterable[Link]
) -> Iterator[tuple[str, str]]:
    links = list(links)
    yield from ((source[i], target[j]) for i, j in links)
    linked_sources, linked_targets = {i for i, _ in links}, {j for _, j in links}
    yield from ((word, NULL) for i, word in enumerate(source) if i not in linked_sources)
    yield from ((NULL, word) for j, word in enumerate(target) if j not in linked_targets)


def lexical_weight(source: Words, target: Words, links: Sequence[Link], lexicon: Lexicon) -> float:
    """Return the product over the target's words of their mean over the words linked to them."""
    product = 1.0
    for j, word in enumerate(target):
        linked = [source[i] for i, target_index in links if target_index == j] or [NULL]
        product *= sum(lexicon.get((other, word), 0.0) for other in linked) / len(linked)
    return product


def score(
    counts: Mapping[PhrasePair, int],
    forward: Lexicon,
    backward: Lexicon,
    weights: FeatureWeights = FeatureWeights(),
    pruning: Pruning = Pruning(),
) -> dict[Words, list[tuple[float, Words]]]:
    """Return the best targets of each source, best first, with their natural-log scores.

    A pair that was linked in several ways has the lexical weight of the best of them.
    """
    alignments: defaultdict[tuple[Words, Words], list[PhrasePair]] = defaultdict(list)
    joint, sources, targets = Counter[tuple[Words, Words]](), Counter[Words](), Counter[Words]()
    for pair, count in counts.items():
        alignments[pair.source, pair.target].append(pair)
        joint[pair.source, pair.target] += count
        sources[pair.source] += count
        targets[pair.target] += count
    table: defaultdict[Words, list[tuple[float, Words]]] = defaultdict(list)
    for (source, target), pairs in alignments.items():
        count = joint[source, target]
        if count < pruning.min_count and (len(source) > 1 or source != target):
            continue
        reversed_links = [tuple((j, i) for i, j in pair.links) for pair in pairs]
        lexical_forward = max(lexical_weight(source, target, pair.links, forward) for pair in pairs)
        lexical_backward = max(
            lexical_weight(target, source, links, backward) for links in reversed_links
        )
        total = (
            weights.forward * math.log(count / sources[source])
            + weights.backward * math.log(count / targets[target])
            + weights.lexical_forward * math.log(lexical_forward)
            + weights.lexical_backward * math.log(lexical_backward)
        )
        table[source].append((total, target))
    return {
        source: sorted(options, key=lambda option: (-option[0], option[1]))[: pruning.max_options]
        for source, options in sorted(table.items())
    }
