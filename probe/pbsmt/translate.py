"""The translators that come with the app, and the translation of texts of any length."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from probe.pbsmt import ngram_model, phrase_table
from probe.pbsmt.decode import Search
from probe.pbsmt.decoder_weights import DecoderWeights
from probe.pbsmt.ngram_model import NgramModel
from probe.pbsmt.phrase_table import PhraseTable
from probe.pbsmt.source_text import SourceText
from probe.settings import ASSETS
from probe.tasks.task import Label

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
            Search(SourceText(part, self.table, self.language_model, weights), beam_size).run()
            for part in parts(words[:MAX_WORDS])
        )
        return [word for translation in translations for word in translation.words]


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
    return Translator(phrase_table.read(phrases), ngram_model.read(ngrams))


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
        "`python -m probe pbsmt train PAIRS.jsonl`."
    )
