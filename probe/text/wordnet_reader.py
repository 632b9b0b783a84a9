"""NLTK's reader of WordNet, safe between threads, with the list of files that Debian leaves out."""

import io
from threading import RLock
from typing import Any

from nltk.corpus.reader.wordnet import WordNetCorpusReader

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
