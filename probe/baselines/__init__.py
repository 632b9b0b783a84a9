"""Rule baselines beside the models: the accuracy that a set allows without any understanding."""

from probe.baselines import hypothesis_only, surface  # noqa: F401  # importing registers them
from probe.baselines.registry import BASELINES, Baseline, baselines_for

__all__ = ["BASELINES", "Baseline", "baselines_for"]
