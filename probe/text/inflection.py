"""Lemmas of inflected words, and inflected forms of lemmas, from lemminflect's dictionaries.

lemminflect's guesses at words outside its dictionaries are not used: a form like "easilier" would
show a model that a machine wrote the text.
"""

from functools import lru_cache

from lemminflect import getAllLemmas, getInflection, getLemma  # type: ignore[import-untyped]  # it has no types

from probe.text.wordnet import Pos

UPOS: dict[Pos, str] = {"n": "NOUN", "v": "VERB", "a": "ADJ", "r": "ADV"}
"""The universal part-of-speech tag of each of WordNet's parts of speech."""
DEGREE = {"JJR": "more", "RBR": "more", "JJS": "most", "RBS": "most"}
"""The adverb that forms a comparative or superlative where no inflected form is known."""
QUANTIFIERS = frozenset({"more", "most", "less", "least"})
"""Forms of much and little that are lemmas in WordNet, each with its antonym."""
PREPOSITIONS = frozenset({"of", "in", "to", "for", "at", "by", "on", "with", "from"})
BASE_TAGS = frozenset({"VB", "VBP", "NN", "JJ", "RB"})
"""Tags of words that are written as their lemma."""
BE_AGREEMENT_TAGS = frozenset({"VBP", "VBD"})
"""Tags for which the form of "be" depends on the subject."""


@lru_cache(20_000)
def lemmas(word: str, tag: str, pos: Pos) -> tuple[str, ...]:
    """Return the lemmas whose form `tag` is the word: saw as VBD is see, not saw.

    Returns the word itself, in lower case, where no lemma is known.
    """
    lowercase = word.lower()
    if lowercase in QUANTIFIERS:
        return (lowercase,)
    candidates = getLemma(lowercase, UPOS[pos], lemmatize_oov=False)
    matching = tuple(lemma for lemma in candidates if lowercase in _forms(lemma, tag))
    return matching or candidates or (lowercase,)


@lru_cache(100_000)
def parts_of_speech(word: str) -> str:
    """Return what a word can be, as "NOUN VERB<", where < marks forms that are not the lemma.

    Returns "" where the dictionary does not have the word.
    """
    lowercase = word.lower()
    by_upos = getAllLemmas(lowercase)
    return " ".join(upos if lowercase in by_upos[upos] else f"{upos}<" for upos in sorted(by_upos))


def inflect(lemma: str, tag: str) -> str:
    """Return the form of a lemma of one or more words for a Penn tag, "" where it is not known.

    Of several words a verb's first is inflected ("gave up"), and a noun's last or the one before
    its preposition ("men of letters").
    """
    words = lemma.split(" ")
    if words[0] == "be" and tag in BE_AGREEMENT_TAGS:
        return ""
    if tag in BASE_TAGS:
        return lemma
    if tag in DEGREE:
        return next(iter(_forms(lemma, tag)), f"{DEGREE[tag]} {lemma}")
    before = (at - 1 for at, word in enumerate(words) if at and word in PREPOSITIONS)
    head = 0 if tag.startswith("VB") else next(before, len(words) - 1)
    forms = _forms(words[head], tag)
    return " ".join((*words[:head], forms[0], *words[head + 1 :])) if forms else ""


@lru_cache(20_000)
def _forms(lemma: str, tag: str) -> tuple[str, ...]:
    return tuple(getInflection(lemma, tag, inflect_oov=False))
