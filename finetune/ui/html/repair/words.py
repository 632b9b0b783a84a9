"""What the results of repairs are called: broken texts in a word or two, models, figures."""

from collections.abc import Mapping
from pathlib import Path

from probe.models.bundled import title_of
from probe.runs.run import StoredRun
from probe.statistics import NOTHING as NOT_MEASURED
from probe.statistics import Estimate, wilson
from probe.transforms.registry import REGISTRY

BRIEF: Mapping[str, str] = {
    "sort": "Sort",
    "reverse": "Reverse",
    "shuffle": "Shuffle",
    "copysort": "Copy sorted",
    "drop": "Drop",
    "repeat": "Repeat",
    "replace": "Replace",
    "copyone": "Copy one",
    "pbsmt": "Translate",
}
"""Transforms in a word or two, for the heads of a heat map."""


def brief(transform: str) -> str:
    """Return a transform in a word or two, its title where it has no such name."""
    return BRIEF.get(transform) or (
        REGISTRY[transform].title if transform in REGISTRY else transform
    )


def model_title(run: StoredRun) -> str:
    """Return what a person calls a run's model."""
    return title_of(Path(run.plan["model"]).name)


def stem(run: StoredRun, what: str) -> str:
    """Return the beginning of a file's name: what is in it, of which model."""
    return f"{what}-{Path(run.plan['model']).name}"


def points(share: float) -> str:
    """Write a share as points of a hundred, with a decimal where it is small."""
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.1f}"


def repeats(n: int) -> str:
    """Say of how many trainings a figure is the mean."""
    return f"Mean of {n} repeats" if n > 1 else "One repeat"


def exact(value: float | None) -> Estimate:
    """Return a published share, which has no interval."""
    return NOT_MEASURED if value is None else Estimate(value, value, value, 1)


def estimate(value: float, n: int) -> Estimate:
    """Return a mean share with Wilson's interval for n examples.

    Neither their broken versions nor repeats are counted: what is made of one example is not
    independent, so that the interval is rather too wide than too narrow.
    """
    return wilson(value * n, n)
