"""Baselines beside the models: what rules that understand nothing get right on a set."""

from probe.baselines import hypothesis_only, surface  # noqa: F401  # importing registers them
from probe.baselines.evaluate import Evaluation, Tally, judge
from probe.baselines.registry import BASELINES, Baseline, baselines_for
from probe.errors import UnknownBaseline

__all__ = [
    "BASELINES",
    "Baseline",
    "Evaluation",
    "Tally",
    "UnknownBaseline",
    "baselines_for",
    "judge",
]
