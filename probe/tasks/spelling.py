"""How people and data sets spell what is the same for all tasks."""

import re
from unicodedata import category

NO_GOLD = frozenset({"", "hidden", "nan", "none", "null", "?"})
"""How files say that there is no gold label."""
DISPUTED = frozenset({"-", "-1"})
"""How the released data mark an example on which the annotators did not agree."""


def normalised(text: object) -> str:
    """Return a name in lower case, with hyphens for blanks and underscores, as it looks.

    Characters of no width are left out, such as a byte order mark.
    """
    seen = "".join(char for char in str("" if text is None else text) if category(char) != "Cf")
    return re.sub(r"[\s_]+", "-", seen.strip().lower())


def without_fraction(word: str) -> str:
    """Return a whole number as tables with empty cells write it, 2.0, without its fraction."""
    return re.sub(r"\.0$", "", word)


def label_word(text: object) -> str:
    """Return a gold label as tables of spellings hold it, however it is written in a file."""
    return without_fraction(normalised(text))


def negated(*words: str) -> tuple[str, ...]:
    """Return how people say that something is not one of these words: non-word, notword, ..."""
    return tuple(
        f"{no}{mark}{word}" for no in ("non", "not", "no") for mark in ("-", "") for word in words
    )
