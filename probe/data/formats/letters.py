"""Which of several encodings of the same bytes makes sense, by the frequency of their letters.

The byte of a letter beyond ASCII means another letter in each of them: what is `č` in Windows-1250
is `è` in Windows-1252. A reading is as likely as its letters are in the language that fits best.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import log

LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "cp1252": (
        "é1.9 à.5 è.3 ê.2 ç.1 â.1 î.05 ô.05 ù.06 û.06 ï.01 ë.01 œ.02",  # French
        "ä.6 ö.4 ü1 ß.3",  # German
        "í.7 ó.8 á.5 é.4 ñ.3 ú.2 ü.01",  # Spanish
        "ã.7 ç.5 á.5 é.5 ê.4 í.4 ó.3 õ.1 ú.2 à.1 â.2 ô.1",  # Portuguese
        "à.6 è.3 é.1 ì.1 ò.1 ù.2",  # Italian
        "ä1.8 å1.3 ö1.3 é.05",  # Swedish
        "å1.2 æ.9 ø.9 é.05",  # Danish and Norwegian
        "ä3.6 ö.4 å.01",  # Finnish
        "ð4.4 á1.8 í1.6 þ1.4 ó1 æ.9 ö.8 é.7 ú.6 ý.2",  # Icelandic
        "õ1.2 ä1.2 ü.8 ö.3 š.01 ž.01",  # Estonian
        "é.2 ë.1 ï.05 ö.02 ü.02",  # Dutch
        "à.7 é.5 è.4 ó.5 í.4 ç.2 ò.2 ú.2 ï.03 ü.01",  # Catalan
    ),
    "cp1250": (
        "í3.2 á2.2 ě1.6 é1.3 ř1.2 ý1 ž1 č.9 š.8 ů.7 ú.1 ť.04 ó.03 ď.02 ň.02",  # Czech
        "á2.4 í1.2 č1.1 ý1 é.9 š.9 ú.9 ž.9 ť.6 ľ.4 ň.3 ď.2 ô.2 ä.1 ó.1 ŕ.02 ĺ.01",  # Slovak
        "ł1.9 ę1.1 ą1 ó.9 ż.8 ś.7 ć.4 ń.2 ź.06",  # Polish
        "á3.5 é3.6 ó1 ö.9 ő.9 í.6 ü.5 ú.3 ű.2",  # Hungarian
        "č1 š1 ć.7 ž.6 đ.3",  # Croatian, Bosnian and Serbian
        "č1.3 š1 ž.7",  # Slovene
        "ă3.5 î1.2 ş1.1 ţ1 â.9",  # Romanian
    ),
    "cp1254": ("ı5.1 ü1.9 ş1.8 ç1.2 ğ1.1 ö.8 â.02 î.01",),  # Turkish
    "cp1257": (
        "ė1.4 š1 ž.8 ų1.3 ū.5 į.6 ą.7 č.4 ę.2",  # Lithuanian
        "ā3.9 ī1.9 ē1.8 š.9 ņ.6 ū.6 ļ.4 ž.2 ķ.1 č.1 ģ.1",  # Latvian
    ),
}  # fmt: skip
"""By encoding its languages, with the letters beyond ASCII that they have and their share in %."""
ALIKE: Mapping[str, tuple[str, ...]] = {"cp1250": ("iso8859_2",)}
"""Encodings of the same languages, with the letters in other places."""
ELSEWHERE = 0.0003
"""Share, in a language's letters beyond ASCII, of one that it has not: of a name or a loan word."""
NO_LETTER, WITHIN_NUMBER = 0.01, 0.00001
"""Share of a sign, such as a curly quote, and of a letter beside a digit, which is hardly one."""
RARER = 3.0
"""How much likelier, as a natural logarithm, Western Windows is before a letter is seen."""
BEYOND = re.compile(r"[^\x00-\x7f]")
WORD, FIRST_BEYOND = re.compile(rb"[A-Za-z\x80-\xff]+"), 0x80
PLAIN = 0.35
"""Share of ASCII's letters, in words of a Latin script that have others, at least."""
SURE = 3.0
"""How much more likely, as a natural logarithm, a reading must be than one in another encoding."""


@dataclass(frozen=True)
class Likely:
    """A reading of some bytes: its encoding, its text, and the logarithm of how likely it is."""

    encoding: str
    text: str
    likelihood: float


def is_latin(content: bytes) -> bool:
    """Whether bytes beyond ASCII stand among letters of ASCII, as they do in Latin scripts."""
    words = [word for word in WORD.findall(content) if not word.isascii()]
    plain = sum(byte < FIRST_BEYOND for word in words for byte in word)
    whole = sum(map(len, words))
    return whole > 0 and plain >= PLAIN * whole


def likeliest(content: bytes) -> tuple[Likely, Likely | None]:
    """Return the likeliest reading of bytes, and another one that is nearly as likely, if any is.

    Readings with the same text are one: in the first encoding of the table that has it. Western
    Windows reads every text.
    """
    encodings = [each for known in LANGUAGES for each in (known, *ALIKE.get(known, ()))]
    readings: dict[str, Likely] = {}
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            if encoding != "cp1252":
                continue
            text = content.decode(encoding, errors="replace")
        readings.setdefault(text, Likely(encoding, text, _likelihood(text, encoding)))
    best, *others = sorted(readings.values(), key=lambda each: -each.likelihood)
    near = [each for each in others if best.likelihood - each.likelihood < SURE]
    return best, near[0] if near else None


def _likelihood(text: str, encoding: str) -> float:
    known = next(each for each in LANGUAGES if encoding in (each, *ALIKE.get(each, ())))
    counts, signs = Counter[str](), 0.0 if encoding == "cp1252" else -RARER
    for match in BEYOND.finditer(text):
        at, character = match.start(), match[0]
        around = text[max(at - 1, 0) : at] + text[at + 1 : at + 2]
        if not character.isalpha():
            signs += log(ELSEWHERE if not character.isprintable() else NO_LETTER)
        elif any(each.isdigit() for each in around):
            signs += log(WITHIN_NUMBER)
        else:
            counts[character.lower()] += 1
    return signs + max(_in_language(counts, letters) for letters in LANGUAGES[known])


def _in_language(counts: Counter[str], letters: str) -> float:
    shares = {each[0]: float(each[1:]) for each in letters.split()}
    whole = sum(shares.values())
    return sum(
        count * log(shares.get(letter, ELSEWHERE * whole) / whole)
        for letter, count in counts.items()
    )
