"""Lines of words with Penn Treebank tags, as MASC has them and as they are meant."""

import zlib

from probe.text.inflection import kinds

NAMES = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM TO
UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB . , : `` '' ( ) $ #"""
TAGS = NAMES.split()
MARKS = {
    **dict.fromkeys(".?!", "."),
    **dict.fromkeys([":", ";", "-", "--", "...", "…", "‒", "–", "—", "―"], ":"),
    **dict.fromkeys(["``", "`", "“", "‘", "«"], "``"),
    **dict.fromkeys(["''", "”", "»"], "''"),
    **dict.fromkeys("([{<", "("),
    **dict.fromkeys(")]}>", ")"),
    **dict.fromkeys("$£€", "$"),
    **dict.fromkeys("*+=/|~^_@•\\", "SYM"),
    **{",": ",", "#": "#", "&": "CC", "%": "NN"},
}
"""Tokens that have one tag whatever stands around them."""
MEANT = {"...": ":", "-": ":", '"': "''", "'": "''", "UH`": "UH", "PP": "PRP", "VBG|NN": "VBG"}
"""Tags of MASC that are not the Penn Treebank's, and what they stand for."""
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP"})

Tagged = tuple[list[str], list[str]]
"""The words of a line and their tags."""


def read_line(line: str) -> Tagged:
    """Read `word_TAG word_TAG ...`; no words where the line has a tag nobody can read.

    Double quotes open and close by turns, other marks get their tag from `MARKS`, a lone
    apostrophe that is no possessive closes a quotation, "i" is a pronoun, not a name, and after a
    noun a word in -ed that is a verb only is no adjective ("she nodded").
    """
    words: list[str] = []
    found: list[str] = []
    for item in line.replace("’", "'").split():
        word, _, label = item.rpartition("_")
        if word == '"':
            word = "``" if words.count("``") == words.count("''") else "''"
        before = found[-1] if found else ""
        found.append(MARKS.get(word) or _meant(word, MEANT.get(label, label), before))
        words.append(word)
    return (words, found) if all(words) and set(found) <= set(TAGS) else ([], [])


def _meant(word: str, label: str, before: str) -> str:
    if word == "'" and label != "POS":
        return "''"
    if (word, label) == ("i", "NNP"):
        return "PRP"
    nodded = label == "JJ" and before in NOUNS and word.endswith("ed") and kinds(word) == "VERB<"
    return "VBD" if nodded else label


def held_out(line: str) -> bool:
    """Whether a line is of the tenth that tests: its CRC-32 ends in 0, so equal lines agree."""
    return zlib.crc32(line.encode()) % 10 == 0
