"""The four sets of an inoculation: from the bundled pairs or from files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probe.labelled import labelled
from probe.labels import KEEP, LABELS
from probe.pairs import Pair, bundled_pairs
from probe.transforms import REGISTRY, Options, apply
from probe.transforms.resources import ready


class InoculationError(ValueError):
    """A plan or data that cannot be used; the message is for the person."""


@dataclass(frozen=True)
class Sets:
    """The four sets. Liu's original test set was their dev set; here they are two.

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
        """The share of the most frequent label in the challenge training set."""
        golds = [pair.gold for pair in self.challenge_train]
        return max(golds.count(label) for label in LABELS) / len(golds)


def challenges() -> tuple[str, ...]:
    """Return the transforms that keep the gold label: what a model can be inoculated against."""
    return tuple(name for name in ready() if REGISTRY[name].rule is KEEP)


def challenged(challenge: str, pairs: Sequence[Pair], seed: int = 0) -> tuple[Pair, ...]:
    """Transform pairs into a challenge set; pairs that it leaves as they were are left out.

    Raises InoculationError for a transform that is not there or does not keep the gold label.
    """
    if challenge not in challenges():
        known = ", ".join(challenges())
        raise InoculationError(f"there is no challenge {challenge!r}; there are: {known}")
    results = apply(challenge, pairs, seed, Options(), lambda unread: [])
    return tuple(result.pair for row in results for result in row if result.changed)


def bundled_sets(challenge: str, seed: int = 0) -> Sets:
    """Return the sets of a challenge made from the bundled pairs. Raises InoculationError."""
    dev, test, pool = (bundled_pairs(split) for split in ("dev", "test", "pool"))
    return Sets(dev, test, challenged(challenge, pool, seed), challenged(challenge, test, seed))


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """Read the labelled pairs of a table; broken, disputed and half-empty rows are left out.

    Raises FileError or LabelError with a sentence.
    """
    return tuple(labelled(path)[0])
