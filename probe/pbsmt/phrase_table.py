"""A phrase table: the translations of phrases of a premise, with their scores."""

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Phrase:
    """One translation: its words and its weighted natural-log score."""

    words: tuple[str, ...]
    score: float


@dataclass(frozen=True)
class PhraseTable:
    """Translations by the source phrase, its words joined by blanks; best first.

    `lines` has the text after each source phrase; it is parsed, into `parsed`, at the first look-up
    of the phrase, which for most phrases never comes. `max_words` is the number of words of the
    longest source phrase.
    """

    lines: Mapping[str, str]
    max_words: int
    parsed: dict[str, tuple[Phrase, ...]] = field(default_factory=dict)

    def phrases(self, source: str) -> tuple[Phrase, ...]:
        """Return the translations of a phrase, none where it has none."""
        if source not in self.lines:
            return ()
        if source not in self.parsed:
            cells = self.lines[source].split("\t")
            pairs = zip(cells[::2], cells[1::2], strict=True)
            self.parsed[source] = tuple(
                Phrase(tuple(target.split(" ")), float(score)) for score, target in pairs
            )
        return self.parsed[source]


def parse(lines: Iterable[str]) -> PhraseTable:
    """Read lines of a source phrase and its scores and targets in turn, a tab between any two."""
    rest_of_line = {}
    for line in lines:
        source, _, rest = line.rstrip("\n").partition("\t")
        rest_of_line[source] = rest
    longest = max((source.count(" ") for source in rest_of_line), default=0)
    return PhraseTable(rest_of_line, 1 + longest)


def read(path: Path) -> PhraseTable:
    """Read a gzipped phrase table."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return parse(file)
