"""WordNet through NLTK's reader, from NLTK's data or Debian's package.

NLTK takes a second to import, so that it is imported where WordNet is read: the page that says
which transforms there are looks for Debian's files first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from probe.errors import MissingWordNet
from probe.first_import import first_import

if TYPE_CHECKING:
    from probe.text.wordnet_reader import ThreadSafeReader


DEBIAN_FOLDER = Path("/usr/share/wordnet")
READER_FILES = tuple(
    name.format(part)
    for part in ("noun", "verb", "adj", "adv")
    for name in ("index.{}", "data.{}", "{}.exc")
)
"""The files that NLTK's reader opens, apart from `lexnames`, which Debian leaves out."""
Pos = Literal["n", "v", "a", "r"]
Relation = Literal["synonym", "antonym"]


def missing() -> str:
    """Return that WordNet is missing and how to get it, "" where it is present."""
    if _debian_has_all() or _nltk_data():
        return ""
    return (
        "WordNet is not on this machine; install it with `apt-get install wordnet-base` "
        "or `python -m nltk.downloader wordnet`."
    )


@cache
def reader() -> ThreadSafeReader:
    """Return WordNet's reader, opened at the first call. Raises MissingWordNet."""
    with first_import:
        import nltk.data

        from probe.text.wordnet_reader import ThreadSafeReader

    if root := _nltk_data():
        return ThreadSafeReader(root)
    if not _debian_has_all():
        raise MissingWordNet(missing())
    nltk.data.path.append(str(DEBIAN_FOLDER))  # NLTK opens nothing that lies outside its path
    return ThreadSafeReader(nltk.data.FileSystemPathPointer(str(DEBIAN_FOLDER)))


@lru_cache(maxsize=20_000)
def senses(word: str, pos: Pos | None = None) -> Sequence[Any]:  # Any: Synset
    """Return all senses of a word's base forms, each form's most frequent first.

    "saw" as a verb has the senses of saw, then those of see. Raises MissingWordNet.
    """
    return tuple(reader().synsets(word, pos))


def own_senses(lemma: str, pos: Pos) -> Sequence[Any]:  # Any: Synset
    """Return the senses that name the lemma itself: those of physics, not those of physic.

    Returns the senses of its base forms where WordNet does not have the lemma. Raises
    MissingWordNet.
    """
    synsets = senses(lemma, pos)
    named = tuple(sense for sense in synsets if lemma in map(str.lower, sense.lemma_names()))
    return named or synsets


def related(synsets: Sequence[Any], relation: Relation) -> list[str]:  # Any: Synset
    """Return the names of the synsets' lemmas, or of the antonyms of these lemmas.

    They are in WordNet's order, repetitions included.
    """
    lemmas = [lemma for sense in synsets for lemma in sense.lemmas()]
    if relation == "antonym":
        lemmas = [antonym for lemma in lemmas for antonym in lemma.antonyms()]
    return [lemma.name().replace("_", " ") for lemma in lemmas]


def _nltk_data() -> object:
    """Return NLTK's own WordNet, a folder or the archive that was downloaded; None for none."""
    with first_import:
        import nltk.data

    for name in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return nltk.data.find(name)
        except LookupError:
            continue
    return None


def _debian_has_all() -> bool:
    return all((DEBIAN_FOLDER / name).is_file() for name in READER_FILES)
