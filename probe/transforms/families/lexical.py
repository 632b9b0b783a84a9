"""Sort, reverse, shuffle, copysort: words in another order (Gupta et al. 2021, section 3.1).

The text is lower-cased and tokenised; the mark at its end stays at the end. The paper says so
of punctuation in general, its code pins only the full stop (`pin=(".",)`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, permutations

from probe.tasks.label_rules import UNDEFINED
from probe.tasks.nli import ENTAILMENT, Pair
from probe.text.tokens import join, tokenise
from probe.transforms.registry import Inexact, Tools, transform

SOURCE = "Gupta et al. 2021, section 3.1"
TRIES = 200  # all fail with p < 1e-39 where the words are distinct
EXHAUSTIVE = 6  # up to here all permutations are looked at where chance found none

register = partial(transform, family="lexical", rule=UNDEFINED, source=SOURCE)


def split(text: str, tools: Tools) -> tuple[list[str], list[str]]:
    """Return the lower-cased tokens and, apart, the final mark if it is pinned."""
    tokens = tokenise(text.lower())
    if tokens and tokens[-1] in tools.options.pin:
        return tokens[:-1], tokens[-1:]
    return tokens, []


def reorder(text: str, tools: Tools, order: Callable[[list[str]], list[str]]) -> str | None:
    """Put the words of a text in another order, None where it has none."""
    words, mark = split(text, tools)
    return join(order(words) + mark) if words else None


HYPOTHESIS_WORD = "a word in the hypothesis"


@register(
    "sort", "Sort the hypothesis's words by alphabet.", side="hypothesis", applies=HYPOTHESIS_WORD
)
def sort(pair: Pair, tools: Tools) -> Pair | None:
    """Sort by code point: punctuation, digits, letters."""
    text = reorder(pair.hypothesis, tools, sorted)
    return replace(pair, hypothesis=text) if text else None


@register("reverse", "Say the hypothesis backwards.", side="hypothesis", applies=HYPOTHESIS_WORD)
def reverse(pair: Pair, tools: Tools) -> Pair | None:
    """Reverse the words."""
    text = reorder(pair.hypothesis, tools, lambda words: words[::-1])
    return replace(pair, hypothesis=text) if text else None


@register(
    "shuffle",
    "Shuffle the hypothesis's words until no two neighbours stay neighbours.",
    side="hypothesis",
    applies=HYPOTHESIS_WORD,
)
def shuffle(pair: Pair, tools: Tools) -> Pair | Inexact | None:
    """Draw permutations until none keeps a bigram, as the paper says; its code never tests it."""
    words, mark = split(pair.hypothesis, tools)
    if not words:
        return None
    before = words + mark
    best, fewest = before, retained(before, before)
    for drawn in _draws(words, tools):
        count = retained(before, drawn + mark)
        if count == 0:
            return replace(pair, hypothesis=join(drawn + mark))
        if count < fewest:
            best, fewest = drawn + mark, count
    shuffled = replace(pair, hypothesis=join(best))
    return Inexact(
        shuffled, f"no order of these words was found that keeps fewer than {fewest} bigrams"
    )


@register(
    "copysort",
    "Put the premise, its words sorted, in place of the hypothesis.",
    side="hypothesis",
    applies="a word in the premise",
    default=ENTAILMENT,
)
def copysort(pair: Pair, tools: Tools) -> Pair | None:
    """Sort the premise into the hypothesis."""
    text = reorder(pair.premise, tools, sorted)
    return replace(pair, hypothesis=text) if text else None


def retained(before: Sequence[str], after: Sequence[str]) -> int:
    """Count the bigrams of `after` that `before` has too."""
    known = set(pairwise(before))
    return sum(bigram in known for bigram in pairwise(after))


def _draws(words: list[str], tools: Tools) -> Iterator[list[str]]:
    drawn = list(words)
    for _ in range(TRIES):
        tools.rng.shuffle(drawn)
        yield list(drawn)
    if len(words) <= EXHAUSTIVE:
        yield from map(list, permutations(words))
