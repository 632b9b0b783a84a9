"""The command line that repeats a run, of whatever kind."""

import shlex
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from finetune.trials import inoculation
from finetune.trials.params import PARAMS
from finetune.trials.planning import KINDS
from probe.data.file_options import option_words
from probe.runs.gallery import OWNER
from probe.runs.run import Run

OPTIONS = {
    param.field or param.name: param.name.replace("_", "-")
    for params in PARAMS.values()
    for param in params
    if param.name not in ("task", "labels")  # said apart
}
"""What each field of a plan is called on the command line, by its path in the plan."""


# Any: a run and a plan of some kind, as stored or with types of its own
def command(run: Run[Any, Any, Any, Any], plan: Any = None) -> str:
    """Return the command that repeats a run, or computes another plan in its place.

    One's own files stand there without their folders. A run's `sources` are options: the files, and
    how they were read.
    """
    kind = KINDS[run.kind]
    verb = kind.verb
    if run.kind == inoculation.KIND and run.owner == OWNER:
        verb = "gallery"
    if plan is None:
        plan = kind.trials.plan_from(run.plan) if isinstance(run.plan, dict) else run.plan
    outputs = ["--task", plan.task, "--labels", ",".join(plan.labels)] if plan.labels else []
    files = option_words(run.artefacts.get("sources", {}))
    out = kind.folder.format(model=Path(plan.model).name, plan=plan)
    asked = ["python", "-m", "finetune", verb, *_options(plan)]
    return shlex.join([*asked, *outputs, *files, "--out", out])


def _options(plan: Any, within: str = "") -> list[str]:  # Any: as above, or a part of it
    """Return the mode, and the fields that differ from what a plan begins with, as options."""
    words, parts = list[str](), list[str]()
    for field in fields(plan):
        name, value = f"{within}{field.name}", getattr(plan, field.name)
        if is_dataclass(value):
            parts += _options(value, f"{name}.")
        elif field.name == "mode" or not (value == field.default or _has_commas(value)):
            option = OPTIONS.get(name) or OPTIONS.get(field.name)
            words += _option(option, value) if option else []
    return [*words, *parts]


def _has_commas(value: object) -> bool:
    """Whether a list of names cannot be written with commas; then it was every one there is."""
    return isinstance(value, tuple) and any("," in str(each) for each in value)


def _option(option: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [f"--{option}" if value else f"--no-{option}"]
    return [f"--{option}", ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
