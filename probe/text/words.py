"""Word tokens as the papers' code makes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
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


NOT_BY_WORD = re.compile(r"[^\w\s.,;:?!%$#&@+=/*-]|\.\.|--|\s[.?!]|[.,:?!][.?!]+\s*$")
"""What may make tokens of a word depend on those beside it: quotes, brackets, rows of marks."""


def tokenise(text: str) -> list[str]:
    """Split into Penn Treebank tokens: contractions apart, quotes as `` and ''.

    The tokenizer of `nltk.word_tokenize`, without its sentence splitter and so without data. Where
    no word depends on another, words that came before need not be split again, and neither need
    words of letters alone.
    """
    if not text.isascii() or NOT_BY_WORD.search(text):
        return _split(text)
    *before, last = text.split() or [""]
    tokens = list[str]()
    for word in before:
        if word.isalpha() and word.lower() not in JOINED:
            tokens.append(word)
        else:
            tokens += _within(word)
    return [*tokens, *_at_the_end(last)]


JOINED = frozenset({"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"})
"""The words of letters of which the tokenizer makes two."""


def _split(text: str) -> list[str]:
    return [token for token in _tokenizer().tokenize(text) if token.strip()]


@lru_cache(maxsize=50_000)
def _within(word: str) -> Sequence[str]:
    """Split a word that another follows: its full stop ends no sentence."""
    return _split(f"{word} x")[:-1]


@lru_cache(maxsize=50_000)
def _at_the_end(word: str) -> Sequence[str]:
    """Split the last word of a text."""
    plain, mark = (word[:-1], [word[-1]]) if word[-1:] in (".", "?", "!") else (word, [])
    if plain.isalpha() and plain.lower() not in JOINED:
        return [plain, *mark]
    return _split(word)


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
    return split_at_blanks(" ".join(END.sub(r" \g<0>", token) for token in tokens))


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
    parts, last = list[str](), 0
    for start, end, new in sorted(replacements):
        parts += (text[last:start], new)
        last = end
    return "".join((*parts, text[last:]))


def join(tokens: Sequence[str]) -> str:
    """Join with single spaces; nothing is detokenised (Gupta et al. 2021).

    Between characters of a script without blanks there is none.
    """
    return joined(list(tokens))


def same_words(first: str, second: str) -> bool:
    """Whether two texts have the same words in the same order, case and spacing aside."""
    if first == second:
        return True
    one, other = first.lower(), second.lower()
    # the tokenizer changes blanks and quotes alone, so that other letters are other words
    return _letters(one) == _letters(other) and tokenise(one) == tokenise(other)


QUOTE_MARKS = str.maketrans("", "", "\"'`")


def _letters(text: str) -> str:
    """Return a text without its blanks and quotes."""
    return "".join(text.split()).translate(QUOTE_MARKS)


ABBREVIATIONS_TEXT = """
Mr Mrs Ms Dr Prof St Rev Gen Col Capt Lt Sgt Sen Rep Gov No vs etc e.g i.e approx Inc Ltd Co Corp
Fig al
"""
ABBREVIATIONS = frozenset(ABBREVIATIONS_TEXT.split())
"""Words whose full stop ends no sentence."""
CLOSERS = "\"'”’»)\\]"
SENTENCE_END = re.compile(rf"[.!?…]+[{CLOSERS}]*(?=\s)|[。！？．।۔؟]+[{CLOSERS}」』]*|\n\s*\n")
"""A mark before a blank, one of a script that has none behind it, or an empty line."""
LAST_WORD = re.compile(r"(?:^|[\s(\[\"“‘])([^\s(\[\"“‘]+)\.$")


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends, blanks at both ends left out.

    A full stop behind an initial or an abbreviation ends none.
    """
    found, start = list[tuple[int, int]](), 0
    for end in [*(match.end() for match in SENTENCE_END.finditer(text)), len(text)]:
        inside, last = text[start:end], LAST_WORD.search(text[start:end])
        if end < len(text) and last:
            word = last[1]
            if word in ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word.isupper()):
                continue
        if inside.strip():
            first = start + len(inside) - len(inside.lstrip())
            found.append((first, start + len(inside.rstrip())))
        start = end
    return found


def listing(names: Sequence[str]) -> str:
    """Return names with commas and "and" between them. Raises ValueError where there is none."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
