"""Where Liu et al.'s outcomes end and warnings begin: a plan's settings."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """Where the outcomes end, as shares: SEMANTICS names these ours, not the paper's."""

    gap: float = 0.02
    drop: float = 0.03
    cured: float = 0.80
    uncured: float = 0.25
    majority: float = 0.70
    damage: float = 0.05
    tests: int = 300


THRESHOLDS = Thresholds()
OPTIONS = {
    "gap": "--min-gap",
    "drop": "--max-drop",
    "cured": "--cured",
    "uncured": "--uncured",
    "majority": "--max-majority",
    "damage": "--max-damage",
    "tests": "--min-tests",
}
"""What each is called on the command line."""
