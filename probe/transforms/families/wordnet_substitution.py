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

from probe.stopping import check_stop
from probe.text.inflection import DEGREE, inflect, lemmas
from probe.text.tagger import tag
from probe.text.wordnet import Pos, Relation, own_senses, reader, related, senses
from probe.text.words import spans, substitute
from probe.transforms.options import Options

Kind = Literal["verb", "noun", "adverb", "adjective"]
WORD_CLASSES: dict[Kind, tuple[str, Pos]] = {
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
QUESTION_TAGS = frozenset({"WRB", "WP", "WDT", "WP$", ",", "``"})
MARKS = frozenset({".", ",", ":", "''", ")"})
DO = frozenset({"do", "does", "did"})
HAVE = frozenset({"have", "has", "had", "having"})
VERB_TAGS = {
    **dict.fromkeys(DO, frozenset({"VB", "VBP"})),
    **dict.fromkeys(HAVE, frozenset({"VBN", "VBD", "TO"})),
}
"""Tags of the verbs that follow each auxiliary."""
MAX_LOOKAHEAD = 20  # tokens searched for that verb


@dataclass(frozen=True)
class Replaceable:
    """A span of the text and the words that may replace it."""

    start: int
    end: int
    choices: tuple[str, ...]


def reworded(
    text: str, kind: Kind, relation: Relation, rng: random.Random, options: Options
) -> str | None:
    """Replace each word of a kind, or some drawn at random; None where no word changes."""
    words = replaceable_words(text, kind, relation, options)
    if 0 < options.replacements < len(words):
        words = [words[i] for i in sorted(rng.sample(range(len(words)), options.replacements))]
    new = substitute(text, [(word.start, word.end, rng.choice(word.choices)) for word in words])
    return new if new != text else None


def replaceable_words(
    text: str, kind: Kind, relation: Relation, options: Options
) -> list[Replaceable]:
    """Return the words of a kind that have synonyms or antonyms, in their order."""
    tokens = spans(text.replace("’", "'"))  # contractions are split at the plain apostrophe only
    words = [token.word.rstrip(".") or token.word for token in tokens]  # "sat." before a sentence
    tags = tag(words)
    return [
        Replaceable(token.start, token.start + len(words[i]), choices)
        for i, token in enumerate(tokens)
        if (choices := _replacements(words, tags, i, kind, relation, options))
    ]


def _replacements(
    words: Sequence[str],
    tags: Sequence[str],
    i: int,
    kind: Kind,
    relation: Relation,
    options: Options,
) -> tuple[str, ...]:
    """Return the replacements of word i, none where it is of another kind or left alone."""
    check_stop()
    if not tags[i].startswith(WORD_CLASSES[kind][0]):
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
    if low not in VERB_TAGS:
        return False
    if NOT.intersection(map(str.lower, words[i + 1 : i + 2])):
        return True
    in_question = i == 0 or tags[i - 1] in QUESTION_TAGS
    verb = _next_tag(tags, i, SUBJECT if in_question or low in DO else ADVERBS)
    end = _next_tag(tags, i, PRONOUNS if in_question else ADVERBS)
    return verb in VERB_TAGS[low] or end in MARKS


def _next_tag(tags: Sequence[str], i: int, skipped: frozenset[str]) -> str:
    """Return the first tag behind i that is not skipped, "." at the end."""
    return next((tag for tag in islice(tags, i + 1, i + MAX_LOOKAHEAD) if tag not in skipped), ".")


@lru_cache(20_000)
def _choices(
    word: str, tag: str, kind: Kind, relation: Relation, options: Options
) -> tuple[str, ...]:
    """Return the replacements of a lower-case word: as in the code, or never the word itself."""
    pos = WORD_CLASSES[kind][1]
    max_senses = 1 if options.senses == "first" else None
    if options.substitution == "fritz_code":
        names = related(senses(word, pos)[:max_senses], relation)
        return tuple((options.inflect and inflect(name, tag)) or name for name in names)
    word_lemmas = lemmas(word, tag, pos)
    related_names = [
        name
        for lemma in word_lemmas
        for name in related(own_senses(lemma, pos)[:max_senses], relation)
    ]
    same_word = {word, *word_lemmas, reader().morphy(word, pos)}
    names = [name for name in dict.fromkeys(related_names) if name.lower() not in same_word]
    if options.inflect and not (tag in DEGREE and word in word_lemmas):
        names = [inflect(name, tag) for name in names]
    return tuple(dict.fromkeys(name for name in names if name.lower() not in ("", word)))


def _cased(old: str, new: str) -> str:
    return new[:1].upper() + new[1:] if old[:1].isupper() else new
