"""Stack decoding (Koehn, Och and Marcu 2003, section 3, with what Moses added).

Partial translations (Koehn's hypotheses) lie in stacks by the number of source words they cover.
Those with the same coverage, the same end of the last phrase and the same language model state are
recombined: only the best stays, since all of them are extended alike. Of a stack the `beam_size`
best by score and future cost are extended, so an extension that is below as many of its stack
already is left out. NLTK's StackDecoder has no distortion limit and no recombination.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappush, heappushpop, nlargest
from operator import itemgetter
from typing import Final, NamedTuple

from probe.pbsmt.ngram_model import END, START
from probe.pbsmt.source_text import LN_10, Extension, SourceSpan, SourceText
from probe.stopping import check_stop


class Translation(NamedTuple):
    """A translation of all words, and its score with that of the sentence's end."""

    words: list[str]
    score: float


# Of these there are thousands in a search. They are tuples of numbers and strings alone, which the
# garbage collector leaves alone: of other objects it goes through all, again and again.

Move = tuple[int, float, int, float]
"""A span that may come next, by its place among all spans; the cost of its distortion; the words
that are covered then, and the future cost of the rest."""

PartialTranslation = tuple[float, float, int, int, str, tuple[str, ...], int]
"""A translation of some of the source words.

The score with the future cost of the rest; the score of what is translated; a bit for each word
that is; the end of the phrase translated last; the language model's state; the translation of that
phrase; and the place, among the extended ones, of the one before it."""
ESTIMATE: Final = 0
SCORE: Final = 1
EMPTY: PartialTranslation = (0.0, 0.0, 0, 0, START, (), 0)


PLACE = itemgetter(1)
ROUNDING = 1e-6  # far more than sums of the same scores in another order differ by


@dataclass
class Stack:
    """The best partial translation for each coverage, end of the last phrase and state.

    As many of them as are extended have at least the estimate `floor`. `highest` is a heap of
    estimates, one a translation, that are behind it.
    """

    beam_size: float
    partials: dict[tuple[int, int, str], PartialTranslation] = field(default_factory=dict)
    highest: list[float] = field(default_factory=list)
    floor: float = -math.inf

    def count(self, estimate: float, before: float | None) -> None:
        """Count a new translation, or one that had the estimate `before`."""
        if before is not None and before >= self.floor:
            return  # it is counted already
        if len(self.highest) < self.beam_size:
            heappush(self.highest, estimate)
        else:
            heappushpop(self.highest, estimate)
        if len(self.highest) == self.beam_size:
            self.floor = self.highest[0]


class Search:
    """The search for the best translation of one text."""

    def __init__(self, source: SourceText, beam_size: int) -> None:
        self.source, self.beam_size = source, beam_size
        self._moves: dict[tuple[int, int], list[Move]] = {}
        self._extended: list[PartialTranslation] = []

    def run(self) -> Translation:
        """Return the best translation."""
        stacks = [Stack(self.beam_size) for _ in self.source.words]
        stacks.append(Stack(math.inf))  # all complete ones are compared
        stacks[0].partials[0, 0, START] = EMPTY
        for stack in stacks[:-1]:
            check_stop()
            for partial in nlargest(
                self.beam_size, stack.partials.values(), key=itemgetter(ESTIMATE)
            ):
                self._extend(partial, stacks)
        return self._best(stacks[-1].partials.values())

    def _best(self, complete: Iterable[PartialTranslation]) -> Translation:
        """Return the best of complete translations, with the score of the sentence ending there."""
        scores = {partial: self._complete_score(partial) for partial in complete}
        best = max(scores, key=scores.__getitem__)
        return Translation(self._target_words(best), scores[best])

    def _complete_score(self, partial: PartialTranslation) -> float:
        _, score, _, _, state, _, _ = partial
        source = self.source
        log10, _ = source.language_model.step(state, END)
        return score + log10 * LN_10 * source.weights.language_model

    def _target_words(self, partial: PartialTranslation) -> list[str]:
        phrases: list[tuple[str, ...]] = []
        while partial is not EMPTY:
            *_, words, previous = partial
            phrases.append(words)
            partial = self._extended[previous]
        return [word for phrase in reversed(phrases) for word in phrase]

    def _extend(self, partial: PartialTranslation, stacks: list[Stack]) -> None:
        """Put every extension of a translation by one phrase into its stack."""
        _, score, coverage, last_end, state, _, _ = partial
        self._extended.append(partial)
        source = self.source
        context, spans = source.language_model.context(state), source.spans
        moves = self._moves.get((coverage, last_end)) or self._find_moves(coverage, last_end)
        for place, cost, covered, future_cost in moves:
            span, stack = spans[place], stacks[covered]
            shift, same = span.shifts.get(context) or source.find_extensions(span, context)
            extensions, base = span.extensions[same], score - cost + shift
            floor = stack.floor - base - future_cost - ROUNDING
            if extensions[0][0] >= floor:
                kept = [each for each in extensions if each[0] >= floor]
                self._put(stack, coverage, span, kept, base, future_cost)

    def _find_moves(self, coverage: int, last_end: int) -> list[Move]:
        """Return the spans that may follow, of which translations ask again and again.

        A phrase that leaves a gap must end near enough to it for the gap to be reached again.
        """
        moves: list[Move] = []
        source = self.source
        limit, distortion = source.weights.distortion_limit, source.weights.distortion
        gap = (~coverage & (coverage + 1)).bit_length() - 1  # the first word not covered
        starts = range(max(gap, last_end - limit), min(last_end + limit + 1, len(source.words)))
        for start in starts:
            cost = distortion * abs(start - last_end)
            for place in source.places[start]:
                span = source.spans[place]
                if coverage & span.coverage or (start > gap and span.end - gap > limit):
                    break
                new = coverage | span.coverage
                moves.append((place, cost, new.bit_count(), source.future_cost(new)))
        self._moves[coverage, last_end] = moves
        return moves

    def _put(
        self,
        stack: Stack,
        coverage: int,
        span: SourceSpan,
        extensions: list[Extension],
        base: float,
        future_cost: float,
    ) -> None:
        """Put the translation extended last, which covers `coverage`, with a span into a stack.

        `base` is its score with the distortion and what comes to all gains, `future_cost` that of
        what is left.
        """
        coverage, end, previous = coverage | span.coverage, span.end, len(self._extended) - 1
        options, partials = span.options, stack.partials
        if len(extensions) > 1:
            extensions.sort(key=PLACE)  # in the table's order: of equals the first stays
        for gain, place, state in extensions:
            total, key = base + gain, (coverage, end, state)
            known = partials.get(key)
            if known is None or known[SCORE] < total:
                estimate = total + future_cost
                stack.count(estimate, known and known[ESTIMATE])
                words = options[place].words
                partials[key] = (estimate, total, coverage, end, state, words, previous)
