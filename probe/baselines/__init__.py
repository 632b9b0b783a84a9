"""Baselines beside the models: what rules that understand nothing get right on a set."""

from probe.baselines import hypothesis_only, surface  # noqa: F401  # importing registers them
from probe.baselines.evaluate import Judged, Tally, judge
from probe.baselines.registry import RULES, Baseline, UnknownRule

__all__ = ["RULES", "Baseline", "Judged", "Tally", "UnknownRule", "judge"]
