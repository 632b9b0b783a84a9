"""Whether a text is beyond doubt in another language than English, and in which.

The detector is py3langid (BSD, 4.6 MB, without a network): a naive Bayes classifier over byte
n-grams of 175 languages (after Lui and Baldwin 2012, langid.py). What counts is not its first
guess, which neighbours such as Malay and Indonesian share, but how little it leaves to English:
BENCHMARKS.md says how often that is wrong, and by which command.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from probe.first_import import first_import
from probe.tasks.task import Example, Task

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENGLISH = "English"
BEYOND_DOUBT = 0.001
"""The probability of English below which a text is in another language."""
IN_DOUBT = 0.5
"""The same for a text of a file whose other texts are beyond doubt in another language."""
CERTAIN = 0.5
"""The probability from which a language is named; below it the text is in "another language"."""
LOOKED_AT = 2000
"""Characters of a text by which it is judged."""
OTHER = "another language"
NO_LANGUAGE = "zxx"
"""What the detector calls a text of no words, such as random letters: it may be anything."""
NAME_TEXT = """
af Afrikaans, am Amharic, ar Arabic, ary Arabic, arz Arabic, az Azerbaijani, be Belarusian, bg
Bulgarian, bn Bengali, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el Greek, en English,
eo Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fr French, ga Irish, gl
Galician, gu Gujarati, he Hebrew, hi Hindi, hr Croatian, hu Hungarian, hy Armenian, id Indonesian,
is Icelandic, it Italian, ja Japanese, ka Georgian, kk Kazakh, km Khmer, kn Kannada, ko Korean, ku
Kurdish, ky Kyrgyz, la Latin, lo Lao, lt Lithuanian, lv Latvian, mk Macedonian, ml Malayalam, mn
Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, nb Norwegian, ne Nepali, nl Dutch, nn
Norwegian, no Norwegian, pa Punjabi, pl Polish, ps Pashto, pt Portuguese, ro Romanian, ru Russian,
si Sinhala, sk Slovak, sl Slovenian, sq Albanian, sr Serbian, sv Swedish, sw Swahili, ta Tamil, te
Telugu, th Thai, tl Filipino, tr Turkish, ug Uyghur, uk Ukrainian, ur Urdu, uz Uzbek, vi
Vietnamese, wuu Chinese, yo Yoruba, yue Chinese, zh Chinese, zu Zulu
"""
NAMES = dict(entry.split(maxsplit=1) for entry in NAME_TEXT.split(","))
"""The English names of languages by their codes; another code stands for itself."""


@cache
def _detector() -> LanguageIdentifier:
    with first_import:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # half a second, once

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def other_language(text: str, below: float = BEYOND_DOUBT) -> str:
    """Return the language of a text that is not English, "" for one that is or may be.

    It is not where the detector leaves English a probability below `below`.
    """
    english, name, share = _judged(text[:LOOKED_AT])
    if english >= below or name == NO_LANGUAGE:
        return ""
    return name if share >= CERTAIN else OTHER


def language_of(task: Task, example: Example, below: float = BEYOND_DOUBT) -> str:
    """Return the language of an example's texts together, as `other_language` does."""
    return other_language("\n".join(task.texts(example).values()), below)


def foreign_reason(language: str) -> str:
    """Return why transforms for English do not apply to a text, "" where they may."""
    return f"the text is in {language}" if language else ""


@lru_cache(maxsize=4096)
def _judged(text: str) -> tuple[float, str, float]:
    """Return the probability of English, and the likeliest other language with its own."""
    shares: dict[str, float] = {}
    for code, share in _detector().rank(text):
        name = NAMES.get(code, code)
        shares[name] = shares.get(name, 0) + share
    english = shares.pop(ENGLISH)
    return (english, *max(shares.items(), key=lambda each: each[1]))
