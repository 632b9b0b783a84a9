"""About how long a run takes."""

from finetune.plan import Plan, cells
from finetune.sets import Sets

TRAINED, READ = 40.0, 150.0
"""Pairs a second that one core trains on and predicts, as benchmarks/latency.py measures them."""


def seconds(plan: Plan, sets: Sets) -> float:
    """Return an upper estimate: every cell runs all epochs of its patience and a few more."""
    epochs = min(plan.max_epochs, plan.patience + 3)
    tests = (len(sets.original_test) + len(sets.challenge_test)) / READ
    dev = len(sets.original_dev) / READ
    return sum(
        tests + (epochs * (dev + cell.size / TRAINED) if cell.size else dev) for cell in cells(plan)
    )


def estimate(plan: Plan, sets: Sets) -> str:
    """Return the estimate in words."""
    wait = seconds(plan, sets)
    return f"{wait / 60:.0f} min" if wait >= 90 else f"{max(10, round(wait, -1)):.0f} s"
