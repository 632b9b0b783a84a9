"""The numbers of a numerical pair: l < n < h (Rozen et al. 2019, measured in their files)."""

import random
from collections.abc import Collection
from math import comb

from probe.templates.request import Request

TRIES = 20


def draw(request: Request, gap: str, rng: random.Random) -> dict[str, int]:
    """Draw three different numbers of the range, all triples alike, and sort them.

    With `integer_strict`, `gap` l or h leaves at least one whole number between it and n.
    """
    parted = request.integer_strict and gap
    least, n, most = sorted(rng.sample(range(request.low, request.high + (not parted)), 3))
    if parted:  # every triple with the gap is a triple of a range one shorter, pushed apart
        n, most = (n + 1, most + 1) if gap == "l" else (n, most + 1)
    return {"l": least, "n": n, "h": most}


def fresh(
    request: Request, gap: str, used: Collection[str], turn: int, rng: random.Random
) -> dict[str, int]:
    """Return the numbers of the turn-th time (from 0) that one sentence comes round.

    `rng` must start alike every time: the earlier draws are made again, and one whose `used`
    numbers came before is drawn anew. Once a sentence has come round half as often as the
    range has numbers, or pairs of numbers, to offer it, they may come again.
    """
    seen: set[tuple[int, ...]] = set()
    numbers = draw(request, gap, rng)
    room = comb(request.high - request.low - 2 + len(used), len(used))
    again = turn if turn < room // 2 else 0
    for _ in range(TRIES * (again + 1)):
        seen.add(tuple(numbers[name] for name in used))
        if len(seen) > again:
            break
        numbers = draw(request, gap, rng)
    return numbers
