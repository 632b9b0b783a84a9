"""An n-gram language model with back-off, read from an ARPA file; KenLM is not needed for it."""

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

START, END, UNKNOWN = "<s>", "</s>", "<unk>"


@dataclass(frozen=True)
class Language:
    """Base-10 logarithms of the probability and the back-off weight of n-grams.

    An n-gram is its words with blanks between. With an n-gram its last words are there too.
    """

    grams: Mapping[str, tuple[float, float]]
    order: int

    def step(self, state: str, word: str) -> tuple[float, str]:
        """Return the log10 probability of a word after `state`, and the state after it.

        A state is the longest stretch of last words that the model has, `order` - 1 at most;
        "" is no context, `START` the start of a sentence.
        """
        weight, grams = 0.0, self.grams
        while state:
            found = grams.get(f"{state} {word}")
            if found is not None:
                return weight + found[0], self._shorten(f"{state} {word}")
            weight += grams[state][1] if state in grams else 0.0
            state = state.partition(" ")[2]
        found = grams.get(word)
        if found is None:
            return weight + grams[UNKNOWN][0], ""
        return weight + found[0], word if self.order > 1 else ""

    def _shorten(self, gram: str) -> str:
        return gram.partition(" ")[2] if gram.count(" ") >= self.order - 1 else gram


def parse(lines: Iterable[str]) -> Language:
    """Read the lines of an ARPA file."""
    grams, order = {}, 0
    for line in lines:
        probability, tab, rest = line.rstrip("\n").partition("\t")
        if tab:
            gram, _, weight = rest.partition("\t")
            grams[gram] = (float(probability), float(weight or 0))
        elif line.endswith("-grams:\n"):
            order = int(line[1 : line.index("-")])
    return Language(grams, order)


def read(path: Path) -> Language:
    """Read a gzipped ARPA file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return parse(file)
