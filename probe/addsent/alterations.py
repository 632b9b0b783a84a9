"""Alter the words of a question, so that a sentence about it is about something else.

Jia and Liang's high-confidence rules, every alterable word at once: special pairs, the antonym in a
word's first WordNet sense, the nearest number or name by word vectors. What their GloVe vectors and
CoreNLP's names do is done by our word vectors and `probe.addsent.fake_answers`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from probe.addsent.fake_answers import (
    MONTHS,
    NUMBER,
    NUMBER_WORDS,
    Kind,
    is_name,
    kind_of_name,
    listed,
)
from probe.first_import import first_import
from probe.settings import ASSETS
from probe.terms import capitalised
from probe.text.inflection import inflect, lemmas, parts_of_speech
from probe.text.wordnet import Pos, own_senses, related

VECTORS = ASSETS / "vectors"
NEIGHBOURS = 100
"""How many words are looked at."""


@cache
def _vectors() -> tuple[dict[str, int], NDArray[np.float16]]:
    words = (VECTORS / "words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return (
        {word: row for row, word in enumerate(words)},
        load_file(VECTORS / "words.safetensors")["vectors"],  # (words, size)
    )


def nearest(word: str, others: Collection[str]) -> list[str]:
    """Return at most `NEIGHBOURS` of the others by Euclidean distance of vectors, nearest first."""
    rows, vectors = _vectors()
    if word not in rows:
        return []
    known = sorted(other for other in others if other in rows and other != word)
    if not known:
        return []
    there = vectors[[rows[other] for other in known]].astype(np.float32)
    distances = np.linalg.norm(there - vectors[rows[word]].astype(np.float32), axis=1)
    return [known[at] for at in np.argsort(distances, kind="stable")[:NEIGHBOURS]]


def shares_stem(first: str, second: str) -> bool:
    """Whether the Lancaster stem of one of two words begins that of the other."""
    one, other = _stem(first.lower()), _stem(second.lower())
    return one.startswith(other) or other.startswith(one)


@cache
def _stem(word: str) -> str:
    with first_import:
        from nltk.stem.lancaster import LancasterStemmer
    return str(LancasterStemmer().stem(word))


TANGIBLE = frozenset(
    f"noun.{kind}" for kind in ("animal", "artifact", "body", "food", "person", "plant", "time")
)
"""WordNet's files of nouns whose kinds exclude one another; an act is often of several kinds."""
BEFORE = ("DT", "JJ", "JJR", "JJS", "PRP$", "NN", "CD", "WDT", "WP", "POS", "IN")
"""Tags of the word before a noun; behind others what is tagged as one is often a verb."""


def sisters(word: str, tag: str) -> list[str]:
    """Return words of the same kind as a noun, in its form, the nearest ones first.

    They are the sister words of its first sense that name none of its others. Raises
    MissingWordNet.
    """
    base = next(iter(lemmas(word.lower(), tag, "n")), word.lower())
    senses = own_senses(base, "n")
    if not senses or senses[0].lexname() not in TANGIBLE:
        return []
    same = {
        name.lower()
        for sense in senses
        for near in (sense, *sense.hypernyms(), *sense.hyponyms())
        for name in near.lemma_names()
    }
    kinds = {other for kind in senses[0].hypernyms() for other in kind.hyponyms()} - {senses[0]}
    names = {name for other in kinds for name in other.lemma_names() if name.islower()}
    near = nearest(base, names - same)
    return [inflect(other, tag) or other for other in near if not shares_stem(other, base)]


PAIRS: Mapping[str, str] = {
    **{"states": "kingdom", "us": "uk", "uk": "us", "u.s": "u.k", "u.s.": "u.k.", "u.k.": "u.s."},
    **{"largest": "smallest", "smallest": "largest", "highest": "lowest", "lowest": "highest"},
    **{"may": "april", "peyton": "trevor"},
}
DIRECTIONS = {"north": "south", "south": "north", "east": "west", "west": "east"}
"""Ours: names of places begin with them, and no list of names has another."""
KEPT = """many such few much other same general due long own old place type kind way name date day
time part united one war color colour president number amount term last first more most least good
back out off there then main"""
UNALTERED = frozenset(KEPT.split())
"""Words that stay, whatever the rules say."""
LAST_RESORT: Mapping[Kind, str] = {
    "person": "Jackson",
    "location": "Berlin",
    "organization": "Acme",
    "misc": "Neptune",
}
ABBREVIATION = "UNICEF"
PLURAL_NAME = "Daleks"
NAME_TAGS = ("NNP", "NNPS")
COMMON_TAGS = ("NN", "NNS", "JJ", "JJR", "JJS")


@dataclass(frozen=True)
class Word:
    """A word of a question, its tag, and its kind."""

    text: str
    tag: str
    kind: Kind


@dataclass(frozen=True)
class Alteration:
    """A word of a question, what stands in its place, and the name of the rule."""

    old: str
    new: str
    rule: str


Altered = tuple[list[str], list[Alteration]]
"""The words of a question, and what of them was altered."""


def alter(words: Sequence[str], tags: Sequence[str], kinds: Sequence[Kind]) -> Altered:
    """Alter each word of a question that a rule alters. Raises MissingWordNet."""
    taken = {word.lower() for word in words}
    altered, alterations = list(words), list[Alteration]()
    for at, (text, tag, kind) in enumerate(zip(words, tags, kinds, strict=True)):
        if found := alteration(Word(text, tag, kind), taken):
            altered[at] = found.new
            alterations.append(found)
            taken.add(found.new.lower())
    return altered, alterations


def sister_word(words: Sequence[str], tags: Sequence[str]) -> Altered:
    """Alter the first common noun that can be, where `alter` finds none. Raises MissingWordNet."""
    taken = {word.lower() for word in words} | UNALTERED
    for at, word in enumerate(words):
        is_noun = tags[at] in ("NN", "NNS") and (at == 0 or tags[at - 1] in BEFORE)
        if word.lower() not in UNALTERED and is_noun:
            for other in sisters(word, tags[at]):
                if other not in taken:
                    made = Alteration(word, _capitals_of(word, other), "another of its kind")
                    return [*words[:at], made.new, *words[at + 1 :]], [made]
    return list(words), []


def alteration(word: Word, taken: Collection[str] = ()) -> Alteration | None:
    """Return what the first rule that has a usable word makes of a word, None for nothing.

    No word that is `taken`, in lower case, is used: the question's own and those that were put in.
    """
    if word.text.lower() in UNALTERED or not word.text[:1].isalnum():
        return None
    for rule, candidates in RULES.items():
        for candidate in candidates(word):
            if candidate.lower() not in taken and candidate.lower() not in UNALTERED:
                return Alteration(word.text, _capitals_of(word.text, candidate), rule)
    return None


def _capitals_of(old: str, new: str) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return capitalised(new) if old[:1].isupper() else new


def _pair(word: Word) -> Iterator[str]:
    lower = word.text.lower()
    if lower in PAIRS and (lower not in ("may", "us") or word.text[:1].isupper()):
        yield PAIRS[lower]
    stem = lower.removesuffix("ern")
    if stem in DIRECTIONS:
        yield DIRECTIONS[stem] + lower[len(stem) :]


def _antonym(word: Word) -> Iterator[str]:
    """Yield the antonyms of one word in the first sense of a common noun or an adjective.

    They are in the word's form: "strongest" becomes "weakest".
    """
    pos: Pos | None = "n" if word.tag == "NN" else "a" if word.tag in ("JJ", "JJR", "JJS") else None
    if pos and not word.kind:
        for antonym in related(own_senses(word.text.lower(), pos)[:1], "antonym"):
            if " " not in antonym:
                yield inflect(antonym, word.tag) or antonym


def _number(word: Word) -> Iterator[str]:
    """Yield the nearest numbers: the next year, the number word that stands nearest."""
    if word.kind not in ("number", "date"):
        return
    lower = word.text.lower()
    if lower in MONTHS:
        yield MONTHS[MONTHS.index(lower) - 1]
    elif lower in NUMBER_WORDS:
        yield from nearest(lower, NUMBER_WORDS)
    elif found := NUMBER.match(word.text):
        digits = found[0].replace(",", "")
        value = float(digits)
        for other in (value + 1, value + 2):
            text = f"{other:,.0f}" if "," in found[0] else f"{other:g}"
            rest = word.text[found.end() :]
            if rest.lower() in ("st", "nd", "rd", "th"):  # the ending that the other asks for
                teen = text[-2:] in ("11", "12", "13")
                rest = {"1": "st", "2": "nd", "3": "rd"}.get("" if teen else text[-1], "th")
            yield text + rest


def _name(word: Word) -> Iterator[str]:
    """Yield names of the same kind, the nearest ones first where the vectors know the word."""
    if word.tag not in NAME_TAGS and not (word.kind in LAST_RESORT and word.text[:1].isupper()):
        return
    lower = word.text.lower()
    if not is_name(lower) and (alike := common_nouns().get(parts_of_speech(lower))):
        yield from (noun for noun in nearest(lower, alike) if not shares_stem(noun, lower))
    kind = kind_of_name([word.text]) or word.kind  # by itself, by the whole name, or by its form
    if kind not in LAST_RESORT:
        capitals = word.text.isupper() and len(word.text) > 1
        kind = "organization" if capitals else "person" if word.tag == "NNP" else "misc"
    others = single_words(kind)
    near = [others[name] for name in nearest(lower, others) if not shares_stem(name, lower)]
    names = sorted(others.values())
    first = crc32(lower.encode()) % len(names)
    yield from near or names[first:] + names[:first]


@cache
def common_nouns() -> Mapping[str, frozenset[str]]:
    """Return the words that have vectors and can be nouns, by what else each can be."""
    by_part: dict[str, set[str]] = {}
    for word in _vectors()[0]:
        if "NOUN" in parts_of_speech(word) and not is_name(word):
            by_part.setdefault(parts_of_speech(word), set()).add(word)
    return {part: frozenset(words) for part, words in by_part.items()}


@cache
def single_words(kind: Kind) -> Mapping[str, str]:
    """Return the listed names of one word of a kind by their lower case, none for other kinds."""
    return {name.lower(): name for name in listed(kind) if re.fullmatch(r"\w+", name)}


def _last_resort(word: Word) -> Iterator[str]:
    if word.tag == "NNPS":
        yield PLURAL_NAME
    if word.kind not in LAST_RESORT or word.tag not in (*NAME_TAGS, *COMMON_TAGS):
        return
    yield ABBREVIATION if word.text.isupper() and len(word.text) > 1 else LAST_RESORT[word.kind]


RULES: Mapping[str, Callable[[Word], Iterator[str]]] = {
    "special pair": _pair,
    "antonym": _antonym,
    "nearest number": _number,
    "name of the same kind": _name,
    "last resort": _last_resort,
}
"""In their order."""
