"""Lines of words with Penn Treebank tags, and corrections of the tags that MASC has."""

import zlib

from probe.text.inflection import parts_of_speech

TAGS_TEXT = """CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM
TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB . , : `` '' ( ) $ #"""
TAGS = TAGS_TEXT.split()
PUNCTUATION_TAGS = {
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
"""Tokens that have the same tag in every context."""
TAG_CORRECTIONS = {
    "...": ":",
    "-": ":",
    '"': "''",
    "'": "''",
    "UH`": "UH",
    "PP": "PRP",
    "VBG|NN": "VBG",
}
"""Tags of MASC that are not the Penn Treebank's, and the tags they stand for."""
NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP"})

TaggedLine = tuple[list[str], list[str]]
"""The words of a line and their tags."""


def read_line(line: str) -> TaggedLine:
    """Read `word_TAG word_TAG ...`; return no words where the line has an unknown tag.

    Double quotes open and close by turns, other marks get their tag from `PUNCTUATION_TAGS`, a lone
    apostrophe that is no possessive closes a quotation, "i" is a pronoun, not a name, and after a
    noun a word in -ed that is a verb only is no adjective ("she nodded").
    """
    words: list[str] = []
    tags: list[str] = []
    for item in line.replace("’", "'").split():
        word, _, tag = item.rpartition("_")
        if word == '"':
            word = "``" if words.count("``") == words.count("''") else "''"
        previous = tags[-1] if tags else ""
        tag = TAG_CORRECTIONS.get(tag, tag)
        tags.append(PUNCTUATION_TAGS.get(word) or _corrected_tag(word, tag, previous))
        words.append(word)
    return (words, tags) if all(words) and set(tags) <= set(TAGS) else ([], [])


def _corrected_tag(word: str, tag: str, previous: str) -> str:
    """Return the tag of a word that is no mark, given the tag of the word before it."""
    if word == "'" and tag != "POS":
        return "''"
    if (word, tag) == ("i", "NNP"):
        return "PRP"
    past_tense = (
        tag == "JJ"
        and previous in NOUN_TAGS
        and word.endswith("ed")
        and parts_of_speech(word) == "VERB<"
    )
    return "VBD" if past_tense else tag


def held_out(line: str) -> bool:
    """Whether a line is in the tested tenth: its CRC-32 divides by 10, so equal lines agree."""
    return zlib.crc32(line.encode()) % 10 == 0
