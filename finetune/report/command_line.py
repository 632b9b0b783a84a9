"""The command line that repeats a run, of whatever kind."""

import shlex
from dataclasses import fields
from itertools import chain
from typing import Any

from finetune.trials.inoculation_plan import THRESHOLD_OPTIONS
from probe.data.file_options import option_words
from probe.runs.run import Json

UNNAMED = ("task", "labels", "rows", "columns", "dev", "max_tokens", "training", "thresholds")
"""Fields of a plan that are no option of that name."""
LIMIT_OPTIONS = {**THRESHOLD_OPTIONS, "loss": "--max-loss"}


# Any: a plan of some kind
def command_line(verb: str, plan: Any, artefacts: Json, out: str) -> str:
    """Write a command; one's own files stand there without their folders.

    A run's `sources` are options: the files, and how they were read.
    """
    outputs = ["--task", plan.task, "--labels", ",".join(plan.labels)] if plan.labels else []
    files = option_words(artefacts.get("sources", {}))
    asked = ["python", "-m", "finetune", verb, *_options(plan)]
    return shlex.join([*asked, *outputs, *files, "--out", out])


def _options(plan: Any) -> list[str]:  # Any: as above
    """Return the mode, and the fields that differ from what a plan begins with, as options."""
    parts = [plan, plan.training] if hasattr(plan, "training") else [plan]
    named = [
        _option(field.name, getattr(part, field.name))
        for part in parts
        for field in fields(part)
        if field.name not in UNNAMED
        and (field.name == "mode" or getattr(part, field.name) != field.default)
    ]
    return [*chain.from_iterable(named), *_limits(getattr(plan, "thresholds", None))]


def _option(name: str, value: object) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option if value else f"--no-{option[2:]}"]
    return [option, ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]


def _limits(thresholds: Any) -> list[str]:  # Any: as above
    """Return the thresholds that differ from the usual ones; a plan of repairs has none."""
    if thresholds is None:
        return []
    return [
        part
        for field in fields(thresholds)
        if getattr(thresholds, field.name) != field.default
        for part in (LIMIT_OPTIONS[field.name], f"{getattr(thresholds, field.name):g}")
    ]
