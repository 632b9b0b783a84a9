"""Sort, reverse, shuffle, copysort: words in another order (Gupta et al. 2021).

The text is lower-cased and tokenised; the mark at its end stays at the end. The paper says so
of punctuation in general, its code pins only the full stop (`pin=(".",)`). Of a script without
blanks each character counts as a word.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise, permutations

from probe.graphemes import why_characters
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import SOURCE
from probe.text.words import FINAL_MARKS, join, words_of
from probe.transforms.registry import Changed, Tools, transform

PAPER = "Gupta et al. 2021, destructive transformations"
MAX_DRAWS = 200  # all fail with p < 1e-39 where the words are distinct
MAX_EXHAUSTIVE_WORDS = 6  # of which all permutations are tried where random draws fail
MAX_SWAPS = 2000  # of two words of the best draw, where there are more of them
WORSE = 0.1  # how often a swap that keeps more bigrams is gone on from

TASKS_OF_PAPER = (NLI.name, PARAPHRASE_IDENTIFICATION.name, SENTIMENT.name)
"""The tasks of Gupta et al.; on others their transforms are our extension."""
register = partial(
    transform,
    family="lexical",
    rule=UNDEFINED,
    source=PAPER,
    homes=TASKS_OF_PAPER,
    options=("side", "pin"),
)


def split(text: str, tools: Tools) -> tuple[list[str], list[str]]:
    """Return the lower-cased tokens and, apart, the final mark if it is pinned."""
    tokens = words_of(text.lower())
    if tokens and FINAL_MARKS.get(tokens[-1], tokens[-1]) in tools.options.pin:
        return tokens[:-1], tokens[-1:]
    return tokens, []


def reordered(words: list[str], why: str = "") -> Changed:
    """Return the text of words in another order; inexact where characters stand for words."""
    text = join(words)
    return Changed(text, "; ".join(filter(None, (why_characters(text), why))))


TARGET_WORD = "a word in {target}"


@register(
    "sort",
    "Sort the words",
    "Puts the words of {target} in alphabetical order.",
    applies=TARGET_WORD,
)
def sort(text: str, tools: Tools) -> Changed | None:
    """Sort by code point: punctuation, digits, letters."""
    words, mark = split(text, tools)
    return reordered(sorted(words) + mark) if words else None


@register(
    "reverse",
    "Reverse the words",
    "Puts the words of {target} in the opposite order, the last word first.",
    applies=TARGET_WORD,
)
def reverse(text: str, tools: Tools) -> Changed | None:
    """Reverse the words."""
    words, mark = split(text, tools)
    return reordered(words[::-1] + mark) if words else None


@register(
    "shuffle",
    "Shuffle the words",
    "Shuffles the words of {target} until none is followed by the word that followed it before.",
    applies=TARGET_WORD,
    chance=True,
)
def shuffle(text: str, tools: Tools) -> Changed | None:
    """Draw permutations until none keeps a bigram, as the paper says; its code never tests it."""
    words, mark = split(text, tools)
    if not words:
        return None
    before = set(pairwise(words + mark))

    def retained(order: list[str]) -> int:
        return sum(bigram in before for bigram in pairwise(order + mark))

    best, fewest, drawn = words, retained(words), list(words)
    for _ in range(MAX_DRAWS):
        tools.rng.shuffle(drawn)
        if (count := retained(drawn)) < fewest:
            best, fewest = list(drawn), count
        if not count:
            return reordered(drawn + mark)
    if len(words) > MAX_EXHAUSTIVE_WORDS:
        best, fewest = _swapped(best, fewest, retained, tools)
    else:
        best = min([best, *map(list, permutations(words))], key=retained)
        fewest = retained(best)
    kept = f"no order of these words was found that keeps fewer than {fewest} bigrams"
    return reordered(best + mark, kept if fewest else "")


register(
    "copysort",
    "Copy the other text, sorted",
    "Replaces {target} by the words of {source} in alphabetical order.",
    reads=SOURCE,
    applies="a word in {source}",
    default=True,
    options=("pin",),
)(sort)


def _swapped(
    words: list[str], fewest: int, count: Callable[[list[str]], int], tools: Tools
) -> tuple[list[str], int]:
    """Swap two words again and again; return the order of which fewest is counted, and how many.

    The next swap is of the order before where that had less, but for one time in ten: from some
    orders none that is better is one swap away.
    """
    best, here, counted_here = words, words, fewest
    for _ in range(MAX_SWAPS):
        order = list(here)
        one, other = tools.rng.randrange(len(order)), tools.rng.randrange(len(order))
        order[one], order[other] = order[other], order[one]
        counted = count(order)
        if counted <= counted_here or tools.rng.random() < WORSE:
            here, counted_here = order, counted
        if counted < fewest:
            best, fewest = order, counted
        if not fewest:
            break
    return best, fewest
