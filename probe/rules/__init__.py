"""Baselines beside the models: what rules that understand nothing get right on a set."""

from probe.rules import hypothesis_only, surface  # noqa: F401  # importing registers them
from probe.rules.judging import Judged, Tally, judge
from probe.rules.registry import RULES, Baseline, UnknownRule

__all__ = ["RULES", "Baseline", "Judged", "Tally", "UnknownRule", "judge"]
