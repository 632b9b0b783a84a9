"""An n-gram language model with back-off, read from an ARPA file; KenLM is not needed for it."""

import gzip
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

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
        """The sequences that have words behind them in the model, and those words.

        And those that have a back-off weight only, with no word.
        """
        words: defaultdict[str, list[str]] = defaultdict(list)
        for ngram in self.probabilities:
            context, _, word = ngram.rpartition(" ")
            words[context].append(word)
        behind = {context: _small_set(words[context]) for context in words}
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
                return total + probability, self._shorten(ngram)
            cost, state = self.back_off(state)
            total += cost
        probability = probabilities.get(word)
        if probability is None:
            return total + probabilities[UNKNOWN], ""
        return total + probability, word if self.order > 1 else ""

    def _shorten(self, ngram: str) -> str:
        """Drop the first word of an n-gram that is too long for a state."""
        return ngram.partition(" ")[2] if ngram.count(" ") >= self.order - 1 else ngram


def _small_set(words: list[str]) -> Collection[str]:
    """Return different words as a set, a few of them in less memory."""
    return frozenset(words) if len(words) > FEW else tuple(words)


def parse(lines: Iterable[str]) -> NgramModel:
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


def read(path: Path) -> NgramModel:
    """Read a gzipped ARPA file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return parse(file)
