"""Plans, sets and points read back from JSON (`asdict` writes them), and what they ran on."""

import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from finetune.experiments.inoculation.cell import Epoch, Point
from finetune.experiments.inoculation.plan import Cell, Plan
from finetune.experiments.inoculation.sets import Sets
from finetune.experiments.inoculation.thresholds import Thresholds
from probe.models.classifier import resolve
from probe.tasks.nli import Pair

Json = dict[str, Any]  # Any: what JSON holds


def environment() -> Json:
    """Return what a result may depend on: versions, precision, processor."""
    versions = {}
    for package in ("torch", "transformers", "tokenizers", "numpy", "distributed"):
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "python": platform.python_version(),
        **versions,
        "precision": resolve("auto"),
        "machine": platform.machine(),
        "processor": platform.processor(),
        "cores": os.cpu_count(),
    }


def plan_from(row: Mapping[str, Any]) -> Plan:
    """Read a plan from its JSON."""
    lists = {name: tuple(row[name]) for name in ("sizes", "lrs", "seeds")}
    limits = Thresholds(**row.get("thresholds", {}))
    return Plan(**{**row, **lists, "thresholds": limits})


def sets_from(row: Mapping[str, Any]) -> Sets:
    """Read the sets from their JSON."""
    return Sets(**{name: tuple(_pair(pair) for pair in pairs) for name, pairs in row.items()})


def _pair(row: Mapping[str, Any]) -> Pair:
    return Pair(row["premise"], row["hypothesis"], row["gold"], row["id"])


def epoch_from(row: Mapping[str, Any]) -> Epoch:
    """Read an epoch from its JSON."""
    return Epoch(**{**row, "cell": Cell(**row["cell"])})


def point_from(row: Mapping[str, Any]) -> Point:
    """Read a point from its JSON."""
    right = {name: tuple(row[name]) for name in ("original_right", "challenge_right")}
    return Point(**{**row, "cell": Cell(**row["cell"]), **right})
