"""Kinds of questions: by the word that asks, and by what kind of thing the right answer is.

What the recogniser of named entities would say of an answer comes from `probe.addsent.names`.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from probe.addsent.names import Kind, kinds
from probe.text import tagger, wordnet
from probe.text.tagger import tag
from probe.text.tokens import tokenise

OTHER = "other"
QUESTION_WORDS: Mapping[str, str] = {
    "who": "who",
    "whom": "who",
    "whose": "who",
    "when": "when",
    "where": "where",
    "what": "what",
    "which": "which",
    "why": "why",
    "how": "how",
}
"""What the words that ask count as."""
HOW_MANY = "how many/much"
AMOUNTS = ("many", "much")
NUMBER, PERSON, PLACE, NAME = "number or date", "person", "place", "organisation or other name"
ELSE = "anything else"
ANSWER_TYPES: Mapping[Kind, str] = {
    "number": NUMBER,
    "date": NUMBER,
    "person": PERSON,
    "location": PLACE,
    "organization": NAME,
    "misc": NAME,
}
UNKNOWN_NAMES: Mapping[str, str] = {"who": PERSON, "where": PLACE}
"""What a name of which nothing is known counts as, by the question's word."""
FINITE_TAGS = frozenset({"VBD", "VBZ", "VBP"})
"""Of verbs that make an answer a clause."""
WORD = re.compile("[a-z]+")


def question_word(question: str) -> str:
    """Return the first word of a question that asks, "other" where none does."""
    words = WORD.findall(question.lower())
    for word, following in pairwise([*words, ""]):
        if word == "how" and following in AMOUNTS:
            return HOW_MANY
        if word in QUESTION_WORDS:
            return QUESTION_WORDS[word]
    return OTHER


def answer_type(question: str, references: Sequence[str]) -> str:
    """Return what kind of thing the shortest reference answer is: of its first word with a kind.

    A name of which nothing is known is a person where the question asks who, a place where it asks
    where. A clause is "anything else". Raises MissingWordNet.
    """
    words = tokenise(min(references, key=len, default=""))
    tags = tag(words)
    if not FINITE_TAGS.isdisjoint(tags):
        return ELSE
    for kind in kinds(words, tags):
        if kind:
            return ANSWER_TYPES[kind]
    if any(each.startswith("NNP") for each in tags):
        return UNKNOWN_NAMES.get(question_word(question), NAME)
    return ELSE


def missing() -> str:
    """Return what `answer_type` lacks here and how to get it, "" for nothing."""
    return " ".join(filter(None, (wordnet.missing(), tagger.missing())))
