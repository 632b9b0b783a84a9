"""Phrase-based translators from premises to hypotheses, one trained on the pairs of each label.

Gupta et al. 2021. Their tables lie in assets/phrases, whose README says what they
were trained on; `python -m recipes.translators` trains them.
"""

import gzip
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from heapq import heappush, heappushpop, nlargest
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from probe.settings import ASSETS
from probe.stopping import check_stop
from probe.tasks.task import Label

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
FEW = 8  # words, for which a set is larger than it is quick


@dataclass(frozen=True)
class NgramModel:
    """Base-10 logarithms of the probability of n-grams, and of the back-off weight of some.

    An n-gram is its words with blanks between. A model that has an n-gram also has the shorter
    ones that it ends with. Numbers by string, as both are, cost the garbage collector nothing.
    """

    probabilities: Mapping[str, float]
    backoffs: Mapping[str, float]
    order: int

    @cached_property
    def contexts(self) -> Mapping[str, Collection[str]]:
        """The words behind each sequence, none behind one that has a back-off weight only."""
        words: defaultdict[str, list[str]] = defaultdict(list)
        for ngram in self.probabilities:
            context, _, word = ngram.rpartition(" ")
            words[context].append(word)
        behind: dict[str, Collection[str]] = {  # a few words as a tuple, in less memory
            context: frozenset(each) if len(each) > FEW else tuple(each)
            for context, each in words.items()
        }
        return dict.fromkeys(self.backoffs, ()) | behind

    def context(self, state: str) -> str:
        """Return the end of a state after which each word has the probability that it has there."""
        while state and state not in self.contexts:
            state = state.partition(" ")[2]
        return state

    def back_off(self, context: str) -> tuple[float, str]:
        """Return what it costs to forget the first word of a context, and what is left of it.

        A word that the model does not have behind the context has the probability and the state
        that it has behind the rest, at that cost.
        """
        return self.backoffs.get(context, 0.0), context.partition(" ")[2]

    def step(self, state: str, word: str) -> tuple[float, str]:
        """Return the log10 probability of a word after `state`, and the state after it.

        A state is the longest sequence of last words that the model has, `order` - 1 at most;
        "" is no context, `START` the start of a sentence.
        """
        total, probabilities = 0.0, self.probabilities
        while state:
            ngram = f"{state} {word}"
            probability = probabilities.get(ngram)
            if probability is not None:
                longest = ngram.count(" ") >= self.order - 1  # too long for a state
                return total + probability, ngram.partition(" ")[2] if longest else ngram
            cost, state = self.back_off(state)
            total += cost
        probability = probabilities.get(word)
        if probability is None:
            return total + probabilities[UNKNOWN], ""
        return total + probability, word if self.order > 1 else ""


def parse_arpa(lines: Iterable[str]) -> NgramModel:
    """Read the lines of an ARPA file."""
    probabilities, backoffs, order = dict[str, float](), dict[str, float](), 0
    for line in lines:
        probability, tab, rest = line.rstrip("\n").partition("\t")
        if tab:
            ngram, _, backoff = rest.partition("\t")
            probabilities[ngram] = float(probability)
            if backoff and float(backoff):
                backoffs[ngram] = float(backoff)
        elif line.endswith("-grams:\n"):
            order = int(line[1 : line.index("-")])
    return NgramModel(probabilities, backoffs, order)


class Phrase(NamedTuple):
    """One translation: its words, and its weighted natural-log score that needs no context."""

    words: tuple[str, ...]
    score: float


@dataclass(frozen=True)
class PhraseTable:
    """Translations by the source phrase, its words joined by blanks; best first.

    `lines` has the text after each source phrase. It is parsed, into `parsed`, at the first look-up
    of the phrase, which for most never comes. `max_words` is the length of the longest phrase.
    """

    lines: Mapping[str, str]
    max_words: int
    parsed: dict[str, tuple[Phrase, ...]] = field(default_factory=dict)

    def phrases(self, source: str) -> tuple[Phrase, ...]:
        """Return the translations of a phrase, none where it has none."""
        if source in self.lines and source not in self.parsed:
            cells = self.lines[source].split("\t")
            pairs = zip(cells[::2], cells[1::2], strict=True)
            self.parsed[source] = tuple(Phrase(tuple(t.split(" ")), float(s)) for s, t in pairs)
        return self.parsed.get(source, ())


def parse_table(lines: Iterable[str]) -> PhraseTable:
    """Read lines of a source phrase and its scores and targets in turn, a tab between any two."""
    rest_of_line = dict(line.rstrip("\n").split("\t", 1) for line in lines)
    return PhraseTable(rest_of_line, 1 + max((s.count(" ") for s in rest_of_line), default=0))


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


LN_10 = math.log(10)  # language models have base-10 logarithms
UNKNOWN_SCORE = -10.0  # of a word that no phrase of one word covers: it is copied, as in Moses
ROUNDING = 1e-6  # far more than sums of the same scores in another order differ by
PLACE = itemgetter(1)
GAP = re.compile("0+")

# In a search there are thousands of these. They are tuples of numbers and strings alone, which the
# garbage collector leaves alone: of other objects it goes through all, again and again.

Extension = tuple[float, int, str]
"""What an option adds behind a context: the gain, which is its score and the language model's, the
option's place among those of its span, and the language model's new state."""
Partial = tuple[float, float, int, int, str, tuple[str, ...], int]
"""A translation of some of the source words.

The score with the future cost of the rest; the score of what is translated; a bit for each word
that is; the end of the phrase translated last; the language model's state; the translation of that
phrase; and the place, among the extended ones, of the one before it."""
EMPTY: Partial = (0.0, 0.0, 0, 0, START, (), 0)


@dataclass(frozen=True)
class SourceSpan:
    """The options for the words from `start` to `end`; `coverage` has a bit for each of the words.

    `places` are those of the options that begin with each of the `first_words`. `extensions` are
    those behind a context, the largest gain first. Where the language model has none of the first
    words behind a context, the gains are those behind a shorter one, all with the cost of backing
    off: `shifts` has, for each context that was asked for, this cost and the shorter context.
    """

    start: int
    end: int
    coverage: int
    options: tuple[Phrase, ...]
    places: Mapping[str, list[int]]
    first_words: frozenset[str]
    extensions: dict[str, list[Extension]] = field(default_factory=dict)
    shifts: dict[str, tuple[float, str]] = field(default_factory=dict)


@dataclass
class Stack:
    """The best partial translation for each coverage, end of the last phrase and state.

    As many of them as are extended have at least the estimate `floor`. `highest` is a heap of
    estimates, one a translation, that are behind it.
    """

    beam_size: float
    partials: dict[tuple[int, int, str], Partial] = field(default_factory=dict)
    highest: list[float] = field(default_factory=list)
    floor: float = -math.inf

    def count(self, estimate: float, before: float | None) -> None:
        """Count a new translation, or one that had the estimate `before`."""
        if before is not None and before >= self.floor:
            return  # it is counted already
        push = heappush if len(self.highest) < self.beam_size else heappushpop
        push(self.highest, estimate)
        if len(self.highest) == self.beam_size:
            self.floor = self.highest[0]


class Search:
    """The search for the best translation of one text."""

    def __init__(
        self,
        words: Sequence[str],
        table: PhraseTable,
        language_model: NgramModel,
        weights: DecoderWeights,
        beam_size: int,
    ) -> None:
        self.words, self.language_model, self.weights = words, language_model, weights
        self.beam_size = beam_size
        self.spans = [list(self._spans_from(start, table)) for start in range(len(words))]
        self.future_costs = self._future_costs()
        self._gaps: dict[int, float] = {}
        self._moves: dict[tuple[int, int], list[tuple[SourceSpan, float, int, float]]] = {}
        self._extended: list[Partial] = []

    def _spans_from(self, start: int, table: PhraseTable) -> Iterator[SourceSpan]:
        for end in range(start + 1, min(start + table.max_words, len(self.words)) + 1):
            phrases = table.phrases(" ".join(self.words[start:end]))
            if not phrases and end == start + 1:
                phrases = (Phrase((self.words[start],), UNKNOWN_SCORE),)
            places: defaultdict[str, list[int]] = defaultdict(list)
            for place, phrase in enumerate(phrases):
                places[phrase.words[0]].append(place)
            word, each = self.weights.word, self.weights.phrase
            options = tuple(Phrase(w, score + word * len(w) + each) for w, score in phrases)
            if options:
                coverage = (1 << end) - (1 << start)
                yield SourceSpan(start, end, coverage, options, places, frozenset(places))

    def _future_costs(self) -> list[list[float]]:
        """Koehn's estimate: [start][end] is a span's best score without context and distortion."""
        length = len(self.words)
        best = [[-math.inf] * (length + 1) for _ in range(length)]
        for start in reversed(range(length)):
            check_stop()
            for span in self.spans[start]:
                self.find_extensions(span, "")
                best[start][span.end] = span.extensions[""][0][0]
            for end in range(start + 1, length + 1):
                joined = (best[start][cut] + best[cut][end] for cut in range(start + 1, end))
                best[start][end] = max(best[start][end], max(joined, default=-math.inf))
        return best

    def find_extensions(self, span: SourceSpan, context: str) -> tuple[float, str]:
        """Find what each option of a span adds behind a context; return the span's shift for it."""
        weight = self.weights.language_model
        shift, same, behind = 0.0, context, span.first_words
        if context:
            log10, rest = self.language_model.back_off(context)
            rest_shift, same = span.shifts.get(rest) or self.find_extensions(span, rest)
            shift = rest_shift + log10 * LN_10 * weight
            behind = behind.intersection(self.language_model.contexts.get(context, ()))
        if behind:
            step, extensions = self.language_model.step, list[Extension]()
            for first in behind:
                first_log10, first_state = step(context, first)
                for place in span.places[first]:
                    words, score = span.options[place]
                    log10, state = first_log10, first_state
                    for word in words[1:]:
                        word_log10, state = step(state, word)
                        log10 += word_log10
                    extensions.append((score + log10 * LN_10 * weight, place, state))
            changed = {place for _, place, _ in extensions}
            extensions += [
                (shift + gain, place, state)
                for gain, place, state in span.extensions.get(same, ())
                if place not in changed
            ]
            extensions.sort(reverse=True)
            span.extensions[context] = extensions
            shift, same = 0.0, context
        span.shifts[context] = shift, same
        return shift, same

    def future_cost(self, coverage: int) -> float:
        """Return the estimated score of the words not covered: the sum over the gaps."""
        if coverage not in self._gaps:
            bits = f"{coverage:0{len(self.words)}b}"[::-1]
            gaps = (self.future_costs[gap.start()][gap.end()] for gap in GAP.finditer(bits))
            self._gaps[coverage] = sum(gaps, 0.0)
        return self._gaps[coverage]

    def run(self) -> tuple[list[str], float]:
        """Return the words of the best translation, and its score with the end of the sentence."""
        stacks = [Stack(self.beam_size) for _ in self.words]
        stacks.append(Stack(math.inf))  # all complete ones are compared
        stacks[0].partials[0, 0, START] = EMPTY
        for stack in stacks[:-1]:
            check_stop()
            for partial in nlargest(self.beam_size, stack.partials.values(), key=itemgetter(0)):
                self._extend(partial, stacks)
        return self._best(stacks[-1])

    def _best(self, complete: Stack) -> tuple[list[str], float]:
        phrases, ends = list[tuple[str, ...]](), complete.partials.values()
        step, weight = self.language_model.step, self.weights.language_model
        scores = {each: each[1] + step(each[4], END)[0] * LN_10 * weight for each in ends}
        best = partial = max(scores, key=scores.__getitem__)
        while partial is not EMPTY:
            *_, words, previous = partial
            phrases.append(words)
            partial = self._extended[previous]
        return [word for phrase in reversed(phrases) for word in phrase], scores[best]

    def _extend(self, partial: Partial, stacks: list[Stack]) -> None:
        """Put every extension of a translation by one phrase into its stack."""
        _, score, coverage, last_end, state, _, _ = partial
        previous = len(self._extended)
        self._extended.append(partial)
        context = self.language_model.context(state)
        moves = self._moves.get((coverage, last_end)) or self._find_moves(coverage, last_end)
        for span, cost, covered, future_cost in moves:
            stack = stacks[covered.bit_count()]
            shift, same = span.shifts.get(context) or self.find_extensions(span, context)
            base = score - cost + shift
            floor = stack.floor - base - future_cost - ROUNDING
            if span.extensions[same][0][0] < floor:
                continue
            kept = [each for each in span.extensions[same] if each[0] >= floor]
            if len(kept) > 1:
                kept.sort(key=PLACE)  # in the table's order: of equals the first stays
            for gain, place, new in kept:
                total, key = base + gain, (covered, span.end, new)
                known = stack.partials.get(key)
                if known is None or known[1] < total:
                    estimate = total + future_cost
                    stack.count(estimate, known and known[0])
                    words = span.options[place].words
                    stack.partials[key] = (estimate, total, *key, words, previous)

    def _find_moves(
        self, coverage: int, last_end: int
    ) -> list[tuple[SourceSpan, float, int, float]]:
        """Return the spans that may follow, of which translations ask again and again.

        Each with the cost of its distortion, what is covered then and the future cost of the rest.
        A phrase that leaves a gap must end near enough to it for the gap to be reached again.
        """
        limit = self.weights.distortion_limit
        gap = (~coverage & (coverage + 1)).bit_length() - 1  # the first word not covered
        starts = range(max(gap, last_end - limit), min(last_end + limit + 1, len(self.words)))
        moves = [
            (
                span,
                self.weights.distortion * abs(span.start - last_end),
                coverage | span.coverage,
                self.future_cost(coverage | span.coverage),
            )
            for start in starts
            for span in self.spans[start]
            if not coverage & span.coverage and (start == gap or span.end - gap <= limit)
        ]
        self._moves[coverage, last_end] = moves
        return moves


FOLDER = ASSETS / "phrases"
MAX_WORDS = 512  # of a text that are translated: no model here reads more sub-words than that
MAX_PART_WORDS = 60  # translated at a time
MAX_BEAM_SIZE = 100  # translations in a stack; 25 words take 0.15 s, and 400 score hardly better
MIN_BEAM_SIZE = 5  # for the longest texts
SENTENCE_ENDS = frozenset(".?!;")
REMEMBERED = 4096
"""Translations: the pairs of a premise lie near each other, and further transforms ask for the
same."""


@dataclass(frozen=True)
class Translator:
    """A phrase table and a language model."""

    table: PhraseTable
    language_model: NgramModel

    def translate(self, words: Sequence[str], weights: DecoderWeights) -> list[str]:
        """Translate lower-case tokens, the first `MAX_WORDS` of them.

        A text of more than `MAX_PART_WORDS` is translated in parts, with a smaller beam, so that
        the time has a bound.
        """
        beam_size = MAX_BEAM_SIZE * MAX_PART_WORDS // max(len(words), 1)
        beam_size = max(MIN_BEAM_SIZE, min(MAX_BEAM_SIZE, beam_size))
        translations = (
            Search(part, self.table, self.language_model, weights, beam_size).run()[0]
            for part in parts(words[:MAX_WORDS])
        )
        return [word for translation in translations for word in translation]


def parts(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut into parts of at most `MAX_PART_WORDS`, after the last end of a sentence if possible."""
    while len(words) > MAX_PART_WORDS:
        ends = [i for i in range(MAX_PART_WORDS) if words[i] in SENTENCE_ENDS]
        cut = ends[-1] + 1 if ends else MAX_PART_WORDS
        yield words[:cut]
        words = words[cut:]
    if words:
        yield words


def files(label: Label, folder: Path = FOLDER) -> tuple[Path, Path]:
    """Return the paths of a label's phrase table and language model."""
    return folder / f"{label}.phrases.gz", folder / f"{label}.arpa.gz"


def load(label: Label, folder: Path = FOLDER) -> Translator:
    """Read the translator of a label. Raises OSError."""
    phrases, ngrams = files(label, folder)
    with (
        gzip.open(phrases, "rt", encoding="utf-8", newline="\n") as table,
        gzip.open(ngrams, "rt", encoding="utf-8", newline="\n") as arpa,
    ):
        return Translator(parse_table(table), parse_arpa(arpa))


def trained(label: Label) -> bool:
    """Whether a label's translator comes with the app."""
    return all(path.exists() for path in files(label))


@cache
def translator(label: Label) -> Translator:
    """Return the translator of a label that comes with the app, read at the first call."""
    return load(label)


@lru_cache(maxsize=REMEMBERED)
def translation(label: Label, words: tuple[str, ...], weights: DecoderWeights) -> tuple[str, ...]:
    """Return the translation of lower-case tokens by a label's translator; it is remembered."""
    return tuple(translator(label).translate(words, weights))


def missing(labels: Sequence[Label], folder: Path = FOLDER) -> str:
    """Return which files of labels are missing and how to get them, "" where all are present."""
    names = [path.name for label in labels for path in files(label, folder) if not path.exists()]
    if not names:
        return ""
    place = "assets/phrases" if folder == FOLDER else folder
    return (
        f"{place} lacks {', '.join(names)}; they come with a clone, or from "
        "`python -m recipes.translators train PAIRS.jsonl`."
    )
