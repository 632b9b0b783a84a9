"""Shuffled, cut, negated and reworded pairs (Dickerson, fritz).

A model that goes by which words two texts share says entailment whatever their order; one that
reads them does not. Where its paper and its code differ both are here: `negprem` follows the
paper, `negprem_hyp` the code, whose numbers were published; `Options` holds the rest. Words are
split at blanks for orders and subsequences, and as the Penn Treebank does for substitutions.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from probe.tasks.label_rules import KEEP, Rule
from probe.tasks.nli import FLIP, NOT_ENTAILED, Pair
from probe.text.tagger import tag
from probe.text.tokens import tokenise
from probe.text.wordnet import Relation
from probe.transforms.families.wordnet_substitution import Kind, reworded
from probe.transforms.registry import Tools, transform

SOURCE = "Dickerson, fritz"
CLAUSE = "It is not the case that"
TRIES = 100
register = partial(transform, family="heuristic", source=SOURCE)


# order and subsequence


@register(
    "shuffleboth",
    "Put the words of the premise and those of the hypothesis in random order.",
    rule=NOT_ENTAILED,
    side="both",
    applies="two different words in the premise or the hypothesis",
)
def shuffleboth(pair: Pair, tools: Tools) -> Pair | None:
    """Shuffle each side by itself; a side keeps its order only where it has no other."""
    premise, hypothesis = (
        another_order(text.split(), tools.rng) for text in (pair.premise, pair.hypothesis)
    )
    if premise is None and hypothesis is None:
        return None
    return replace(pair, premise=premise or pair.premise, hypothesis=hypothesis or pair.hypothesis)


@register(
    "shuffleprem",
    "Make the premise's words, in random order, the hypothesis.",
    rule=NOT_ENTAILED,
    side="hypothesis",
    applies="two different words in the premise (any other order would be the premise again)",
)
def shuffleprem(pair: Pair, tools: Tools) -> Pair | None:
    """Never in the premise's own order, which it would entail; the code lets that happen."""
    order = another_order(pair.premise.split(), tools.rng)
    return replace(pair, hypothesis=order) if order else None


@register(
    "premsubseq",
    "Make a part of the premise, in its order, the hypothesis.",
    rule=NOT_ENTAILED,
    side="hypothesis",
    applies="two words in the premise",
)
def premsubseq(pair: Pair, tools: Tools) -> Pair | None:
    """Cut out a stretch, never with the last word, as the code; or any words, as the paper."""
    words = pair.premise.split()
    if len(words) < 2:
        return None
    if tools.options.subsequence == "gappy":
        some = tools.rng.sample(range(len(words)), tools.rng.randrange(1, len(words)))
        return replace(pair, hypothesis=" ".join(words[i] for i in sorted(some)))
    start = tools.rng.randint(0, len(words) - 2)
    end = tools.rng.randint(start + 1, len(words) - 1)
    return replace(pair, hypothesis=" ".join(words[start:end]))


def another_order(words: Sequence[str], rng: random.Random) -> str | None:
    """Draw an order that reads differently, case aside; None where there is none."""
    own = [word.lower() for word in words]
    if len(set(own)) < 2:
        return None
    for _ in range(TRIES):  # at worst half of them draw the order there is
        drawn = rng.sample(words, len(words))
        if [word.lower() for word in drawn] != own:
            return " ".join(drawn)
    return None


# negation

negate = partial(register, needs=("tagger",))


@negate(
    "neghyp",
    f'Put "{CLAUSE}" before the hypothesis.',
    rule=FLIP,
    side="hypothesis",
    applies="a word in the hypothesis",
)
def neghyp(pair: Pair, tools: Tools) -> Pair | None:
    """Deny the hypothesis."""
    text = denied(pair.hypothesis)
    return replace(pair, hypothesis=text) if text else None


@negate(
    "negprem",
    f'Put "{CLAUSE}" before the premise.',
    rule=NOT_ENTAILED,
    side="premise",
    applies="a word in the premise",
)
def negprem(pair: Pair, tools: Tools) -> Pair | None:
    """Deny the premise, as the paper says; a contradiction of it may then well be entailed."""
    text = denied(pair.premise)
    return replace(pair, premise=text) if text else None


@negate(
    "negprem_hyp",
    f'Make the premise with "{CLAUSE}" before it the hypothesis.',
    rule=NOT_ENTAILED,
    side="hypothesis",
    applies="a word in the premise",
)
def negprem_hyp(pair: Pair, tools: Tools) -> Pair | None:
    """Contradict the premise, as the code does and so as the published numbers were made."""
    text = denied(pair.premise)
    return replace(pair, hypothesis=text) if text else None


def denied(text: str) -> str | None:
    """Put the clause before a text, whose first letter gets small; None for a text of no words.

    Unlike in the code "I", names and words all in capitals keep theirs.
    """
    text = text.strip()
    words = tokenise(text)
    if not words:
        return None
    first, near = words[0], words[:3]  # what the tag of the first depends on
    name = tag(near)[0].startswith("NNP")
    if first == "I" or name or (len(first) > 1 and first.isupper()):
        return f"{CLAUSE} {text}"
    return f"{CLAUSE} {text[0].lower()}{text[1:]}"


# synonyms and antonyms

KINDS: tuple[tuple[str, Kind, str, str], ...] = (
    ("verb", "verb", "verbs", SOURCE),
    ("noun", "noun", "nouns", SOURCE),
    ("adv", "adverb", "adverbs", SOURCE),
    ("adj", "adjective", "adjectives", f"after {SOURCE}; adjectives are our extension"),
)
RELATIONS: tuple[tuple[str, Relation, Rule], ...] = (
    ("syn", "synonym", KEEP),
    ("ant", "antonym", FLIP),
)


def _register(
    name: str, kind: Kind, words: str, source: str, relation: Relation, rule: Rule
) -> None:
    @transform(
        name,
        f"Put {relation}s for the {words} of the hypothesis.",
        family="heuristic",
        rule=rule,
        side="hypothesis",
        source=source,
        applies=f"{words} in the hypothesis that have {relation}s in WordNet",
        needs=("wordnet", "tagger"),
    )
    def substitution(pair: Pair, tools: Tools) -> Pair | None:
        text = reworded(pair.hypothesis, kind, relation, tools.rng, tools.options)
        return replace(pair, hypothesis=text) if text else None


for short, kind, words, source in KINDS:
    for ending, relation, rule in RELATIONS:
        _register(f"h{short}{ending}", kind, words, source, relation, rule)
