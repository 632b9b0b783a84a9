"""An n-gram language model with back-off, read from an ARPA file; KenLM is not needed for it."""

import gzip
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
MAX_STATES = 20_000  # behind which steps are remembered: about 30 MB


@dataclass(frozen=True)
class NgramModel:
    """Base-10 logarithms of the probability and the back-off weight of n-grams.

    An n-gram is its words with blanks between. A model that has an n-gram also has the shorter
    ones that it ends with.
    """

    ngrams: Mapping[str, tuple[float, float]]
    order: int
    _steps: dict[str, dict[str, tuple[float, str]]] = field(default_factory=dict)

    @cached_property
    def contexts(self) -> Set[str]:
        """The sequences that the model has with a word behind them, or with a back-off weight."""
        return {ngram.rpartition(" ")[0] for ngram in self.ngrams} | {
            ngram for ngram, (_, backoff) in self.ngrams.items() if backoff
        }

    def context(self, state: str) -> str:
        """Return the end of a state after which each word has the probability that it has there."""
        while state and state not in self.contexts:
            state = state.partition(" ")[2]
        return state

    def step(self, state: str, word: str) -> tuple[float, str]:
        """Return the log10 probability of a word after `state`, and the state after it.

        A state is the longest sequence of last words that the model has, `order` - 1 at most;
        "" is no context, `START` the start of a sentence. Steps are remembered: translations ask
        for the same ones again and again.
        """
        behind = self.steps(state)
        step = behind.get(word)
        if step is None:
            step = behind[word] = self._step(state, word)
        return step

    def steps(self, state: str) -> dict[str, tuple[float, str]]:
        """Return the steps behind a state that are remembered, by their word."""
        behind = self._steps.get(state)
        if behind is None:
            if len(self._steps) >= MAX_STATES:
                self._steps.clear()
            behind = self._steps[state] = {}
        return behind

    def _step(self, state: str, word: str) -> tuple[float, str]:
        backoff, ngrams = 0.0, self.ngrams
        while state:
            entry = ngrams.get(f"{state} {word}")
            if entry is not None:
                return backoff + entry[0], self._shorten(f"{state} {word}")
            backoff += ngrams[state][1] if state in ngrams else 0.0
            state = state.partition(" ")[2]
        entry = ngrams.get(word)
        if entry is None:
            return backoff + ngrams[UNKNOWN][0], ""
        return backoff + entry[0], word if self.order > 1 else ""

    def _shorten(self, ngram: str) -> str:
        """Drop the first word of an n-gram that is too long for a state."""
        return ngram.partition(" ")[2] if ngram.count(" ") >= self.order - 1 else ngram


def parse(lines: Iterable[str]) -> NgramModel:
    """Read the lines of an ARPA file."""
    ngrams, order = {}, 0
    for line in lines:
        probability, tab, rest = line.rstrip("\n").partition("\t")
        if tab:
            ngram, _, backoff = rest.partition("\t")
            ngrams[ngram] = (float(probability), float(backoff or 0))
        elif line.endswith("-grams:\n"):
            order = int(line[1 : line.index("-")])
    return NgramModel(ngrams, order)


def read(path: Path) -> NgramModel:
    """Read a gzipped ARPA file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return parse(file)
