"""The transforms of the papers, registered by name."""

# ruff: noqa: F401, I001  # importing a family registers it: in this order they are shown
from probe.transforms.families import lexical
from probe.transforms.families import importance
from probe.transforms.families import pbsmt
from probe.transforms.families import heuristics
from probe.transforms.families import distractors
from probe.transforms.families import stress
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
