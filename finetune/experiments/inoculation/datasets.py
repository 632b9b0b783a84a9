"""The sets of an inoculation, and the ordinary labelled pairs that they are made from."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from probe.models.hashes import pairs_hash
from probe.runs.run import Json
from probe.tasks.examples import bundled_pairs
from probe.tasks.nli import LABELS, Pair, matches


@dataclass(frozen=True)
class Sets:
    """The sets. Liu's original test set was their dev set; here they are two.

    `control` is a sister of the challenge that no cell trains on (Naik et al. 2018, table 5); it
    may be empty.
    """

    original_dev: tuple[Pair, ...]
    original_test: tuple[Pair, ...]
    challenge_train: tuple[Pair, ...]
    challenge_test: tuple[Pair, ...]
    control: tuple[Pair, ...] = ()

    @property
    def paired(self) -> bool:
        """Whether the test sets hold the same rows, so that they can be resampled together."""
        original = [pair.id for pair in self.original_test]
        return all(original) and original == [pair.id for pair in self.challenge_test]

    @property
    def majority(self) -> float:
        """The share of the challenge training set that one label for every pair gets right.

        It is the share of the commonest label, save that non-entailment is right for two.
        """
        golds = [pair.gold for pair in self.challenge_train if pair.gold]
        return max(sum(matches(label, gold) for gold in golds) for label in LABELS) / len(golds)


def sets_facts(sets: Sets) -> Json:
    """Return for each set n, how many pairs it has, and sha256, their hash."""
    return {
        name: {"n": len(pairs), "sha256": pairs_hash(pairs)} for name, pairs in vars(sets).items()
    }


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
