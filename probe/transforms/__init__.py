"""The transforms of the papers, registered by name."""

from probe.transforms import gradient, lexical, stress  # noqa: F401  # importing registers them
from probe.transforms.apply import Result, apply
from probe.transforms.registry import REGISTRY, Options, chain, default_of, rule_of

__all__ = ["REGISTRY", "Options", "Result", "apply", "chain", "default_of", "rule_of"]
