"""How people and data sets spell what is the same for all tasks."""

import re

NO_GOLD = frozenset({"", "hidden", "nan", "none", "null", "?"})
"""How files say that there is no gold label."""
DISPUTED = frozenset({"-", "-1"})
"""How the released data mark an example on which the annotators did not agree."""


def normalised(text: object) -> str:
    """Return a label's name in lower case, with hyphens for blanks and underscores."""
    return re.sub(r"[\s_]+", "-", str("" if text is None else text).strip().lower())


def without_fraction(word: str) -> str:
    """Return a whole number as tables with empty cells write it, 2.0, without its fraction."""
    return re.sub(r"\.0$", "", word)
