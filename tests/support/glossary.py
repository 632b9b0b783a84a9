"""What every term of the glossary must be."""

import re
from collections.abc import Mapping

from probe.terms import Titled

MAX_SENTENCE = 160  # characters
INSIDE = """
token gold-label default-label gradient loss transformer recurrent-network tautology synonym
antonym phrase-based-translator heuristic word-salad phenomenon artefact original-set challenge
learning-rate
"""
INSIDERS = INSIDE.split()
"""Words that a newcomer does not know; a hyphen may be a blank."""


def require_plain(terms: Mapping[str, Titled]) -> None:
    """Check that each term has a title and one short sentence."""
    for id, term in terms.items():
        assert re.fullmatch(r"[a-z0-9_-]+", id), id
        assert term.title.strip() and term.title[:1] != " ", id
        assert term.summary.endswith(".") and len(term.summary) <= MAX_SENTENCE, term.summary
        assert term.summary[0].isupper() or not term.summary[0].isalpha(), term.summary
        assert "{" not in term.summary, term.summary


def undefined(terms: Mapping[str, Titled]) -> list[str]:
    """Return the insiders' words that a sentence uses and no term defines."""
    said = " ".join(term.summary for term in terms.values()).lower()
    defined = {term.title.lower().replace(" ", "-") for term in terms.values()}
    used = {word for word in INSIDERS if re.search(rf"\b{word.replace('-', '[- ]')}s?\b", said)}
    return sorted(used - defined)
