"""A thing for another of its kind: what may stand for a common noun where no surer rule fires.

Jia and Liang's rule for common nouns, the nearest word by vectors, is in none of their released
sets; it yields synonyms, with which a statement would answer the question. WordNet's sister words,
the other kinds of what a word is a kind of, exclude one another.
"""

from collections.abc import Sequence

from probe.addsent.neighbours import nearest, shares_stem
from probe.text.inflection import inflect, lemmas
from probe.text.wordnet import own_senses

TANGIBLE = (
    "noun.animal",
    "noun.artifact",
    "noun.body",
    "noun.food",
    "noun.person",
    "noun.plant",
    "noun.time",
)
"""WordNet's files of nouns whose kinds exclude one another; an act is often of several kinds."""
BEFORE = ("DT", "JJ", "JJR", "JJS", "PRP$", "NN", "CD", "WDT", "WP", "POS", "IN")
"""Tags of the word before a noun; behind others what is tagged as one is often a verb."""


def sisters(word: str, tag: str) -> list[str]:
    """Return words of the same kind as a noun, in its form, the nearest ones first.

    Raises MissingWordNet.
    """
    base = next(iter(lemmas(word.lower(), tag, "n")), word.lower())
    near = nearest(base, _of_its_kind(base))
    return [inflect(other, tag) or other for other in near if not shares_stem(other, base)]


def is_noun(tags: Sequence[str], at: int) -> bool:
    """Whether a token is tagged as a common noun and stands where one can."""
    return tags[at] in ("NN", "NNS") and (at == 0 or tags[at - 1] in BEFORE)


def _of_its_kind(noun: str) -> set[str]:
    """Return the sister words of a noun's first sense that name none of its other senses."""
    senses = own_senses(noun, "n")
    first = senses[0] if senses else None
    if first is None or first.lexname() not in TANGIBLE:
        return set()
    same = {
        name.lower()
        for sense in senses
        for near in (sense, *sense.hypernyms(), *sense.hyponyms())
        for name in near.lemma_names()
    }
    kinds = (other for kind in first.hypernyms() for other in kind.hyponyms() if other != first)
    return {name for other in kinds for name in other.lemma_names() if name.islower()} - same
