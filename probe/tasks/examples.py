"""The NLI pairs that come with the app."""

import csv
import random
from dataclasses import dataclass
from functools import cache

from probe.settings import ASSETS
from probe.tasks.nli import NLI, Pair


@dataclass(frozen=True)
class BundledPair(Pair):
    """A pair from assets/pairs.csv with its genre and its split: dev, test or pool."""

    genre: str = ""
    split: str = ""


@cache
def bundled_pairs(split: str = "") -> tuple[BundledPair, ...]:
    """Return the pairs written for this project, all of them or one split."""
    with (ASSETS / "pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        BundledPair(
            row["premise"],
            row["hypothesis"],
            NLI.read_gold(row["label"]),
            row["id"],
            row["genre"],
            row["split"],
        )
        for row in rows
        if split in ("", row["split"])
    )


def random_pair(seed: int) -> BundledPair:
    """Return one bundled test pair; the same seed gives the same pair."""
    return random.Random(f"{seed}|pair").choice(bundled_pairs("test"))
