"""The ordinary labelled pairs that an inoculation starts from."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from probe.tasks.examples import bundled_pairs
from probe.tasks.nli import Pair


@dataclass(frozen=True)
class SourceData:
    """Original dev and test pairs, and a pool that challenge training sets are made from."""

    dev: tuple[Pair, ...]
    test: tuple[Pair, ...]
    pool: tuple[Pair, ...]


def bundled() -> SourceData:
    """Return the pairs that come with the app."""
    return SourceData(bundled_pairs("dev"), bundled_pairs("test"), bundled_pairs("pool"))


def split_by_premise(
    pairs: Sequence[Pair], n: int, seed: int = 0
) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Draw whole premises until there are n pairs or a few more; return these and the rest.

    No premise is on both sides.
    """
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.premise, []).append(pair)
    premises = sorted(groups)
    random.Random(f"{seed}|premises").shuffle(premises)
    sides: tuple[list[Pair], list[Pair]] = ([], [])
    for premise in premises:
        sides[len(sides[0]) >= n].extend(groups[premise])
    return tuple(sides[0]), tuple(sides[1])


def unseen(pairs: Sequence[Pair], *others: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs whose premise is in none of the other sets."""
    taken = {pair.premise for other in others for pair in other}
    return tuple(pair for pair in pairs if pair.premise not in taken)
