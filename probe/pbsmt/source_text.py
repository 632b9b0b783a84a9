"""What is known of a source text before it is translated: its spans and their translations.

A span's translations are told apart by what the language model says behind a context; contexts that
differ by the cost of backing off only share what it says. The best score of each span alone is the
future cost of a translation that leaves it (Koehn, Och and Marcu 2003).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from probe.pbsmt.decoder_weights import DecoderWeights
from probe.pbsmt.ngram_model import NgramModel
from probe.pbsmt.phrase_table import Phrase, PhraseTable
from probe.stopping import check_stop

LN_10 = math.log(10)  # language models have base-10 logarithms
UNKNOWN_SCORE = -10.0  # of a word that no phrase of one word covers: it is copied, as in Moses


class TranslationOption(NamedTuple):
    """The translation of a source span, and the score that needs no context."""

    words: tuple[str, ...]
    score: float


Extension = tuple[float, int, str]
"""What an option adds behind a context: the gain, which is its score and the language model's, the
option's place among those of its span, and the language model's new state."""


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


class SourceText:
    """A text, its spans that have translations, and what was computed of them so far."""

    def __init__(
        self,
        words: Sequence[str],
        table: PhraseTable,
        language_model: NgramModel,
        weights: DecoderWeights,
    ) -> None:
        self.words, self.table = words, table
        self.language_model, self.weights = language_model, weights
        self._coverage_costs: dict[int, float] = {}

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

    def find_extensions(self, span: SourceSpan, context: str) -> tuple[float, str]:
        """Find what each option of a span adds behind a context; return the span's shift for it."""
        shift, same, behind = 0.0, context, span.first_words
        contexts = self.language_model.contexts
        if context:
            log10, rest = self.language_model.back_off(context)
            rest_shift, same = span.shifts.get(rest) or self.find_extensions(span, rest)
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

    def future_cost(self, coverage: int) -> float:
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
                self.find_extensions(span, "")
                best[start][span.end] = span.extensions[""][0][0]
            for end in range(start + 1, length + 1):
                joined = (best[start][cut] + best[cut][end] for cut in range(start + 1, end))
                best[start][end] = max(best[start][end], max(joined, default=-math.inf))
        return best
