"""Baselines that compare the words of a pair and know nothing of their meaning."""

import re
from collections import Counter
from collections.abc import Sequence

from probe.baselines.registry import register
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL, NON_ENTAILMENT, Pair
from probe.tasks.task import Label
from probe.text.words import tokenise

COMPARISON = re.compile(r"\b(?:more|less) than\b", re.IGNORECASE)
SENTENCE_MARKS = ".?!"


@register(
    "numerical",
    "More than, less than",
    '"More than" or "less than" in neither text: contradiction; in the premise: neutral; '
    "else entailment.",
    source="Liu et al. 2019, appendix C",
)
def numerical(pairs: Sequence[Pair]) -> list[Label]:
    """Solve 82 % of the numerical stress test without reading a number.

    The appendix swaps the two sides: its own counts fit only these rules, so the phrase in the
    premise means neutral and in the hypothesis entailment. As printed they get 17 %.
    """
    return [_comparison_label(pair) for pair in pairs]


def _comparison_label(pair: Pair) -> Label:
    if COMPARISON.search(pair.premise):
        return NEUTRAL
    return ENTAILMENT if COMPARISON.search(pair.hypothesis) else CONTRADICTION


@register(
    "lexical_overlap",
    "Every word shared",
    "Entailment where every word of the hypothesis is in the premise, else non-entailment.",
    source="McCoy et al. 2019, section 2",
)
def lexical_overlap(pairs: Sequence[Pair]) -> list[Label]:
    """Look each word up in the premise; a hypothesis without words is entailed.

    The released code splits at blanks, so a last word with its full stop is another word; here
    the words are Penn tokens and the marks at their ends do not count.
    """
    return [_two_way_label(set(words(p.hypothesis)) <= set(words(p.premise))) for p in pairs]


@register(
    "subsequence",
    "Words in one run",
    "Entailment where the hypothesis's words stand in the premise in one run, else non-entailment.",
    source="McCoy et al. 2019, section 2",
)
def subsequence(pairs: Sequence[Pair]) -> list[Label]:
    """Search the premise for the hypothesis as a run of whole words.

    The released code looks for a substring, which also finds "the cat" in "the category".
    """
    return [
        _two_way_label(_spaced(words(p.hypothesis)) in _spaced(words(p.premise))) for p in pairs
    ]


@register(
    "majority",
    "Most frequent label",
    "The most frequent gold label of the file at hand, for every pair.",
    source="the chance level of a set",
)
def majority(pairs: Sequence[Pair]) -> list[Label]:
    """Return the most frequent gold label for all: of equals the first of LABELS.

    Without any gold label it is entailment.
    """
    counts = Counter(pair.gold for pair in pairs if pair.gold)
    most_frequent = max((*LABELS, NON_ENTAILMENT), key=lambda label: counts[label])
    return [most_frequent] * len(pairs)


def words(text: str) -> list[str]:
    """Return the lower-cased tokens without the marks . ? ! at their ends."""
    bare = (token.strip(SENTENCE_MARKS) for token in tokenise(text.lower()))
    return [word for word in bare if word]


def _spaced(tokens: Sequence[str]) -> str:
    return "".join(f" {token} " for token in tokens)  # no token holds a blank


def _two_way_label(entailed: bool) -> Label:
    return ENTAILMENT if entailed else NON_ENTAILMENT
