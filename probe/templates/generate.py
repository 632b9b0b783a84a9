"""Pairs from templates, one at a time: the one expander of all three kinds."""

import random
from collections.abc import Iterator, Sequence
from itertools import count as counting
from itertools import islice

from probe.errors import TemplateError
from probe.templates.grammar import grammar
from probe.templates.pairs import TemplatePair, TemplatePairs
from probe.templates.request import Request
from probe.templates.selection import chosen


def generate(request: Request, n: int, seed: int = 0) -> Iterator[TemplatePair]:
    """Make n pairs, one when it is asked for; nothing grows with n.

    Every round takes one pair from each template, the templates in a new order. The same request
    and seed always give the same pairs, so the first k of a larger n are those of n = k. With the
    same seed B2 gives the pairs of B with the other verb, and another range of the same width the
    same pairs with all numbers shifted, as in the released files.

    No pair comes twice from dative and HANS templates, which make `count(request)` pairs.
    Numerical templates never end: once all words and hypotheses of a template were used they
    come again, with numbers that they did not have before as long as the range has twice as
    many numbers as they came round. Raises TemplateError at once where n is too large.
    """
    there = count(request)
    if n < 0:
        raise TemplateError(f"n is {n}; ask for 0 pairs or more")
    if there is not None and n > there:
        raise TemplateError(
            f"{n:,} pairs were asked for, but what was asked for has {there:,} different ones"
        )
    return islice(_rounds(_streams(request, seed), request, seed), n)


def count(request: Request) -> int | None:
    """Return how many different pairs there are, None where fresh numbers never end.

    Raises TemplateError.
    """
    sizes = [stream.size for stream in _streams(request, 0)]
    if request.kind == "numerical":
        return None
    return len(sizes) * min(sizes) if request.balance else sum(sizes)


def _streams(request: Request, seed: int) -> list[TemplatePairs]:
    templates = chosen(request)
    return [TemplatePairs(grammar(request.kind), template, request, seed) for template in templates]


def _rounds(
    streams: Sequence[TemplatePairs], request: Request, seed: int
) -> Iterator[TemplatePair]:
    """Take one pair of each template in turn; without balance, as long as it has any."""
    endless = request.kind == "numerical"
    rng = random.Random(f"{seed}|rounds")
    for turn in counting():
        left = [stream for stream in streams if endless or turn < stream.size]
        if not left:
            return
        for stream in rng.sample(left, len(left)):
            yield stream[turn]
