"""Stack decoding (Koehn, Och and Marcu 2003, section 3, with what Moses added).

Partial translations (Koehn's hypotheses) lie in stacks by the number of source words they cover.
Those with the same coverage, the same end of the last phrase and the same language model state are
recombined: only the best stays, since all of them are extended alike. Of a stack the `beam_size`
best by score and future cost are extended, so an extension that is below as many of its stack
already is left out. NLTK's StackDecoder has no distortion limit and no recombination.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappush, heappushpop, nlargest
from operator import itemgetter
from typing import Final, NamedTuple

from probe.pbsmt.ngram_model import END, START, NgramModel
from probe.pbsmt.phrase_table import Phrase, PhraseTable
from probe.stopping import check_stop

LN_10 = math.log(10)  # language models have base-10 logarithms
UNKNOWN_SCORE = -10.0  # of a word that no phrase of one word covers: it is copied, as in Moses


@dataclass(frozen=True)
class DecoderWeights:
    """Weights of a translation's scores beside its phrases' own scores.

    Each target word adds `word`, each phrase adds `phrase`. A phrase that starts d words from the
    end of the one before costs `distortion` * d; d is at most `distortion_limit`, 0 keeps the
    order.
    """

    language_model: float
    distortion: float
    distortion_limit: int
    word: float = 1.0
    phrase: float = 0.2


class Translation(NamedTuple):
    """A translation of all words, and its score with that of the sentence's end."""

    words: list[str]
    score: float


class TranslationOption(NamedTuple):
    """The translation of a source span, and the score that needs no context."""

    words: tuple[str, ...]
    score: float


# Of these there are thousands in a search. They are tuples of numbers and strings alone, which the
# garbage collector leaves alone: of other objects it goes through all, again and again.

Extension = tuple[float, int, str]
"""What an option adds behind a context: the gain, which is its score and the language model's, the
option's place among those of its span, and the language model's new state."""

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


@dataclass(frozen=True)
class SourceSpan:
    """The options for the words from `start` to `end`; `coverage` has a bit for each of the words.

    `places` are those of the options that begin with each of the `first_words`.

    `extensions` are those behind a context, the largest gain first. Where the language model has
    none of the first words behind a context, the gains are those behind a shorter one, all of them
    with the cost of backing off: `shifts` has, for each context that was asked for, this cost and
    the context that has the extensions.
    """

    start: int
    end: int
    coverage: int
    options: tuple[TranslationOption, ...]
    places: dict[str, list[int]]
    first_words: frozenset[str]
    extensions: dict[str, list[Extension]] = field(default_factory=dict)
    shifts: dict[str, tuple[float, str]] = field(default_factory=dict)


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
    """The search for the best translation of one text, with what it has computed so far."""

    def __init__(
        self,
        words: Sequence[str],
        table: PhraseTable,
        language_model: NgramModel,
        weights: DecoderWeights,
        beam_size: int,
    ) -> None:
        self.words, self.table, self.language_model = words, table, language_model
        self.weights, self.beam_size = weights, beam_size
        self._coverage_costs: dict[int, float] = {}
        self._moves: dict[tuple[int, int], list[Move]] = {}
        self._extended: list[PartialTranslation] = []

    def run(self) -> Translation:
        """Return the best translation."""
        stacks = [Stack(self.beam_size) for _ in self.words]
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
        return score + self.language_model.step(state, END)[0] * LN_10 * self.weights.language_model

    def _target_words(self, partial: PartialTranslation) -> list[str]:
        phrases: list[tuple[str, ...]] = []
        while partial is not EMPTY:
            *_, words, previous = partial
            phrases.append(words)
            partial = self._extended[previous]
        return [word for phrase in reversed(phrases) for word in phrase]

    @cached_property
    def spans(self) -> list[SourceSpan]:
        """The spans with options, by start and length."""
        return [span for start in range(len(self.words)) for span in self._spans_from(start)]

    @cached_property
    def places(self) -> list[list[int]]:
        """The places among `spans` of those that start at each word."""
        places: list[list[int]] = [[] for _ in self.words]
        for place, span in enumerate(self.spans):
            places[span.start].append(place)
        return places

    def _spans_from(self, start: int) -> Iterator[SourceSpan]:
        for end in range(start + 1, min(start + self.table.max_words, len(self.words)) + 1):
            options = self._options(start, end)
            if options:
                places: defaultdict[str, list[int]] = defaultdict(list)
                for place, option in enumerate(options):
                    places[option.words[0]].append(place)
                yield SourceSpan(
                    start, end, (1 << end) - (1 << start), options, places, frozenset(places)
                )

    def _options(self, start: int, end: int) -> tuple[TranslationOption, ...]:
        phrases = self.table.phrases(" ".join(self.words[start:end]))
        if not phrases and end == start + 1:
            phrases = (Phrase((self.words[start],), UNKNOWN_SCORE),)
        word, phrase_weight = self.weights.word, self.weights.phrase
        return tuple(
            TranslationOption(phrase.words, phrase.score + word * len(phrase.words) + phrase_weight)
            for phrase in phrases
        )

    def _extend(self, partial: PartialTranslation, stacks: list[Stack]) -> None:
        """Put every extension of a translation by one phrase into its stack."""
        _, score, coverage, last_end, state, _, _ = partial
        self._extended.append(partial)
        context, spans = self.language_model.context(state), self.spans
        moves = self._moves.get((coverage, last_end)) or self._find_moves(coverage, last_end)
        for place, cost, covered, future_cost in moves:
            span, stack = spans[place], stacks[covered]
            shift, same = span.shifts.get(context) or self._find_extensions(span, context)
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
        limit, distortion = self.weights.distortion_limit, self.weights.distortion
        gap = (~coverage & (coverage + 1)).bit_length() - 1  # the first word not covered
        starts = range(max(gap, last_end - limit), min(last_end + limit + 1, len(self.words)))
        for start in starts:
            cost = distortion * abs(start - last_end)
            for place in self.places[start]:
                span = self.spans[place]
                if coverage & span.coverage or (start > gap and span.end - gap > limit):
                    break
                new = coverage | span.coverage
                moves.append((place, cost, new.bit_count(), self._future_cost(new)))
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

    def _find_extensions(self, span: SourceSpan, context: str) -> tuple[float, str]:
        """Find what each option of a span adds behind a context; return the span's shift for it."""
        shift, same, behind = 0.0, context, span.first_words
        contexts = self.language_model.contexts
        if context:
            log10, rest = self.language_model.back_off(context)
            rest_shift, same = span.shifts.get(rest) or self._find_extensions(span, rest)
            shift = rest_shift + log10 * LN_10 * self.weights.language_model
            behind = span.first_words.intersection(contexts.get(context, ()))
        if behind:
            places = {place for word in behind for place in span.places[word]}
            extensions = self._extensions(span, context, behind)
            extensions += [
                (shift + gain, place, state)
                for gain, place, state in span.extensions.get(same, ())
                if place not in places
            ]
            extensions.sort(reverse=True)
            span.extensions[context] = extensions
            shift, same = 0.0, context
        span.shifts[context] = shift, same
        return shift, same

    def _extensions(
        self, span: SourceSpan, context: str, first_words: Iterable[str]
    ) -> list[Extension]:
        """Return what the options that begin with some words add behind a context."""
        extensions: list[Extension] = []
        step, weight = self.language_model.step, self.weights.language_model
        for first_word in first_words:
            first_log10, first_state = step(context, first_word)
            for place in span.places[first_word]:
                words, score = span.options[place]
                log10, state = first_log10, first_state
                for word in words[1:]:
                    word_log10, state = step(state, word)
                    log10 += word_log10
                extensions.append((score + log10 * LN_10 * weight, place, state))
        return extensions

    def _future_cost(self, coverage: int) -> float:
        """Return the estimated score of the words not covered: the sum over the gaps."""
        cost = self._coverage_costs.get(coverage)
        if cost is None:
            cost, start, length = 0.0, 0, len(self.words)
            while start < length:
                if coverage >> start & 1:
                    start += 1
                    continue
                ahead = coverage >> start
                end = start + (ahead & -ahead).bit_length() - 1 if ahead else length
                cost += self.future_costs[start][end]
                start = end
            self._coverage_costs[coverage] = cost
        return cost

    @cached_property
    def future_costs(self) -> list[list[float]]:
        """Koehn's future cost estimate: future_costs[start][end], the span's best score alone.

        Neither its context nor the distortion counts.
        """
        length = len(self.words)
        best = [[-math.inf] * (length + 1) for _ in range(length)]
        for start in reversed(range(length)):
            check_stop()
            for span in (self.spans[place] for place in self.places[start]):
                self._find_extensions(span, "")
                best[start][span.end] = span.extensions[""][0][0]
            for end in range(start + 1, length + 1):
                joined = (best[start][cut] + best[cut][end] for cut in range(start + 1, end))
                best[start][end] = max(best[start][end], max(joined, default=-math.inf))
        return best
