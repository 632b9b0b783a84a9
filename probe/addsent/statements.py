"""Turn a question and an answer into a statement, by patterns over its tags.

Stands in for Jia and Liang's patterns over CoreNLP's parses. The first pattern that matches wins;
a question with a wh-phrase always has a statement, at the last with the answer in its place.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING

from probe.addsent.alterations import Alteration, alter, sister_word
from probe.addsent.fake_answers import FakeAnswer, fake_answer, kinds
from probe.first_import import first_import
from probe.tasks.reading import Question
from probe.terms import capitalised
from probe.text.inflection import inflect, lemmas, parts_of_speech
from probe.text.tagger import tag
from probe.text.words import tokenise

if TYPE_CHECKING:
    from nltk.tokenize.treebank import TreebankWordDetokenizer


WH = frozenset({"what", "which", "who", "whom", "whose", "when", "where", "why", "how"})
BE = frozenset({"is", "are", "was", "were", "be", "been"})
DO: Mapping[str, str] = {"did": "VBD", "does": "VBZ", "do": "VBP"}
"""The tense that a form of do gives to its verb."""
AUXILIARIES = "can could will would shall should may might must has have had"
MODALS = frozenset(AUXILIARIES.split())
QUANTITY = frozenset({"many", "much"})
DEGREE_TAGS = ("JJ", "RB")
NOUNS = ("NN", "NNS", "NNP", "NNPS")
IN_NOUN_PHRASE = (*NOUNS, "DT", "JJ", "JJR", "JJS", "CD", "POS", "PRP$", "VBG")
SUBJECT_ENDS = (*NOUNS, "PRP", "CD", "RB", "''", ")")
SUBJECT_STARTS = (*NOUNS, "DT", "PRP", "PRP$", "JJ", "JJS", "CD", "EX", "PDT")
PREDICATES = ("VBN", "VBD", "VBG", "VB", "JJ", "RP")
FINITE = ("VBD", "VBZ", "VBP")
BEFORE_NOUNS = """in on at of for to from by with about into under during after before as through
over"""
PREPOSITIONS = frozenset(BEFORE_NOUNS.split())
NAMING = frozenset({"called", "named", "known", "considered", "made", "used"})
STRANDED = ("IN", "TO", "RP")
KIND_NOUNS = frozenset({"type", "kind", "sort", "form", "types", "kinds", "sorts", "forms"})
BEFORE_ANSWER: Mapping[str, str] = {"when": "in", "where": "in", "why": "because of", "how": "by"}
"""What stands before the answer to a question of time, place, reason or manner."""


@dataclass(frozen=True)
class Asked:
    """A question in parts: a lead, a preposition, the wh-phrase, and what follows it.

    `lead` is all before the preposition and the wh-word `wh`; `noun` is what that asks for, such as
    "year" in "what year"; `tags` are those of `rest`.
    """

    lead: list[str]
    preposition: str
    wh: str
    noun: list[str]
    rest: list[str]
    tags: list[str]

    @property
    def begins(self) -> bool:
        """Whether the wh-phrase begins the question, or follows a comma."""
        return not self.lead or self.lead[-1] == ","

    @property
    def degree(self) -> bool:
        """Whether it is asked how long, old, far."""
        return self.wh == "how" and bool(self.noun) and self.noun[0].lower() not in QUANTITY

    @property
    def adverbial(self) -> bool:
        """Whether the answer says when, where, why, how, or stands behind a preposition."""
        return bool(self.preposition) or (self.wh in BEFORE_ANSWER and not self.noun)


def statement(words: Sequence[str], tags: Sequence[str], answer: str) -> tuple[str, str] | None:
    """Return a statement and the name of its pattern, None for a question without a wh-word."""
    asked = parts_of(words, tags)
    if asked is None:
        return None
    patterns = PATTERNS if asked.begins else {}
    found = ((pattern(asked, answer), name) for name, pattern in patterns.items())
    in_place = [*_placed(asked, answer), *asked.rest]
    body, name = next((each for each in found if each[0]), (in_place, IN_PLACE))
    text = _detokenizer().detokenize([*asked.lead, *(body or ())]).strip(" ,")
    return f"{capitalised(text)}.", name


def parts_of(words: Sequence[str], tags: Sequence[str]) -> Asked | None:
    """Take a question apart at its first wh-word, None where it has none."""
    kept = [at for at, word in enumerate(words) if word != "?"]
    words, tags = [words[at] for at in kept], [tags[at] for at in kept]
    at = next((at for at, word in enumerate(words) if word.lower() in WH), None)
    if at is None:
        return None
    before = words[at - 1].lower() if at else ""
    preposition, wh, end = before if before in PREPOSITIONS else "", words[at].lower(), at + 1
    if wh == "how":  # where the noun phrase behind it ends
        if words[end : end + 1] and words[end].lower() in QUANTITY:
            end = _noun_phrase_end(words, tags, end + 1)
        elif tags[end : end + 1] and tags[end] in DEGREE_TAGS:
            end += 1
    elif wh in ("what", "which", "whose"):
        end = _noun_phrase_end(words, tags, end)
    lead = words[: at - bool(preposition)]
    return Asked(lead, preposition, wh, words[at + 1 : end], words[end:], tags[end:])


def _noun_phrase_end(words: Sequence[str], tags: Sequence[str], start: int) -> int:
    end = start
    while end < len(words) and tags[end] in IN_NOUN_PHRASE and words[end].lower() not in BE:
        end += 1
    of_kind = end < len(words) and words[end] == "of" and words[end - 1].lower() in KIND_NOUNS
    if of_kind and end > start:
        return _noun_phrase_end(words, tags, end + 1)
    while end > start and tags[end - 1] not in NOUNS:
        end -= 1
    return end


def _named(asked: Asked, answer: str) -> list[str]:
    """Return the answer with the noun that was asked for: "the year of 1956", "42 lakes"."""
    noun = asked.noun
    if asked.degree or not noun:
        return [answer]
    if asked.wh == "how":
        return [answer, *noun[1:]]
    if asked.wh == "whose":
        return [f"{answer}'s", *noun]
    for at, word in enumerate(noun):
        if word.lower() in KIND_NOUNS and noun[at + 1 : at + 2] == ["of"]:
            return [answer, *noun[at + 2 :]]
    return ["the", *noun, "of", answer]


def _placed(asked: Asked, answer: str) -> list[str]:
    """Return the answer as it stands behind a verb: with its preposition, if it has one."""
    preposition = asked.preposition
    if not preposition and not asked.noun and asked.begins:
        preposition = BEFORE_ANSWER.get(asked.wh, "")
    return [*([preposition] if preposition else []), *_named(asked, answer)]


def _do(asked: Asked, answer: str) -> list[str] | None:
    """What did X discover -> X discovered ANSWER."""
    tense = DO.get(asked.rest[0].lower()) if asked.rest else None
    if tense is None:
        return None
    places = range(2, len(asked.rest))
    verbs = [at for at in places if asked.tags[at] in ("VB", "VBP") and asked.tags[at - 1] != "TO"]
    after_subject = [at for at in places if asked.tags[at - 1] in SUBJECT_ENDS]
    verbs += [at for at in after_subject if "VERB" in parts_of_speech(asked.rest[at]).split()]
    if not verbs:
        return None
    at = verbs[0]
    lemma = lemmas(asked.rest[at], "VB", "v")[0]
    verb = inflect(lemma, tense) or asked.rest[at]
    if lemma == "be":
        verb = {"VBD": "was", "VBZ": "is"}.get(tense, "are")
    return [*asked.rest[1:at], verb, *_with_answer(asked, at + 1, answer)]


def _with_answer(asked: Asked, start: int, answer: str) -> list[str]:
    """Put the answer behind a verb: at the end of what follows, or before its first preposition."""
    behind, tags, placed = asked.rest[start:], asked.tags[start:], _placed(asked, answer)
    if asked.adverbial or asked.degree or (tags and tags[-1] in STRANDED):
        return [*behind, *placed]
    at = next((place for place, tag in enumerate(tags) if tag in ("IN", "TO")), len(behind))
    return [*behind[:at], *placed, *behind[at:]]


def _auxiliary(asked: Asked, answer: str) -> list[str] | None:
    """When was X founded -> X was founded in ANSWER; what can X do -> X can do ANSWER."""
    if not asked.rest or asked.rest[0].lower() not in BE | MODALS:
        return None
    if len(asked.rest) > 1 and asked.tags[1] not in SUBJECT_STARTS:
        return None
    for at in range(2, len(asked.rest)):
        if _is_predicate(asked, at):
            auxiliary, *subject = asked.rest[:at]
            return [*subject, auxiliary, asked.rest[at], *_with_answer(asked, at + 1, answer)]
    return None


def _is_predicate(asked: Asked, at: int) -> bool:
    """Whether the subject ends before a word that the auxiliary belongs to.

    "The city founded by X" asked for with who or what is one noun phrase.
    """
    tags = asked.tags[at:]
    if tags[0] not in PREDICATES or asked.tags[at - 1] not in SUBJECT_ENDS:
        return False
    if tags[0] == "JJ" and tags[1:2] and tags[1] in (*NOUNS, "JJ"):
        return False
    of_auxiliary = asked.rest[0].lower() in MODALS or asked.rest[at].lower() in NAMING
    if of_auxiliary or asked.adverbial or asked.noun:
        return True
    return all(tag in STRANDED for tag in tags[1:3])


def _be(asked: Asked, answer: str) -> list[str] | None:
    """Who was the first Y -> The first Y was ANSWER."""
    if len(asked.rest) < 2 or asked.rest[0].lower() not in BE:
        return None
    if asked.tags[1] in (*FINITE, "VBN", "VBG", "IN", "JJ", "RB"):
        return None
    be, *rest = asked.rest
    end = len(rest)
    if asked.tags[-1] in STRANDED:  # Kibaki part of
        tags = asked.tags[1:]
        named = len(list(takewhile(lambda tag: tag in ("NNP", "NNPS", "PRP"), tags)))
        end = named if named and tags[named] not in (*STRANDED, "POS", "CC") else end
    return [*rest[:end], be, *rest[end:], *_placed(asked, answer)]


def _subject(asked: Asked, answer: str) -> list[str] | None:
    """Who discovered X -> ANSWER discovered X; how many people live in X -> 42 people live in X."""
    if not asked.rest or asked.adverbial or asked.degree:
        return None
    first = asked.tags[0]
    if first not in (*FINITE, "VBN", "MD") and asked.rest[0].lower() not in BE | MODALS:
        return None
    return [*_named(asked, answer), *asked.rest]


PATTERNS: Mapping[str, Callable[[Asked, str], list[str] | None]] = {
    "do": _do,
    "auxiliary": _auxiliary,
    "be": _be,
    "subject": _subject,
}
"""In their order."""
IN_PLACE = "in place"
"""What the answer does where no pattern matches: it stands where the wh-phrase stood."""


@cache
def _detokenizer() -> "TreebankWordDetokenizer":
    with first_import:
        from nltk.tokenize.treebank import TreebankWordDetokenizer
    return TreebankWordDetokenizer()


@dataclass(frozen=True)
class Distractor:
    """A sentence, and which rules made it; nobody has checked it."""

    sentence: str
    fake: FakeAnswer
    alterations: tuple[Alteration, ...]
    pattern: str


def distractor(
    question: Question, second: bool = False, sister_words: bool = True
) -> Distractor | None:
    """Return the raw distractor of a question, None where no word of it can be altered.

    The shortest reference answer counts; `second` takes the fake answers of the second list. Where
    no published rule fires, `sister_words` lets a noun become another of its kind, which is ours.
    Raises MissingWordNet.
    """
    words = tokenise(question.question)
    tags = tag(words)
    altered, alterations = alter(words, tags, kinds(words, tags))
    if not alterations and sister_words:
        altered, alterations = sister_word(words, tags)
    answer = min(question.references, key=len, default="")
    if not alterations or not answer:
        return None
    fake = fake_answer(answer, question.question, second)
    made = statement(altered, tags, fake.text)
    return Distractor(made[0], fake, tuple(alterations), made[1]) if made else None


def insert(question: Question, sentence: str, position: int | None = None) -> Question:
    """Put a sentence before the sentence `position` of the passage; at its end for None.

    The answers move with the text behind it. Raises ValueError for a position below 0.
    """
    if position is not None and position < 0:
        raise ValueError("a place in a passage is 0 or more")
    starts = sentence_starts(question.passage)
    if position is None or position >= len(starts):
        return replace(question, passage=f"{question.passage} {sentence}")
    at, added = starts[position], f"{sentence} "
    moved = tuple(
        replace(answer, start=answer.start + len(added)) if answer.start >= at else answer
        for answer in question.answers
    )
    passage = question.passage[:at] + added + question.passage[at:]
    return replace(question, passage=passage, answers=moved)


def sentence_starts(passage: str) -> list[int]:
    """Return where the sentences of a passage begin; each but the last ends with ". "."""
    return [0, *(match.end() for match in re.finditer(r"\. ", passage))]
