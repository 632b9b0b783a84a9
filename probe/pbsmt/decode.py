"""Stack decoding (Koehn, Och and Marcu 2003, section 3, with what Moses added).

Partial translations lie in stacks by the number of words they cover. Of those that nothing later
can tell apart (the same words covered, the same last place, the same language state) the best
stays; of a stack the `beam` best by score and estimate of the rest are extended. NLTK's
StackDecoder has no distortion limit and no recombination: 24 words take it 6 s, and this 0.14 s,
with 50 translations in a stack.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from operator import itemgetter
from typing import NamedTuple

from probe.pbsmt.ngram_model import END, START, Language
from probe.pbsmt.phrase_table import Phrase, Table

NATURAL = math.log(10)  # language models count in powers of ten
UNKNOWN_SCORE = -10.0  # of a word that no phrase of one word covers: it is copied, as in Moses


@dataclass(frozen=True)
class Weights:
    """Weights of what a translation is scored by beside its phrases' own scores.

    `word` is earned by each word said, `phrase` by each phrase used. A phrase that starts d words
    from the end of the one before costs `distortion` * d; d is at most `limit`, 0 keeps the order.
    """

    language: float
    distortion: float
    limit: int
    word: float = 1.0
    phrase: float = 0.2


class Choice(NamedTuple):
    """A stretch of the text, what it becomes, and the scores that hang on nothing else."""

    end: int
    words: tuple[str, ...]
    score: float


class Span(NamedTuple):
    """The choices for the words up to `end`; `bits` has a bit for each of these words."""

    end: int
    bits: int
    choices: tuple[Choice, ...]


class Partial(NamedTuple):
    """A translation of the words that `covered` has bits for; `estimate` counts in the others."""

    estimate: float
    score: float
    covered: int
    end: int
    state: str
    words: tuple[str, ...]
    before: "Partial | None"


Stack = dict[tuple[int, int, str], Partial]
EMPTY = Partial(0.0, 0.0, 0, 0, START, (), None)


class Search:
    """The search for the best translation of one text, and what it has found out on its way."""

    def __init__(
        self,
        words: Sequence[str],
        table: Table,
        language: Language,
        weights: Weights,
        beam: int,
    ) -> None:
        self.words, self.table, self.language = words, table, language
        self.weights, self.beam = weights, beam
        self.said: dict[tuple[str, tuple[str, ...]], tuple[float, str]] = {}
        self.rests: dict[int, float] = {}

    def run(self) -> Partial:
        """Return the best translation found, its score with that of ending there."""
        stacks: list[Stack] = [{} for _ in range(len(self.words) + 1)]
        stacks[0][0, 0, START] = EMPTY
        for stack in stacks[:-1]:
            for partial in nlargest(self.beam, stack.values(), key=itemgetter(0)):
                self._extend(partial, stacks)
        ended = [self._end(partial) for partial in stacks[-1].values()]
        return max(ended, key=itemgetter(1))

    @cached_property
    def spans(self) -> list[list[Span]]:
        """What each word may be the first of, by length."""
        return [
            [span for span in self._spans_from(start) if span.choices]
            for start in range(len(self.words))
        ]

    def _spans_from(self, start: int) -> list[Span]:
        ends = range(start + 1, min(start + self.table.longest, len(self.words)) + 1)
        return [Span(end, (1 << end) - (1 << start), self._choices(start, end)) for end in ends]

    def _choices(self, start: int, end: int) -> tuple[Choice, ...]:
        found = self.table.phrases(" ".join(self.words[start:end]))
        if not found and end == start + 1:
            found = (Phrase((self.words[start],), UNKNOWN_SCORE),)
        earned = self.weights.word, self.weights.phrase
        return tuple(
            Choice(end, it.words, it.score + earned[0] * len(it.words) + earned[1]) for it in found
        )

    def _extend(self, partial: Partial, stacks: list[Stack]) -> None:
        """Put every translation by one phrase more into its stack.

        A phrase that leaves a gap must end near enough to it for the gap to be reached again.
        """
        _, score, covered, last, state, _, _ = partial
        limit, cost = self.weights.limit, self.weights.distortion
        gap = (~covered & (covered + 1)).bit_length() - 1
        for start in range(max(gap, last - limit), min(last + limit + 1, len(self.words))):
            for end, bits, choices in self.spans[start]:
                if covered & bits or (start > gap and end - gap > limit):
                    break
                now = covered | bits
                stack, rest = stacks[now.bit_count()], self._rest(now)
                base = score - cost * abs(start - last)
                for _, words, own in choices:
                    said, after = self._say(state, words)
                    total = base + own + said
                    old = stack.get((now, end, after))
                    if old is None or old.score < total:
                        stack[now, end, after] = Partial(
                            total + rest, total, now, end, after, words, partial
                        )

    def _end(self, partial: Partial) -> Partial:
        said, state = self._say(partial.state, (END,))
        return partial._replace(score=partial.score + said, state=state)

    def _say(self, state: str, words: tuple[str, ...]) -> tuple[float, str]:
        """Return the weighted natural-log probability of words after a state, and the new state."""
        found = self.said.get((state, words))
        if found is None:
            total, after = 0.0, state
            for word in words:
                step, after = self.language.step(after, word)
                total += step
            found = self.said[state, words] = total * NATURAL * self.weights.language, after
        return found

    def _rest(self, covered: int) -> float:
        """Estimate the score of what is not covered: of each gap, as if nothing were around it."""
        found = self.rests.get(covered)
        if found is None:
            found, start, words = 0.0, 0, len(self.words)
            while start < words:
                if covered >> start & 1:
                    start += 1
                    continue
                ahead = covered >> start
                end = start + (ahead & -ahead).bit_length() - 1 if ahead else words
                found += self.outlook[start][end]
                start = end
            self.rests[covered] = found
        return found

    @cached_property
    def outlook(self) -> list[list[float]]:
        """The best score of each stretch alone: outlook[start][end]."""
        words = len(self.words)
        best = [[-math.inf] * (words + 1) for _ in range(words)]
        for start in reversed(range(words)):
            for end, _, choices in self.spans[start]:
                best[start][end] = max(own + self._say("", said)[0] for _, said, own in choices)
            for end in range(start + 1, words + 1):
                joined = (best[start][cut] + best[cut][end] for cut in range(start + 1, end))
                best[start][end] = max(best[start][end], max(joined, default=-math.inf))
        return best


def said(partial: Partial | None) -> list[str]:
    """Return the words of a translation."""
    parts: list[tuple[str, ...]] = []
    while partial is not None:
        parts.append(partial.words)
        partial = partial.before
    return [word for part in reversed(parts) for word in part]
