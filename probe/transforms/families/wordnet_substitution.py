"""Put synonyms or antonyms for the verbs, nouns, adverbs or adjectives of a text.

As fritz does, each by one of the lemmas that WordNet gives for any of its senses; tags are our
tagger's, where its code read those of MNLI's parses. `Options.substitution` says which words
are left alone.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal

from probe.text.inflection import DEGREE, inflect, lemmas
from probe.text.tagger import tag
from probe.text.tokens import spans, substitute
from probe.text.wordnet import Pos, Relation, own_senses, reader, related, senses
from probe.transforms.options import Options

Kind = Literal["verb", "noun", "adverb", "adjective"]
KINDS: dict[Kind, tuple[str, Pos]] = {
    "verb": ("VB", "v"),
    "noun": ("NN", "n"),
    "adverb": ("RB", "r"),
    "adjective": ("JJ", "a"),
}
"""The Penn tags of a kind begin so; WordNet's part of speech."""
BE = frozenset({"be", "am", "is", "are", "was", "were", "been", "being"})
CONTRACTED = frozenset({"'m", "'re", "'s", "'ve", "'d", "'ll"})
NOT = frozenset({"not", "n't"})
ADVERBS = frozenset({"RB"})
PRONOUNS = ADVERBS | {"PRP", "EX"}
SUBJECT = PRONOUNS | {"DT", "PRP$", "JJ", "NN", "NNS", "NNP", "NNPS", "POS", "CD"}
ASKING = frozenset({"WRB", "WP", "WDT", "WP$", ",", "``"})
MARKS = frozenset({".", ",", ":", "''", ")"})
DO = frozenset({"do", "does", "did"})
HAVE = frozenset({"have", "has", "had", "having"})
GO_WITH = {
    **dict.fromkeys(DO, frozenset({"VB", "VBP"})),
    **dict.fromkeys(HAVE, frozenset({"VBN", "VBD", "TO"})),
}
"""Tags of the verbs that auxiliaries stand with."""
REACH = 20  # tokens looked at in search of that verb


@dataclass(frozen=True)
class Place:
    """A stretch of text and what may stand there instead."""

    start: int
    end: int
    choices: tuple[str, ...]


def reworded(
    text: str, kind: Kind, relation: Relation, rng: random.Random, options: Options
) -> str | None:
    """Replace each word of a kind, or some drawn by chance; None where no word changes."""
    found = places(text, kind, relation, options)
    if 0 < options.replacements < len(found):
        found = [found[i] for i in sorted(rng.sample(range(len(found)), options.replacements))]
    new = substitute(text, [(place.start, place.end, rng.choice(place.choices)) for place in found])
    return new if new != text else None


def places(text: str, kind: Kind, relation: Relation, options: Options) -> list[Place]:
    """Return the words of a kind that have synonyms or antonyms, in their order."""
    found = spans(text.replace("’", "'"))  # it splits contractions at the plain apostrophe only
    words = [span.word.rstrip(".") or span.word for span in found]  # "sat." before a sentence
    tags = tag(words)
    return [
        Place(span.start, span.start + len(words[i]), choices)
        for i, span in enumerate(found)
        if (choices := _offered(words, tags, i, kind, relation, options))
    ]


def _offered(
    words: Sequence[str],
    tags: Sequence[str],
    i: int,
    kind: Kind,
    relation: Relation,
    options: Options,
) -> tuple[str, ...]:
    """Return what may stand for word i, nothing where it is of another kind or left alone."""
    if not tags[i].startswith(KINDS[kind][0]):
        return ()
    if options.substitution == "safe" and left_alone(words, tags, i):
        return ()
    choices = _choices(words[i].lower(), tags[i], kind, relation, options)
    return tuple(_cased(words[i], choice) for choice in choices)


def left_alone(words: Sequence[str], tags: Sequence[str], i: int) -> bool:
    """Whether a word is a name, an auxiliary, a copula, a negation or a single letter."""
    low = words[i].lower()
    name = tags[i].startswith("NNP") or len(low) == 1
    return name or low in BE | CONTRACTED | NOT or _auxiliary(words, tags, i)


def _auxiliary(words: Sequence[str], tags: Sequence[str], i: int) -> bool:
    """Whether a form of have or do goes with a verb: "did he go", "he has", "she has to"."""
    low = words[i].lower()
    if low not in GO_WITH:
        return False
    if NOT.intersection(map(str.lower, words[i + 1 : i + 2])):
        return True
    asks = i == 0 or tags[i - 1] in ASKING
    verb = _next(tags, i, SUBJECT if asks or low in DO else ADVERBS)
    end = _next(tags, i, PRONOUNS if asks else ADVERBS)
    return verb in GO_WITH[low] or end in MARKS


def _next(tags: Sequence[str], i: int, passed: frozenset[str]) -> str:
    """Return the first tag behind i that is not passed over; a mark at the end."""
    return next((tag for tag in islice(tags, i + 1, i + REACH) if tag not in passed), ".")


@lru_cache(20_000)
def _choices(
    word: str, tag: str, kind: Kind, relation: Relation, options: Options
) -> tuple[str, ...]:
    """Return what may stand for a word in lower case; as in the code, or never the word itself."""
    pos = KINDS[kind][1]
    most = 1 if options.senses == "first" else None
    if options.substitution == "fritz_code":
        names = related(senses(word, pos)[:most], relation)
        return tuple((options.inflect and inflect(name, tag)) or name for name in names)
    own = lemmas(word, tag, pos)
    found = [name for lemma in own for name in related(own_senses(lemma, pos)[:most], relation)]
    itself = {word, *own, reader().morphy(word, pos)}
    names = [name for name in dict.fromkeys(found) if name.lower() not in itself]
    if options.inflect and not (tag in DEGREE and word in own):
        names = [inflect(name, tag) for name in names]
    return tuple(dict.fromkeys(name for name in names if name.lower() not in ("", word)))


def _cased(old: str, new: str) -> str:
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
