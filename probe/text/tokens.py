"""Word tokens as the papers' code makes them, and the difference between two texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Literal

from nltk.tokenize.destructive import NLTKWordTokenizer

WORD = re.compile(r"\w+|[^\w\s]")


@cache
def _tokenizer() -> NLTKWordTokenizer:
    return NLTKWordTokenizer()


def tokenise(text: str) -> list[str]:
    """Split into Penn Treebank tokens: contractions apart, quotes as `` and ''.

    The tokenizer of `nltk.word_tokenize`, without its sentence splitter and so without data.
    """
    return [token for token in _tokenizer().tokenize(text) if token.strip()]


QUOTES = ("``", "''")


@dataclass(frozen=True)
class Span:
    """A token of `tokenise` and the stretch of the text it was read from: text[start:end].

    The stretch differs from the token for double quotes only, which tokens spell `` and ''.
    """

    word: str
    start: int
    end: int


def spans(text: str) -> list[Span]:
    """Split as `tokenise` does and say where each token stands, in time linear in the text.

    The tokenizer adds and takes away blanks and respells double quotes, nothing else, so the
    tokens are walked along the text; nothing is searched for.
    """
    found: list[Span] = []
    at = 0
    for word in tokenise(text):
        while text[at].isspace():
            at += 1
        end = at + (1 if word in QUOTES and text[at] == '"' else len(word))
        found.append(Span(word, at, end))
        at = end
    return found


def substitute(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """Put new text for the stretches (start, end, new), all offsets being those of `text`.

    The stretches may come in any order and must not overlap.
    """
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(changes):
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))


def join(tokens: Sequence[str]) -> str:
    """Join with single spaces; nothing is detokenised (Gupta et al. 2021)."""
    return " ".join(tokens)


def same_words(first: str, second: str) -> bool:
    """Whether two texts have the same words in the same order, case and spacing aside."""
    return tokenise(first.lower()) == tokenise(second.lower())


Kind = Literal["kept", "removed", "added", "moved"]


@dataclass(frozen=True)
class Edit:
    """A stretch of text that a transform kept, removed, added or put in another order."""

    kind: Kind
    text: str


def edits(before: str, after: str) -> list[Edit]:
    """Return what turns `before` into `after`, word by word, case aside.

    Kept, moved and added stretches in order spell `after`. Where `after` has the words of
    `before` in another order, it is one moved stretch.
    """
    old, new = list(WORD.finditer(before)), list(WORD.finditer(after))
    old_words = [match.group().lower() for match in old]
    new_words = [match.group().lower() for match in new]
    if old_words != new_words and sorted(old_words) == sorted(new_words):
        return [Edit("moved", after)]
    found: list[Edit] = []
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal" and j > i:
            found.append(Edit("removed", before[old[i].start() : old[j - 1].end()]))
        if m > k:
            text = after[new[k].start() : new[m - 1].end()]
            found.append(Edit("kept" if tag == "equal" else "added", text))
    return found
