"""The lemma behind an inflected word, and a lemma put into the form another word had.

By lemminflect's dictionaries. What they do not know is not guessed at: its guesses ("easilier")
would be marks of a machine at work that no model should be probed with.
"""

from functools import lru_cache

from lemminflect import getAllLemmas, getInflection, getLemma  # type: ignore[import-untyped]  # it has no types

from probe.text.wordnet import Pos

UPOS: dict[Pos, str] = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}
DEGREE = {"JJR": "more", "RBR": "more", "JJS": "most", "RBS": "most"}
OWN = frozenset({"more", "most", "less", "least"})
"""Forms of much and little that WordNet has as words of their own, each with its antonym."""
PREPOSITIONS = frozenset({"of", "in", "to", "for", "at", "by", "on", "with", "from"})
BASE = frozenset({"VB", "VBP", "NN", "JJ", "RB"})
BY_PERSON = frozenset({"VBP", "VBD"})  # forms of "be" that depend on the subject


def lemmas(word: str, tag: str, pos: Pos) -> tuple[str, ...]:
    """Return the lemmas that have a word as their form `tag`: saw as VBD is see, not saw.

    The word itself, in lower case, where none is known.
    """
    low = word.lower()
    if low in OWN:
        return (low,)
    known = getLemma(low, UPOS[pos], lemmatize_oov=False)
    return tuple(lemma for lemma in known if low in _forms(lemma, tag)) or known or (low,)


@lru_cache(100_000)
def kinds(word: str) -> str:
    """Name what a word can be, as "NOUN VERB<", where < marks forms that are not the lemma.

    "" where the dictionary lacks it.
    """
    low = word.lower()
    known = getAllLemmas(low)
    return " ".join(kind if low in known[kind] else f"{kind}<" for kind in sorted(known))


def inflect(lemma: str, tag: str) -> str:
    """Put a lemma of one or more words into the form of a Penn tag, "" where that is not known.

    Of several words the first of a verb is put into it ("gave up"), and the last of a noun or
    the one before its preposition ("men of letters").
    """
    words = lemma.split(" ")
    if words[0] == "be" and tag in BY_PERSON:
        return ""
    if tag in BASE:
        return lemma
    if tag in DEGREE:
        return next(iter(_forms(lemma, tag)), f"{DEGREE[tag]} {lemma}")
    at = 0 if tag.startswith("VB") else _head(words)
    forms = _forms(words[at], tag)
    return " ".join((*words[:at], forms[0], *words[at + 1 :])) if forms else ""


def _head(words: list[str]) -> int:
    before = (at - 1 for at, word in enumerate(words) if at and word in PREPOSITIONS)
    return next(before, len(words) - 1)


def _forms(lemma: str, tag: str) -> tuple[str, ...]:
    return tuple(getInflection(lemma, tag, inflect_oov=False))
