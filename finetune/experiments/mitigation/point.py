"""What a repair comes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from finetune.experiments.mitigation.plan import Cell
from probe.metrics import Estimate, share
from probe.runs.run import Json


@dataclass(frozen=True)
class Found:
    """How many of n are what is looked for."""

    count: int
    n: int

    @property
    def share(self) -> float:
        """The share, 0 of none."""
        return self.count / self.n if self.n else 0.0

    @property
    def estimate(self) -> Estimate:
        """The share with its interval."""
        return share([True] * self.count + [False] * (self.n - self.count))


@dataclass(frozen=True)
class Point:
    """What a cell came to.

    `clean` counts the clean test examples with the right answer, `rejected` those that are called
    invalid, `found` by transform the destroyed ones that are. `commonest` is the share of clean
    test examples that get the commonest answer, `gold_commonest` that of the commonest gold label.
    `threshold` is 0 and `temperature` 1 where there is none.
    """

    cell: Cell
    clean: Found
    rejected: Found
    found: Mapping[str, Found]
    commonest: float
    gold_commonest: float
    threshold: float
    temperature: float
    epochs: int
    seconds: float

    @property
    def invalid_found(self) -> float:
        """The mean over the transforms, each counting alike, as in the paper's table 12."""
        return fmean(each.share for each in self.found.values())


def point_from(key: Json, values: Json) -> Point:
    """Read a point from its cell's key and its JSON."""
    return Point(
        **{
            **values,
            "cell": Cell(**key),
            "clean": Found(**values["clean"]),
            "rejected": Found(**values["rejected"]),
            "found": {name: Found(**each) for name, each in values["found"].items()},
        }
    )
