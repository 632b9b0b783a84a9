"""The translators that come with the app, and texts of any length through them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from probe.pbsmt import ngram_model, phrase_table
from probe.pbsmt.decode import Search, Weights, said
from probe.pbsmt.ngram_model import Language
from probe.pbsmt.phrase_table import Table
from probe.settings import ASSETS
from probe.tasks.nli import LABELS
from probe.tasks.task import Label

FOLDER = ASSETS / "phrases"
LONGEST = 512  # words of a text that are translated: no model here reads more sub-words than that
STRETCH = 60  # words that are translated at a time
BEAM = 100  # translations in a stack; 25 words take 0.15 s, and 400 score hardly better
NARROW = 5  # of the longest texts
MARKS = frozenset(".?!;")


@dataclass(frozen=True)
class Translator:
    """A phrase table and a language model."""

    table: Table
    language: Language

    def translate(self, words: Sequence[str], weights: Weights) -> list[str]:
        """Translate lower-case tokens, up to the `LONGEST`-th of them.

        A text longer than a stretch is translated in parts, with a narrower beam, so that the
        time has a bound.
        """
        beam = max(NARROW, min(BEAM, BEAM * STRETCH // max(len(words), 1)))
        found = (
            Search(part, self.table, self.language, weights, beam).run()
            for part in parts(words[:LONGEST])
        )
        return [word for best in found for word in said(best)]


def parts(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut into stretches, after the last mark that ends a sentence where there is one."""
    while len(words) > STRETCH:
        marks = [at for at in range(STRETCH) if words[at] in MARKS]
        cut = marks[-1] + 1 if marks else STRETCH
        yield words[:cut]
        words = words[cut:]
    if words:
        yield words


def files(label: Label, folder: Path = FOLDER) -> tuple[Path, Path]:
    """Return where the phrase table and the language model of a label lie."""
    return folder / f"{label}.phrases.gz", folder / f"{label}.arpa.gz"


def load(label: Label, folder: Path = FOLDER) -> Translator:
    """Read the translator of a label. Raises OSError."""
    phrases, grams = files(label, folder)
    return Translator(phrase_table.read(phrases), ngram_model.read(grams))


@cache
def translator(label: Label) -> Translator:
    """Return the translator of a label that comes with the app, read at the first call."""
    return load(label)


def missing(folder: Path = FOLDER) -> str:
    """Say which tables are not there and how to get them, "" where all are there."""
    gone = [path.name for label in LABELS for path in files(label, folder) if not path.exists()]
    if not gone:
        return ""
    return (
        f"assets/phrases lacks {', '.join(gone)}; they come with a clone, or from "
        "`python -m probe pbsmt train PAIRS.jsonl`."
    )
