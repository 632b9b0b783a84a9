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

DEBIAN = Path("/usr/share/wordnet")
READ = tuple(
    name.format(part)
    for part in ("noun", "verb", "adj", "adv")
    for name in ("index.{}", "data.{}", "{}.exc")
)
"""The files NLTK's reader opens, `lexnames` aside, which Debian leaves out."""
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
LAST = "adj.ppl"  # the one lexicographer file that was numbered after all others
Pos = Literal["n", "v", "a", "r"]
Relation = Literal["synonym", "antonym"]


class Reader(WordNetCorpusReader):  # type: ignore[misc]  # nltk has no types
    """NLTK's reader where threads take turns: they share its open files and where these stand.

    Lemmas and synsets look up others through their reader, and so take turns too.
    """

    def __init__(self, root: object) -> None:
        self._turn = RLock()
        super().__init__(root, omw_reader=False)  # None would warn that there is English only

    def open(self, file: str) -> Any:  # Any: one of NLTK's streams
        """Open a file of WordNet; the list of lexicographer files is ours."""
        return io.StringIO(lexnames()) if file == "lexnames" else super().open(file)

    def map_wn(self, version: str = "wordnet") -> None:
        """Leave out the map to other WordNets, which other languages need and Debian has not."""

    def synset_from_pos_and_offset(self, pos: str, offset: int) -> Any:  # Any: a Synset or None
        """Read a synset, one thread at a time."""
        with self._turn:
            return super().synset_from_pos_and_offset(pos, offset)

    def lemma_count(self, lemma: Any) -> int:  # Any: a Lemma
        """Read how often a lemma was counted, one thread at a time."""
        with self._turn:
            return int(super().lemma_count(lemma))


def lexnames() -> str:
    """Return the file `lexnames`: number, name and part of speech of each lexicographer file."""
    named = [(name, pos) for pos, names in LEXNAMES.items() for name in names.split()]
    return "".join(f"{n:02}\t{name}\t{pos}\n" for n, (name, pos) in enumerate([*named, (LAST, 3)]))


def missing() -> str:
    """Say that WordNet is missing and how to get it, "" where it is there."""
    if _nltk_data() or _debian_has_all():
        return ""
    return (
        "WordNet is not on this machine; install it with `apt-get install wordnet-base` "
        "or `python -m nltk.downloader wordnet`."
    )


@cache
def reader() -> WordNetCorpusReader:
    """Return WordNet, read at the first call. Raises MissingWordNet."""
    if root := _nltk_data():
        return Reader(root)
    if not _debian_has_all():
        raise MissingWordNet(missing())
    nltk.data.path.append(str(DEBIAN))  # NLTK opens nothing that lies outside its path
    return Reader(nltk.data.FileSystemPathPointer(str(DEBIAN)))


def senses(word: str, pos: Pos) -> list[Any]:  # Any: Synset
    """Return all senses of a word's base forms, each form's most frequent first.

    "saw" as a verb has the senses of saw, then those of see. Raises MissingWordNet.
    """
    return list(reader().synsets(word, pos))


def own_senses(lemma: str, pos: Pos) -> list[Any]:  # Any: Synset
    """Return the senses that a lemma itself has: physics is no physic.

    Where WordNet lacks it, those of its base forms. Raises MissingWordNet.
    """
    found = senses(lemma, pos)
    own = [sense for sense in found if lemma in map(str.lower, sense.lemma_names())]
    return own or found


def related(found: Sequence[Any], relation: Relation) -> list[str]:  # Any: Synset
    """Return the names of all lemmas of some senses, or of the antonyms of these lemmas.

    In WordNet's order, and as often as they come up.
    """
    lemmas = [lemma for sense in found for lemma in sense.lemmas()]
    if relation == "antonym":
        lemmas = [opposite for lemma in lemmas for opposite in lemma.antonyms()]
    return [lemma.name().replace("_", " ") for lemma in lemmas]


def _nltk_data() -> object:
    """Find NLTK's own WordNet, as a folder or as the archive it came in."""
    for name in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return nltk.data.find(name)
        except LookupError:
            continue
    return None


def _debian_has_all() -> bool:
    return all((DEBIAN / name).is_file() for name in READ)
