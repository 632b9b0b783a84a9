"""The transforms of the papers, registered by name."""

# ruff: noqa: F401, I001  # importing a family registers it: in this order they are shown
from probe.transforms import lexical
from probe.transforms import gradient
from probe.transforms import statistical
from probe.transforms import heuristic
from probe.transforms import stress
from probe.transforms import spelling
from probe.transforms import antonym
from probe.transforms import numerical
from probe.transforms.apply import Result, apply
from probe.transforms.options import Options
from probe.transforms.registry import REGISTRY, chain, default_of, leaves_gold, rule_of

__all__ = [
    "REGISTRY",
    "Options",
    "Result",
    "apply",
    "chain",
    "default_of",
    "leaves_gold",
    "rule_of",
]
