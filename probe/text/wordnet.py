"""WordNet through NLTK's reader, from NLTK's data or Debian's package, safe between threads."""

import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import nltk.data
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from probe.errors import MissingWordNet

DEBIAN_FOLDER = Path("/usr/share/wordnet")
READER_FILES = tuple(
    name.format(part)
    for part in ("noun", "verb", "adj", "adv")
    for name in ("index.{}", "data.{}", "{}.exc")
)
"""The files that NLTK's reader opens, apart from `lexnames`, which Debian leaves out."""
LEXNAMES = {
    3: "adj.all adj.pert",
    4: "adv.all",
    1: "noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition "
    "noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive "
    "noun.object noun.person noun.phenomenon noun.plant noun.possession noun.process "
    "noun.quantity noun.relation noun.shape noun.state noun.substance noun.time",
    2: "verb.body verb.change verb.cognition verb.communication verb.competition "
    "verb.consumption verb.contact verb.creation verb.emotion verb.motion verb.perception "
    "verb.possession verb.social verb.stative verb.weather",
}
"""The lexicographer files by the number of their part of speech, in the files' own order."""
LAST_LEXNAME = "adj.ppl"  # the lexicographer file that was numbered after all others
Pos = Literal["n", "v", "a", "r"]
Relation = Literal["synonym", "antonym"]


class ThreadSafeReader(WordNetCorpusReader):  # type: ignore[misc]  # nltk has no types
    """NLTK's reader under a lock, because threads share its open files and their positions.

    Lemmas and synsets look up others through their reader, and so take the lock too.
    """

    def __init__(self, root: object) -> None:
        self._lock = RLock()
        super().__init__(root, omw_reader=False)  # None would warn that there is English only

    def open(self, file: str) -> Any:  # Any: one of NLTK's streams
        """Open a file of WordNet; `lexnames` is built here."""
        return io.StringIO(lexnames()) if file == "lexnames" else super().open(file)

    def map_wn(self, version: str = "wordnet") -> None:
        """Skip the map to other WordNets, which only other languages need and Debian leaves out."""

    def synset_from_pos_and_offset(self, pos: str, offset: int) -> Any:  # Any: a Synset or None
        """Read a synset, one thread at a time."""
        with self._lock:
            return super().synset_from_pos_and_offset(pos, offset)

    def lemma_count(self, lemma: Any) -> int:  # Any: a Lemma
        """Read how often a lemma was counted, one thread at a time."""
        with self._lock:
            return int(super().lemma_count(lemma))


def lexnames() -> str:
    """Return the file `lexnames`: number, name and part of speech of each lexicographer file."""
    files = [(name, pos) for pos, names in LEXNAMES.items() for name in names.split()]
    files.append((LAST_LEXNAME, 3))
    return "".join(f"{n:02}\t{name}\t{pos}\n" for n, (name, pos) in enumerate(files))


def missing() -> str:
    """Return that WordNet is missing and how to get it, "" where it is present."""
    if _nltk_data() or _debian_has_all():
        return ""
    return (
        "WordNet is not on this machine; install it with `apt-get install wordnet-base` "
        "or `python -m nltk.downloader wordnet`."
    )


@cache
def reader() -> WordNetCorpusReader:
    """Return WordNet's reader, opened at the first call. Raises MissingWordNet."""
    if root := _nltk_data():
        return ThreadSafeReader(root)
    if not _debian_has_all():
        raise MissingWordNet(missing())
    nltk.data.path.append(str(DEBIAN_FOLDER))  # NLTK opens nothing that lies outside its path
    return ThreadSafeReader(nltk.data.FileSystemPathPointer(str(DEBIAN_FOLDER)))


def senses(word: str, pos: Pos) -> list[Any]:  # Any: Synset
    """Return all senses of a word's base forms, each form's most frequent first.

    "saw" as a verb has the senses of saw, then those of see. Raises MissingWordNet.
    """
    return list(reader().synsets(word, pos))


def own_senses(lemma: str, pos: Pos) -> list[Any]:  # Any: Synset
    """Return the senses that name the lemma itself: those of physics, not those of physic.

    Returns the senses of its base forms where WordNet does not have the lemma. Raises
    MissingWordNet.
    """
    synsets = senses(lemma, pos)
    named = [sense for sense in synsets if lemma in map(str.lower, sense.lemma_names())]
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
    for name in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return nltk.data.find(name)
        except LookupError:
            continue
    return None


def _debian_has_all() -> bool:
    return all((DEBIAN_FOLDER / name).is_file() for name in READER_FILES)
