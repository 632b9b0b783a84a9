"""A phrase table: what stretches of a premise may become, and how good that is."""

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
class Table:
    """Translations by the words they are of, joined by blanks; best first.

    Lines stay text until they are asked for: most of them never are. `longest` is the number of
    words of the longest phrase.
    """

    lines: Mapping[str, str]
    longest: int
    read: dict[str, tuple[Phrase, ...]] = field(default_factory=dict)

    def phrases(self, source: str) -> tuple[Phrase, ...]:
        """Return the translations of a phrase, none where it has none."""
        if source not in self.lines:
            return ()
        if source not in self.read:
            cells = self.lines[source].split("\t")
            pairs = zip(cells[::2], cells[1::2], strict=True)
            self.read[source] = tuple(Phrase(tuple(t.split(" ")), float(s)) for s, t in pairs)
        return self.read[source]


def parse(lines: Iterable[str]) -> Table:
    """Read lines of a source phrase and its scores and targets in turn, a tab between any two."""
    found = {}
    for line in lines:
        source, _, rest = line.rstrip("\n").partition("\t")
        found[source] = rest
    return Table(found, 1 + max((source.count(" ") for source in found), default=0))


def read(path: Path) -> Table:
    """Read a gzipped phrase table."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return parse(file)
