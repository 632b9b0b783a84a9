"""A fake answer for a question: of the kind of its answer, and wrong.

The first rule that fires decides, in the order of Jia and Liang's code; the second list is theirs
for the test whether a model learnt the fake answers.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from probe.addsent.names import MONTHS, Kind, kinds
from probe.text.tagger import tag
from probe.text.words import tokenise

NAMES: Mapping[Kind, tuple[str, str]] = {
    "person": ("Jeff Dean", "Charles Babbage"),
    "location": ("Chicago", "Stockholm"),
    "organization": ("Stark Industries", "Acme Corporation"),
    "misc": ("Jupiter", "Soylent"),
}
UPPER_CASE = ("LSTM", "PCFG")
BY_QUESTION: Mapping[tuple[str, ...], tuple[str, str]] = {
    ("who",): ("Jeff Dean", "Charles Babbage"),
    ("when",): ("1956", "2004"),
    ("where",): ("Chicago", "Stockholm"),
    ("how", "many"): ("42", "200"),
}
"""By the words with which a question starts."""
FIRST_TAG: Mapping[str, tuple[str, str]] = {
    "VB": ("learn", "run"),
    "VBD": ("learned", "ran"),
    "VBG": ("learning", "running"),
    "VBP": ("learns", "runs"),
    "VBZ": ("learns", "runs"),
}
LAST_NOUN: Mapping[str, tuple[str, str]] = {
    "NN": ("hamster", "apple"),
    "NNP": ("Central Park", "Sears Tower"),
    "NNS": ("hamsters", "apples"),
    "NNPS": ("Kew Gardens", "Hobbits"),
}
LAST_TAG: Mapping[str, tuple[str, str]] = {
    "JJ": ("deep", "blue"),
    "JJR": ("deeper", "bluer"),
    "JJS": ("deepest", "bluest"),
    "RB": ("silently", "quickly"),
    "VBG": ("learning", "running"),
}
ELSE = ("aliens", "cosmic rays")
ARTICLES = ("a", "an", "the")
SCALES: Mapping[str, str] = {
    "thousand": "million",
    "million": "thousand",
    "billion": "thousand",
    "trillion": "thousand",
}
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
YEAR_LIKE = (1000, 2500)
"""Numbers between them lose 75, as if they were years."""


@dataclass(frozen=True)
class Answer:
    """A reference answer in tokens, and the question's words in lower case."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    kinds: tuple[Kind, ...]
    question: tuple[str, ...]


@dataclass(frozen=True)
class FakeAnswer:
    """A fake answer and the name of the rule that gave it."""

    text: str
    rule: str


def fake_answer(answer: str, question: str, second: bool = False) -> FakeAnswer:
    """Return a fake answer for a question whose answer is this text.

    `second` takes the second list. Raises MissingWordNet.
    """
    words = tokenise(answer)
    tags = tag(words)
    asked = tuple(word.lower() for word in tokenise(question))
    given = Answer(tuple(words), tuple(tags), tuple(kinds(words, tags)), asked)
    for rule, candidates in RULES.items():
        for pair in candidates(given):
            text = pair[second]
            if text.lower() != answer.lower():
                return FakeAnswer(text, rule)
    return FakeAnswer(ELSE[second], "else")


def _date(answer: Answer) -> Iterator[tuple[str, str]]:
    """Move a date: a year by 25, a day by 11, a month by six."""
    if not answer.words or set(answer.kinds) != {"date"}:
        return
    moved = _join([_moved_date(word) for word in answer.words])
    yield moved, moved


def _moved_date(word: str) -> str:
    if word.lower() in MONTHS:
        return MONTHS[(MONTHS.index(word.lower()) + 6) % 12].capitalize()
    if not word.isdigit():
        return word
    number = int(word)
    if number > 50:
        return str(number - 25)
    return str(number - 11 if number > 15 else number + 11)


def _number(answer: Answer) -> Iterator[tuple[str, str]]:
    """Change a number: a year-like one by 75, another in its first digit."""
    changed = [_changed_number(word) for word in answer.words]
    if any(NUMBER.match(word) for word in answer.words) and changed != list(answer.words):
        text = _join(changed)
        yield text, text
    elif "number" in answer.kinds:
        text = _join(
            [
                word if kind != "number" else SCALES.get(word.lower(), "10")
                for word, kind in zip(answer.words, answer.kinds, strict=True)
            ]
        )
        yield text, text


def _changed_number(word: str) -> str:
    found = NUMBER.match(word)
    if not found:
        return SCALES.get(word.lower(), word)
    digits, rest = found[0], word[found.end() :]
    value = float(digits.replace(",", ""))
    if YEAR_LIKE[0] < value < YEAR_LIKE[1]:
        return f"{value - 75:.0f}{rest}"
    return f"{max((int(digits[0]) + 5) % 10, 1)}{digits[1:]}{rest}"


def _name(answer: Answer) -> Iterator[tuple[str, str]]:
    for kind, pair in NAMES.items():
        if answer.kinds and set(answer.kinds) == {kind}:
            yield pair


def _upper_case(answer: Answer) -> Iterator[tuple[str, str]]:
    if answer.words and all(word.isalpha() and word.isupper() for word in answer.words):
        yield UPPER_CASE


def _question_word(answer: Answer) -> Iterator[tuple[str, str]]:
    for start, pair in BY_QUESTION.items():
        if answer.question[: len(start)] == start:
            yield pair


def _first_word(answer: Answer) -> Iterator[tuple[str, str]]:
    if answer.tags and answer.tags[0] in FIRST_TAG:
        yield FIRST_TAG[answer.tags[0]]


def _last_noun(answer: Answer) -> Iterator[tuple[str, str]]:
    """Keep the answer's own article."""
    if not answer.tags or answer.tags[-1] not in LAST_NOUN:
        return
    nouns = LAST_NOUN[answer.tags[-1]]
    article = answer.words[0].lower() if answer.words[0].lower() in ARTICLES else ""
    yield _with_article(article, nouns[0]), _with_article(article, nouns[1])


def _with_article(article: str, noun: str) -> str:
    if article in ("a", "an"):
        article = "an" if noun[0] in "aeiou" else "a"
    return f"{article} {noun}".strip()


def _last_word(answer: Answer) -> Iterator[tuple[str, str]]:
    if answer.tags and answer.tags[-1] in LAST_TAG:
        yield LAST_TAG[answer.tags[-1]]


RULES: Mapping[str, Callable[[Answer], Iterator[tuple[str, str]]]] = {
    "date": _date,
    "number": _number,
    "name": _name,
    "upper case": _upper_case,
    "question word": _question_word,
    "first word": _first_word,
    "last noun": _last_noun,
    "last word": _last_word,
}
"""In their order: each gives a fake answer of the first list and of the second, or none."""


def _join(words: Sequence[str]) -> str:
    text = " ".join(words)
    return re.sub(r" (?=[,.%:;)])|(?<=[$£€(#]) ", "", text)
