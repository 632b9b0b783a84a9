"""An n-gram language model with back-off, read from an ARPA file; KenLM is not needed for it."""

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

START, END, UNKNOWN = "<s>", "</s>", "<unk>"


@dataclass(frozen=True)
class NgramModel:
    """Base-10 logarithms of the probability and the back-off weight of n-grams.

    An n-gram is its words with blanks between. A model that has an n-gram also has the shorter
    ones that it ends with.
    """

    ngrams: Mapping[str, tuple[float, float]]
    order: int

    def step(self, state: str, word: str) -> tuple[float, str]:
        """Return the log10 probability of a word after `state`, and the state after it.

        A state is the longest sequence of last words that the model has, `order` - 1 at most;
        "" is no context, `START` the start of a sentence.
        """
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
