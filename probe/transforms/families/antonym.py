"""A sentence against itself with one word turned into its antonym (Naik et al. 2018).

Lesk's algorithm picks the sense of each word from its sentence; every antonym of the sense gives a
pair, a contradiction: the premise with the altered premise as the hypothesis, and the altered
hypothesis as the premise with the original hypothesis.

The paper speaks of nouns and adjectives. Its code (`antonym="naik_code"`) takes senses that WordNet
files under nouns and satellite adjectives only, which leaves out "hot" and "cold". Words are
replaced where they stand, the code replaces the first equal substring. The antonym is
the dictionary's form: "boys" becomes "girl", as in the code.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from probe.first_import import first_import
from probe.stopping import check_stop
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import CONTRADICTION, NLI, Pair
from probe.text.wordnet import reader
from probe.text.words import spans, substitute
from probe.transforms.options import Antonym
from probe.transforms.registry import Tools, transform

MAX_PAIRS = 32  # that one pair gives
PARTS_OF_SPEECH: Mapping[Antonym, frozenset[str]] = {
    "paper": frozenset({"n", "a", "s"}),
    "naik_code": frozenset({"n", "s"}),
}
BLACKLIST_TEXT = """
on off in out up down over under back here there yes no
all some most other even just like still kind
left right day days start starts end ends piano
"""
BLACKLIST = frozenset(BLACKLIST_TEXT.split())
"""Words whose antonym seldom contradicts, found by trying WordNet's on our own sentences.

Prepositions and adverbs that WordNet also lists as adjectives ("just", "unjust"), quantities
("all", "some"), and words that mostly stand in another sense than the one with the antonym.
The code has a list of 25 of its own.
"""
SPURIOUS = "civilian"  # the opposite of a serviceman, one of WordNet's senses of "man"


@transform(
    "antonym",
    "Contradict by an antonym",
    "Sets a sentence against itself with one word turned into its antonym.",
    family="stress",
    rule=COMPUTED,
    fields=NLI.fields,
    source="Naik et al. 2018, section 3",
    applies="a noun or adjective with an antonym",
    needs=("wordnet",),
    options=("antonym",),
    language="English",
)
def antonym(pair: Pair, tools: Tools) -> tuple[Pair, ...] | None:
    """Make a pair for each antonym, those of the premise first, at most 32."""
    pairs = _distinct(_pairs(pair, PARTS_OF_SPEECH[tools.options.antonym]))
    return tuple(islice(pairs, MAX_PAIRS)) or None


def _pairs(pair: Pair, allowed_pos: frozenset[str]) -> Iterator[Pair]:
    for text in _altered(pair.premise, allowed_pos):
        yield replace(pair, hypothesis=text, gold=CONTRADICTION)
    for text in _altered(pair.hypothesis, allowed_pos):
        yield replace(pair, premise=text, gold=CONTRADICTION)


def _distinct(pairs: Iterator[Pair]) -> Iterator[Pair]:
    seen: set[Pair] = set()
    for pair in pairs:
        if pair.premise != pair.hypothesis and pair not in seen:
            seen.add(pair)
            yield pair


def _altered(text: str, allowed_pos: frozenset[str]) -> Iterator[str]:
    tokens = spans(text)
    context = {token.word.lower() for token in tokens}
    antonyms_of: dict[str, list[str]] = {}
    for token in tokens:
        check_stop()
        word = token.word.lower()
        if word not in antonyms_of:
            antonyms_of[word] = antonyms(word, context, allowed_pos)
        for name in antonyms_of[word]:
            new = name[0].upper() + name[1:] if token.word[0].isupper() else name
            yield substitute(text, [(token.start, token.end, new)])


def antonyms(word: str, context: set[str], allowed_pos: frozenset[str]) -> list[str]:
    """Return the antonyms of the sense that Lesk's algorithm gives a lower-cased word.

    None of them for a sense of another part of speech, and none of several words.
    """
    with first_import:
        from nltk.wsd import lesk  # slow, and no page waits for it

    if word in BLACKLIST or not (synsets := reader().synsets(word)):
        return []
    sense = lesk(context, word, synsets=synsets)
    if sense.pos() not in allowed_pos:
        return []
    names = [other.name() for lemma in sense.lemmas() for other in lemma.antonyms()]
    return [name for name in dict.fromkeys(names) if "_" not in name and name != SPURIOUS]
