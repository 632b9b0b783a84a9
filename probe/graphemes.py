"""What a reader takes for one character, and words where a script has no blanks between them.

A grapheme cluster (Unicode Standard Annex 29) is a letter with its accents and vowel signs, or an
emoji of several code points; a combining mark is never apart from what it stands on. Chinese,
Japanese, Thai, Lao, Khmer and Burmese are written without blanks: there each cluster counts as a
word, as in the scores of MLQA (Lewis et al. 2020) for Chinese.
"""

import regex

UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
MARKS = "。、，．！？；：「」『』（）・"
"""Marks of those scripts, which have no blanks around them either."""
CLUSTER = regex.compile(r"\X\p{M}*")
PIECE = regex.compile(
    rf"(?=[{UNSPACED}])\X\p{{M}}*|(?:(?![{UNSPACED}])[\w\p{{M}}])+|(?!\s)\X\p{{M}}*"
)
"""A character of a script without blanks, a word of another one, or a mark."""
LETTERS = regex.compile(rf"[{UNSPACED}]")
TIGHT = regex.compile(rf"[{UNSPACED}{MARKS}]")


def clusters(text: str) -> list[str]:
    """Return the characters of a text as a reader counts them; together they are the text."""
    return list(text) if text.isascii() else [each.group() for each in CLUSTER.finditer(text)]


def has_unspaced(text: str) -> bool:
    """Whether a text has letters of a script without blanks between words."""
    return not text.isascii() and LETTERS.search(text) is not None


def why_characters(text: str) -> str:
    """Say that characters stand for words where a text has no blanks between them, else ""."""
    said = "each character counts as a word, for the text has no blanks between words"
    return said if has_unspaced(text) else ""


def pieces(text: str) -> list[str]:
    """Return the words and marks of a text; of a script without blanks its characters."""
    return [each.group() for each in PIECE.finditer(text)]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return where each of `pieces` begins and ends in a text."""
    return [match.span() for match in PIECE.finditer(text)]


def joined(words: list[str]) -> str:
    """Join words with single blanks, but for what is written without any."""
    parts: list[str] = []
    for word in words:
        tight = parts and (TIGHT.match(word) or TIGHT.match(parts[-1]))
        parts += ["" if tight or not parts else " ", word]
    return "".join(parts)
