"""Pairs from templates, generated lazily for all three kinds."""

import random
from collections.abc import Iterator, Sequence
from itertools import count as count_up
from itertools import islice
from typing import Any

from probe.errors import TemplateError
from probe.stopping import check_stop
from probe.templates.grammar import grammar
from probe.templates.pairs import TemplatePairs
from probe.templates.request import Request, select


def generate(request: Request, n: int, seed: int = 0) -> Iterator[Any]:  # Any: the task's own
    """Yield n pairs, each computed when it is asked for; memory does not grow with n.

    Every round takes one pair from each template, the templates in a new order. The same request
    and seed always give the same pairs, so the first k of a larger n are those of n = k. With the
    same seed B2 gives the pairs of B with the other verb, and another range of the same width the
    same pairs with all numbers shifted, as in the released files.

    Dative and HANS templates give `count(request)` pairs, none twice. Numerical templates never
    end: once all words and hypotheses of a template were used they come again, with numbers that
    they did not have before as long as the range has twice as many numbers as they were repeated.
    Raises TemplateError at once where n is too large.
    """
    available = count(request)
    if n < 0:
        raise TemplateError(f"n is {n}; ask for 0 pairs or more")
    if available is not None and n > available:
        raise TemplateError(
            f"{n:,} pairs were asked for, but what was asked for has {available:,} different ones"
        )
    return islice(_rounds(_all_pairs(request, seed), request, seed), n)


def count(request: Request) -> int | None:
    """Return how many different pairs there are, None where new numbers never end.

    Raises TemplateError.
    """
    sizes = [pairs.size for pairs in _all_pairs(request, 0)]
    if request.kind == "numerical":
        return None
    return len(sizes) * min(sizes) if request.balance else sum(sizes)


def _all_pairs(request: Request, seed: int) -> list[TemplatePairs]:
    """Return the pairs of each template of a request."""
    templates = select(request)
    return [TemplatePairs(grammar(request.kind), template, request, seed) for template in templates]


def _rounds(
    all_pairs: Sequence[TemplatePairs], request: Request, seed: int
) -> Iterator[Any]:  # Any: the task's own
    """Yield one pair of each template in turn; without balance, as long as it has any."""
    endless = request.kind == "numerical"
    rng = random.Random(f"{seed}|rounds")
    for number in count_up():
        check_stop()
        remaining = [pairs for pairs in all_pairs if endless or number < pairs.size]
        if not remaining:
            return
        for pairs in rng.sample(remaining, len(remaining)):
            yield pairs[number]
