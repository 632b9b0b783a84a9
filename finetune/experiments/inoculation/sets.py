"""The sets of an inoculation, and what is read off them."""

from dataclasses import dataclass
from typing import Any

from probe.models.hashes import pairs_hash
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


def sets_facts(sets: Sets) -> dict[str, Any]:  # Any: what JSON holds
    """Return for each set n, how many pairs it has, and sha256, their hash."""
    return {
        name: {"n": len(pairs), "sha256": pairs_hash(pairs)} for name, pairs in vars(sets).items()
    }
