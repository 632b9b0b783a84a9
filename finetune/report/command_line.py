"""The command line that repeats a run, of whatever kind."""

import shlex
from dataclasses import fields, is_dataclass
from typing import Any

from finetune.trials.params import PARAMS
from probe.data.file_options import option_words
from probe.runs.run import Json

OPTIONS = {
    param.field or param.name: param.name.replace("_", "-")
    for params in PARAMS.values()
    for param in params
    if param.name not in ("task", "labels")  # said apart
}
"""What each field of a plan is called on the command line, by its path in the plan."""


# Any: a plan of some kind
def command_line(verb: str, plan: Any, artefacts: Json, out: str) -> str:
    """Write a command; one's own files stand there without their folders.

    A run's `sources` are options: the files, and how they were read.
    """
    outputs = ["--task", plan.task, "--labels", ",".join(plan.labels)] if plan.labels else []
    files = option_words(artefacts.get("sources", {}))
    asked = ["python", "-m", "finetune", verb, *_options(plan)]
    return shlex.join([*asked, *outputs, *files, "--out", out])


def _options(plan: Any, within: str = "") -> list[str]:  # Any: as above, or a part of it
    """Return the mode, and the fields that differ from what a plan begins with, as options."""
    words, parts = list[str](), list[str]()
    for field in fields(plan):
        name, value = f"{within}{field.name}", getattr(plan, field.name)
        if is_dataclass(value):
            parts += _options(value, f"{name}.")
        elif name in OPTIONS and (field.name == "mode" or value != field.default):
            words += _option(OPTIONS[name], value)
    return [*words, *parts]


def _option(option: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [f"--{option}" if value else f"--no-{option}"]
    return [f"--{option}", ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
