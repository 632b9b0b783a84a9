"""Misspell one word of the hypothesis (Naik et al. 2018, section 3).

The word is drawn among those that can be misspelt and replaced where it stands; the released code
replaces the first stretch that looks like it, which may lie inside another word. Letters change in
place and the pattern of capitals stays: "The" becomes "Hte", as the code's lower-cased words do.
The code lets digits move as well; here only letters do, or the label would not stay. As in the
code, what comes out may be another word: "cat" becomes "car".

`spelling` chooses the words: any; "content" with the tags of the code's content words, where NN is
missing, so common nouns count in the plural only; "function" for prepositions, conjunctions,
determiners and pronouns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random

from probe.tasks.label_rules import KEEP
from probe.text import tagger
from probe.text.tokens import Span, spans, substitute
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
)


@dataclass(frozen=True)
class Slip:
    """A way to misspell: the places in a word where it can happen, and the new word."""

    places: Callable[[str, Spelling], list[int]]
    at: Callable[[str, int, Random], str]


def swap_places(word: str, spelling: Spelling) -> list[int]:
    """Return where two letters that differ stand side by side.

    Of any words the code takes those with more than two different letters and no hyphen; of
    content and function words all, so that "of" becomes "fo".
    """
    letters = {letter.upper() for letter in word if letter.isalpha()}
    if spelling == "any" and ("-" in word or len(letters) < 3):
        return []
    return [
        at
        for at, (left, right) in enumerate(pairwise(word))
        if left.isalpha() and right.isalpha() and left.upper() != right.upper()
    ]


def swap(word: str, at: int, rng: Random) -> str:
    """Swap a letter with the next; each place keeps its capital."""
    left, right = word[at], word[at + 1]
    return word[:at] + _cased(right, left) + _cased(left, right) + word[at + 2 :]


def key_places(word: str, spelling: Spelling) -> list[int]:
    """Return where a letter of the keyboard stands, in words of more than one character."""
    return [at for at, letter in enumerate(word) if letter.lower() in NEIGHBOURS and len(word) > 1]


def press(word: str, at: int, rng: Random) -> str:
    """Press a key beside the right one."""
    return word[:at] + _cased(rng.choice(NEIGHBOURS[word[at].lower()]), word[at]) + word[at + 1 :]


SWAP, KEYBOARD = Slip(swap_places, swap), Slip(key_places, press)


@register(
    "spelling_swap",
    "Swap two letters",
    "Swap two letters side by side in one word of the hypothesis.",
    applies="a word in the hypothesis with letters to swap",
)
def spelling_swap(text: str, tools: Tools) -> str | None:
    """Swap two letters that differ, so that no try is in vain; the code tries five times."""
    return _misspell(text, tools, SWAP)


@register(
    "spelling_keyboard",
    "Press a wrong key",
    "Replace a letter of one word of the hypothesis by its neighbour on the keyboard.",
    applies="a word in the hypothesis with a letter from a to z",
)
def spelling_keyboard(text: str, tools: Tools) -> str | None:
    """Press the key to the left or right of a letter's."""
    return _misspell(text, tools, KEYBOARD)


@register(
    "spelling",
    "Misspell a word",
    "Misspell one word of the hypothesis: a swap or a wrong key, by a coin.",
    applies="a word in the hypothesis that can be misspelt",
)
def spelling(text: str, tools: Tools) -> str | None:
    """Throw a coin for the row; where no word allows the one way, take the other."""
    first, second = tools.rng.sample([SWAP, KEYBOARD], 2)
    return _misspell(text, tools, first) or _misspell(text, tools, second)


def _misspell(text: str, tools: Tools, slip: Slip) -> str | None:
    chosen = tools.options.spelling
    tokens = [
        (token.start, word, places)
        for token in _chosen(text, chosen)
        if (places := slip.places(word := text[token.start : token.end], chosen))
    ]
    if not tokens:
        return None
    start, word, places = tools.rng.choice(tokens)
    new = slip.at(word, tools.rng.choice(places), tools.rng)
    return substitute(text, [(start, start + len(word), new)])


def _chosen(text: str, chosen: Spelling) -> list[Span]:
    tokens = spans(text)
    if chosen not in TAGS:
        return tokens
    tags = tagger.tag([token.word for token in tokens])
    return [token for token, tag in zip(tokens, tags, strict=True) if tag in TAGS[chosen]]


def _cased(letter: str, like: str) -> str:
    """Return a letter as large as another; one that would become two letters stays."""
    turned = letter.upper() if like.isupper() else letter.lower() if like.islower() else letter
    return turned if len(turned) == 1 else letter
