"""Misspell one word of the hypothesis (Naik et al. 2018, section 3).

The word is drawn among those that can be misspelt and replaced where it stands; the released code
replaces the first equal substring, which may lie inside another word. Letters change in
place and the pattern of capitals stays: "The" becomes "Hte", as the code's lower-cased words do.
The code lets digits move as well; here only letters do, or the label would not stay. As in the
code, what comes out may be another word: "cat" becomes "car".

`spelling` chooses the words: any; "content" with the tags of the code's content words, where NN is
missing, so common nouns count in the plural only; "function" for prepositions, conjunctions,
determiners and pronouns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random

from probe.graphemes import clusters
from probe.tasks.label_rules import KEEP
from probe.tasks.nli import NLI
from probe.text import tagger
from probe.text.words import Span, spans, substitute
from probe.transforms.options import Spelling
from probe.transforms.registry import Tools, transform

TAGS: Mapping[Spelling, frozenset[str]] = {
    "content": frozenset({"NNP", "NNS", "NNPS", "JJ", "JJR", "JJS"}),
    "function": frozenset({"IN", "CC", "DT", "PRP", "PRP$", "WP", "WP$"}),
}
KEYS = """
q:w w:eq e:rw r:te t:ry y:tu u:yi i:uo o:ip p:o
a:s s:da d:sf f:gd g:fh h:gj j:hk k:jl l:k
z:x x:zc c:xv v:cb b:vn n:mb m:n
"""
NEIGHBOURS: Mapping[str, str] = dict(entry.split(":") for entry in KEYS.split())
"""The keys beside a letter's, as the code has them: l has only k, m only n."""

register = partial(
    transform,
    family="stress",
    rule=KEEP,
    source="Naik et al. 2018, section 3",
    options=("spelling",),
    home=NLI.name,
)


Letters = Sequence[str]
"""A word as its grapheme clusters, so that no accent or vowel sign is torn from its letter."""


@dataclass(frozen=True)
class Misspelling:
    """A kind of error: the letters of a word at which it can happen, and the misspelt word."""

    indices: Callable[[Letters, Spelling], list[int]]
    apply: Callable[[Letters, int, Random], str]


def swap_indices(word: Letters, spelling: Spelling) -> list[int]:
    """Return the indices of letters that differ from the next letter.

    Of any words the code takes those with more than two different letters and no hyphen; of
    content and function words all, so that "of" becomes "fo".
    """
    letters = {letter.upper() for letter in word if _is_letter(letter)}
    if spelling == "any" and ("-" in word or len(letters) < 3):
        return []
    return [
        index
        for index, (left, right) in enumerate(pairwise(word))
        if _is_letter(left) and _is_letter(right) and left.upper() != right.upper()
    ]


def swap(word: Letters, index: int, rng: Random) -> str:
    """Swap a letter with the next; the pattern of capitals stays."""
    left, right = word[index], word[index + 1]
    swapped = _cased(right, left), _cased(left, right)
    return "".join((*word[:index], *swapped, *word[index + 2 :]))


def key_indices(word: Letters, spelling: Spelling) -> list[int]:
    """Return the indices of letters from a to z, in words of more than one character."""
    return [
        index for index, letter in enumerate(word) if letter.lower() in NEIGHBOURS and len(word) > 1
    ]


def press_neighbour(word: Letters, index: int, rng: Random) -> str:
    """Replace a letter by one beside it on the keyboard."""
    key = rng.choice(NEIGHBOURS[word[index].lower()])
    return "".join((*word[:index], _cased(key, word[index]), *word[index + 1 :]))


def _is_letter(letter: str) -> bool:
    return letter[0].isalpha()


SWAP = Misspelling(swap_indices, swap)
KEYBOARD = Misspelling(key_indices, press_neighbour)


@register(
    "spelling_swap",
    "Swap two letters",
    "Swaps two neighbouring letters in one word of {target}.",
    applies="a word in {target} with letters to swap",
)
def spelling_swap(text: str, tools: Tools) -> str | None:
    """Swap two letters that differ, so that the word changes; the code tries five times."""
    return _misspell(text, tools, SWAP)


@register(
    "spelling_keyboard",
    "Press a wrong key",
    "Replaces a letter in one word of {target} by its neighbour on the keyboard.",
    applies="a word in {target} with a letter from a to z",
)
def spelling_keyboard(text: str, tools: Tools) -> str | None:
    """Replace a letter by the key to its left or right."""
    return _misspell(text, tools, KEYBOARD)


@register(
    "spelling",
    "Misspell a word",
    "Misspells one word of {target}: by chance two letters swapped or a wrong key pressed.",
    applies="a word in {target} that can be misspelt",
)
def spelling(text: str, tools: Tools) -> str | None:
    """Draw a kind of error for the row; where no word allows it, take the other."""
    first, second = tools.rng.sample([SWAP, KEYBOARD], 2)
    return _misspell(text, tools, first) or _misspell(text, tools, second)


def _misspell(text: str, tools: Tools, misspelling: Misspelling) -> str | None:
    word_class = tools.options.spelling
    tokens = [
        (token, word, indices)
        for token in _tokens_of(text, word_class)
        if (word := clusters(text[token.start : token.end]))
        and (indices := misspelling.indices(word, word_class))
    ]
    if not tokens:
        return None
    token, word, indices = tools.rng.choice(tokens)
    new = misspelling.apply(word, tools.rng.choice(indices), tools.rng)
    return substitute(text, [(token.start, token.end, new)])


def _tokens_of(text: str, word_class: Spelling) -> list[Span]:
    tokens = spans(text)
    if word_class not in TAGS:
        return tokens
    tags = tagger.tag([token.word for token in tokens])
    return [token for token, tag in zip(tokens, tags, strict=True) if tag in TAGS[word_class]]


def _cased(letter: str, like: str) -> str:
    """Return a letter in the case of another; one that would become two letters stays."""
    cased = letter.upper() if like.isupper() else letter.lower() if like.islower() else letter
    return cased if len(cased) == len(letter) else letter
