"""Statements about a number in the premise, their labels by arithmetic (Naik et al. 2018).

A premise with a number and a name yields three pairs. Its first digit is changed, "less than" or
"more than" put before the new number so that the old one satisfies it: entailment. The two swapped:
neutral. The number changed, or the same number with the phrase: contradiction.

A number is a token of digits alone. Numbers with commas, decimals or a sign are passed over, as
the code does through int(). Passed over here as well: 0, for "less than 1" leaves nothing else in
counts of things; a number attached to the characters before it ($350); and one that a comparison
introduces already ("more than 6"), where the new phrase would deny the label.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI, Pair
from probe.text import tagger
from probe.text.words import Span, spans, substitute
from probe.transforms.options import Number
from probe.transforms.registry import Tools, transform

DIGITS = re.compile(r"[0-9]+")
NAMES = frozenset({"NNP", "NNPS"})
COMPARED = """
than least most over under above below about around nearly almost approximately roughly between
exceeding within
"""
COMPARISONS = frozenset(COMPARED.split())
OPENERS = "([{\"'“‘"
NEW_DIGITS = "12345678"  # the code draws from 1 to 8; a 9 can only be an old digit
PHRASES = ("more than", "less than")
CHOICES: Mapping[Number, Callable[[Random, Sequence[Span]], Span]] = {
    "first": lambda rng, numbers: numbers[0],
    "random": lambda rng, numbers: rng.choice(numbers),
}


@transform(
    "numerical",
    "Change a number",
    "Makes three statements about a number in the premise: entailed, contradicted and neutral.",
    family="stress",
    rule=COMPUTED,
    fields=NLI.fields,
    source="Naik et al. 2018, section 3",
    applies="a number and a name in the premise",
    needs=("tagger",),
    options=("number",),
    language="English",
)
def numerical(pair: Pair, tools: Tools) -> tuple[Pair, ...] | None:
    """Return the entailed, the contradicted and the neutral pair, in this order.

    The hypothesis of the pair plays no part. From "Tim has 350 nails." may come "Tim has less than
    750 nails." The paper takes any number, its code the first (`number`); where there is none the
    code repeats the statements of the row before, and this transform does not apply. The code uses
    a recogniser of persons, places and organisations, this one a tagger of proper nouns.
    """
    tokens = spans(pair.premise)
    numbers = [token for i, token in enumerate(tokens) if _usable(pair.premise, tokens, i)]
    if not numbers or not NAMES & set(tagger.tag([token.word for token in tokens])):
        return None
    token = CHOICES[tools.options.number](tools.rng, numbers)
    number = token.word.lstrip("0")

    def stating(phrase: str) -> str:
        return substitute(pair.premise, [(token.start, token.end, phrase)])

    entailed = stating(_entailed(number, tools.rng))
    contradicted = stating(_contradicted(number, tools.rng))
    return (
        replace(pair, hypothesis=entailed, gold=ENTAILMENT),
        replace(pair, hypothesis=contradicted, gold=CONTRADICTION),
        replace(pair, premise=entailed, hypothesis=pair.premise, gold=NEUTRAL),
    )


def _usable(text: str, tokens: Sequence[Span], i: int) -> bool:
    token = tokens[i]
    if not DIGITS.fullmatch(token.word) or not token.word.strip("0"):
        return False
    attached = token.start > 0 and not text[token.start - 1].isspace()
    if attached and text[token.start - 1] not in OPENERS:
        return False
    return i == 0 or tokens[i - 1].word.lower() not in COMPARISONS


def _entailed(number: str, rng: Random) -> str:
    changed = _with_another_digit(number, rng)
    # as many digits as before: the first decides which is larger
    return f"less than {changed}" if number[0] < changed[0] else f"more than {changed}"


def _contradicted(number: str, rng: Random) -> str:
    if rng.random() < 0.5:
        return _with_another_digit(number, rng)
    return f"{rng.choice(PHRASES)} {number}"


def _with_another_digit(number: str, rng: Random) -> str:
    return rng.choice([digit for digit in NEW_DIGITS if digit != number[0]]) + number[1:]
