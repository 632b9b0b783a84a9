"""Word tokens as the papers' code makes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from probe.first_import import first_import
from probe.graphemes import has_unspaced, joined, pieces

if TYPE_CHECKING:
    from nltk.tokenize.destructive import NLTKWordTokenizer


@cache
def _tokenizer() -> NLTKWordTokenizer:
    with first_import:
        from nltk.tokenize.destructive import NLTKWordTokenizer  # slow, and no page waits for it

    return NLTKWordTokenizer()


def tokenise(text: str) -> list[str]:
    """Split into Penn Treebank tokens: contractions apart, quotes as `` and ''.

    The tokenizer of `nltk.word_tokenize`, without its sentence splitter and so without data.
    """
    return [token for token in _tokenizer().tokenize(text) if token.strip()]


FINAL_MARKS = {
    **{"。": ".", "．": ".", "।": ".", "۔": "."},
    **{"！": "!", "？": "?", "؟": "?"},
}
"""Marks that end a sentence in other scripts, and what they are in English."""
END = re.compile(f"(?<=.)[{''.join(FINAL_MARKS)}]$")


def words_of(text: str) -> list[str]:
    """Return the tokens of `tokenise`; of a script without blanks each character is one.

    The mark that ends a sentence of another script is a token of its own.
    """
    tokens = tokenise(text)
    if text.isascii():
        return tokens
    parts = (part for token in tokens for part in END.sub(r" \g<0>", token).split())
    return [piece for part in parts for piece in (pieces(part) if has_unspaced(part) else [part])]


def split_at_blanks(text: str) -> list[str]:
    """Return the words between blanks; of a script without blanks each character is one."""
    return [
        piece for word in text.split() for piece in (pieces(word) if has_unspaced(word) else [word])
    ]


QUOTES = ("``", "''")


@dataclass(frozen=True)
class Span:
    """A token of `tokenise` and the part of the text it was read from: text[start:end].

    The two differ for double quotes only, which tokens spell `` and ''.
    """

    word: str
    start: int
    end: int


def spans(text: str) -> list[Span]:
    """Return the tokens of `tokenise` with their offsets, in time linear in the text.

    The tokenizer adds and removes blanks and respells double quotes, nothing else, so each token
    begins at the next character that is no blank; nothing is searched for.
    """
    token_spans: list[Span] = []
    start = 0
    for word in tokenise(text):
        while text[start].isspace():
            start += 1
        end = start + (1 if word in QUOTES and text[start] == '"' else len(word))
        token_spans.append(Span(word, start, end))
        start = end
    return token_spans


def substitute(text: str, replacements: Sequence[tuple[int, int, str]]) -> str:
    """Replace text[start:end] by new text for each (start, end, new), offsets being of `text`.

    The replacements may come in any order and must not overlap.
    """
    parts: list[str] = []
    previous_end = 0
    for start, end, new in sorted(replacements):
        parts += (text[previous_end:start], new)
        previous_end = end
    return "".join((*parts, text[previous_end:]))


def join(tokens: Sequence[str]) -> str:
    """Join with single spaces; nothing is detokenised (Gupta et al. 2021).

    Between characters of a script without blanks there is none.
    """
    return joined(list(tokens))


def same_words(first: str, second: str) -> bool:
    """Whether two texts have the same words in the same order, case and spacing aside."""
    return tokenise(first.lower()) == tokenise(second.lower())
