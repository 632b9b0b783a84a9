"""The numbers of a numerical pair: l < n < h (Rozen et al. 2019, measured in their files)."""

import random
from collections.abc import Collection
from math import comb

from probe.templates.request import Request

MAX_DRAWS = 20  # for a sentence and for each of its repetitions


def draw(request: Request, gap: str, rng: random.Random) -> dict[str, int]:
    """Draw three different numbers of the range, all triples equally likely, and sort them.

    With `integer_strict`, `gap` l or h leaves at least one whole number between it and n.
    """
    strict = request.integer_strict and gap
    low, n, high = sorted(rng.sample(range(request.low, request.high + (not strict)), 3))
    if strict:  # every triple with the gap is a triple of a range one shorter, pushed apart
        n, high = (n + 1, high + 1) if gap == "l" else (n, high + 1)
    return {"l": low, "n": n, "h": high}


def draw_new(
    request: Request, gap: str, used: Collection[str], repetition: int, rng: random.Random
) -> dict[str, int]:
    """Return the numbers of a sentence's occurrence with this number, counted from 0.

    `rng` must start in the same state for each occurrence: the earlier draws are repeated, and a
    draw whose `used` numbers came before is drawn anew. Once a sentence has occurred half as often
    as the range has numbers, or pairs of numbers, to offer it, numbers may be repeated.
    """
    seen: set[tuple[int, ...]] = set()
    numbers = draw(request, gap, rng)
    choices = comb(request.high - request.low - 2 + len(used), len(used))
    distinct_before = repetition if repetition < choices // 2 else 0
    for _ in range(MAX_DRAWS * (distinct_before + 1)):
        seen.add(tuple(numbers[name] for name in used))
        if len(seen) > distinct_before:
            break
        numbers = draw(request, gap, rng)
    return numbers
