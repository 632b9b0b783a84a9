"""What a calibration comes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from finetune.experiments.calibration.plan import Cell
from probe.calibration import Bin, Calibration
from probe.metrics import Estimate, share
from probe.runs.run import Json


@dataclass(frozen=True)
class Agreement:
    """How many of n destroyed examples get the answer expected, and the mean confidence."""

    agree: int
    n: int
    confidence: float

    @property
    def estimate(self) -> Estimate:
        """The share with its interval."""
        return share([True] * self.agree + [False] * (self.n - self.agree))


@dataclass(frozen=True)
class Point:
    """What a cell came to: calibration on clean test, agreement on word salad by transform.

    `temperature` is 1 where none was fitted.
    """

    cell: Cell
    calibration: Calibration
    salad: Mapping[str, Agreement]
    temperature: float
    epochs: int
    seconds: float

    @property
    def agreement(self) -> float:
        """The mean of the transforms' agreements, each counting alike, as in the paper's tables."""
        return fmean(each.agree / each.n for each in self.salad.values() if each.n)


def point_from(key: Json, values: Json) -> Point:
    """Read a point from its cell's key and its JSON."""
    measured = values["calibration"]
    bins = tuple(Bin(**each) for each in measured["bins"])
    return Point(
        **{
            **values,
            "cell": Cell(**key),
            "calibration": Calibration(**{**measured, "bins": bins}),
            "salad": {name: Agreement(**each) for name, each in values["salad"].items()},
        }
    )
