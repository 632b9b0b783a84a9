"""Stack decoding (Koehn, Och and Marcu 2003, section 3, with what Moses added).

Partial translations (Koehn's hypotheses) lie in stacks by the number of source words they cover.
Those with the same coverage, the same end of the last phrase and the same language model state are
recombined: only the best stays, since all of them are extended alike. Of a stack the `beam_size`
best by score and future cost are extended, so an extension that is below as many of its stack
already is left out. NLTK's StackDecoder has no distortion limit and no recombination.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappush, heappushpop, nlargest
from operator import itemgetter
from typing import NamedTuple

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


class TranslationOption(NamedTuple):
    """The translation of a source span up to `end`, and the scores that need no context."""

    end: int
    words: tuple[str, ...]
    score: float


Extension = tuple[float, int, float, str]
"""What an option adds behind a language model state: the gain, which is both of its scores, the
option's place among those of its span, the language model's score and its new state."""


class SourceSpan(NamedTuple):
    """The options for the words up to `end`; `coverage` has a bit for each of these words.

    `extensions` are those behind each context that was asked for, the largest gain first.
    """

    end: int
    coverage: int
    options: tuple[TranslationOption, ...]
    extensions: dict[str, list[Extension]]


class PartialTranslation(NamedTuple):
    """A translation of the source words that `coverage` has bits for.

    `score` counts what is translated, `estimate` adds the future cost of the rest. `end` is the
    end of the phrase translated last, `words` are that phrase's translation, `state` is the
    language model's.
    """

    estimate: float
    score: float
    coverage: int
    end: int
    state: str
    words: tuple[str, ...]
    previous: "PartialTranslation | None"


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


EMPTY = PartialTranslation(0.0, 0.0, 0, 0, START, (), None)


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

    def run(self) -> PartialTranslation:
        """Return the best complete translation, its score with that of the sentence's end."""
        stacks = [Stack(self.beam_size) for _ in self.words]
        stacks.append(Stack(math.inf))  # all complete ones are compared
        stacks[0].partials[0, 0, START] = EMPTY
        for stack in stacks[:-1]:
            check_stop()
            for partial in nlargest(self.beam_size, stack.partials.values(), key=itemgetter(0)):
                self._extend(partial, stacks)
        complete = [self._end_sentence(partial) for partial in stacks[-1].partials.values()]
        return max(complete, key=itemgetter(1))

    @cached_property
    def spans(self) -> list[list[SourceSpan]]:
        """The spans with options that start at each word, by length."""
        return [
            [span for span in self._spans_from(start) if span.options]
            for start in range(len(self.words))
        ]

    def _spans_from(self, start: int) -> list[SourceSpan]:
        ends = range(start + 1, min(start + self.table.max_words, len(self.words)) + 1)
        return [
            SourceSpan(end, (1 << end) - (1 << start), self._options(start, end), {})
            for end in ends
        ]

    def _options(self, start: int, end: int) -> tuple[TranslationOption, ...]:
        phrases = self.table.phrases(" ".join(self.words[start:end]))
        if not phrases and end == start + 1:
            phrases = (Phrase((self.words[start],), UNKNOWN_SCORE),)
        word, phrase_weight = self.weights.word, self.weights.phrase
        return tuple(
            TranslationOption(
                end, phrase.words, phrase.score + word * len(phrase.words) + phrase_weight
            )
            for phrase in phrases
        )

    def _extend(self, partial: PartialTranslation, stacks: list[Stack]) -> None:
        """Put every extension of a translation by one phrase into its stack.

        A phrase that leaves a gap must end near enough to it for the gap to be reached again.
        """
        _, score, coverage, last_end, state, _, _ = partial
        limit, distortion = self.weights.distortion_limit, self.weights.distortion
        context = self.language_model.context(state)
        gap = (~coverage & (coverage + 1)).bit_length() - 1  # the first word not covered
        starts = range(max(gap, last_end - limit), min(last_end + limit + 1, len(self.words)))
        for start in starts:
            base = score - distortion * abs(start - last_end)
            for span in self.spans[start]:
                if coverage & span.coverage or (start > gap and span.end - gap > limit):
                    break
                new_coverage = coverage | span.coverage
                future_cost = self._coverage_costs.get(new_coverage)
                if future_cost is None:
                    future_cost = self._future_cost(new_coverage)
                stack = stacks[new_coverage.bit_count()]
                extensions = span.extensions.get(context) or self._extensions(span, context)
                floor = stack.floor - base - future_cost - ROUNDING
                if extensions[0][0] >= floor:
                    kept = [each for each in extensions if each[0] >= floor]
                    self._put(partial, span, kept, base, future_cost, stack)

    def _put(
        self,
        partial: PartialTranslation,
        span: SourceSpan,
        extensions: list[Extension],
        base: float,
        future_cost: float,
        stack: Stack,
    ) -> None:
        """Put a translation with a span's options behind it into a stack.

        `base` is its score with the distortion, `future_cost` that of what it leaves.
        """
        coverage, end = partial.coverage | span.coverage, span.end
        options, partials = span.options, stack.partials
        if len(extensions) > 1:
            extensions.sort(key=PLACE)  # in the table's order: of equals the first stays
        for _, place, lm_score, state in extensions:
            _, words, option_score = options[place]
            total = base + option_score + lm_score
            known = partials.get((coverage, end, state))
            if known is None or known.score < total:
                estimate = total + future_cost
                stack.count(estimate, known and known.estimate)
                partials[coverage, end, state] = PartialTranslation(
                    estimate, total, coverage, end, state, words, partial
                )

    def _extensions(self, span: SourceSpan, context: str) -> list[Extension]:
        """Return what each option of a span adds behind a context, the largest gain first."""
        extensions: list[Extension] = []
        weight, step = self.weights.language_model, self.language_model.step
        behind = self.language_model.steps(context)
        for place, (_, words, score) in enumerate(span.options):
            log10, state = behind.get(words[0]) or step(context, words[0])
            for word in words[1:]:
                word_log10, state = step(state, word)
                log10 += word_log10
            lm_score = log10 * LN_10 * weight
            extensions.append((score + lm_score, place, lm_score, state))
        extensions.sort(reverse=True)
        span.extensions[context] = extensions
        return extensions

    def _end_sentence(self, partial: PartialTranslation) -> PartialTranslation:
        """Add the score of the sentence ending here."""
        lm_score, state = self._lm_score(partial.state, (END,))
        return partial._replace(score=partial.score + lm_score, state=state)

    def _lm_score(self, state: str, words: tuple[str, ...]) -> tuple[float, str]:
        """Return the weighted natural-log probability of words after a state, and the new state."""
        log10, step = 0.0, self.language_model.step
        for word in words:
            word_log10, state = step(state, word)
            log10 += word_log10
        return log10 * LN_10 * self.weights.language_model, state

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
            for end, _, options, _ in self.spans[start]:
                best[start][end] = max(
                    score + self._lm_score("", words)[0] for _, words, score in options
                )
            for end in range(start + 1, length + 1):
                joined = (best[start][cut] + best[cut][end] for cut in range(start + 1, end))
                best[start][end] = max(best[start][end], max(joined, default=-math.inf))
        return best


def target_words(translation: PartialTranslation | None) -> list[str]:
    """Return the words of a translation, phrase after phrase."""
    phrases: list[tuple[str, ...]] = []
    while translation is not None:
        phrases.append(translation.words)
        translation = translation.previous
    return [word for phrase in reversed(phrases) for word in phrase]
