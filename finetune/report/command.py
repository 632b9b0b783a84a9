"""The command line that repeats a run."""

import shlex
from dataclasses import fields

from finetune.experiments.inoculation.plan import THRESHOLD_OPTIONS, THRESHOLDS, Plan
from finetune.experiments.inoculation.run import InoculationRun
from finetune.report.sweep import model_name
from probe.runs.gallery import OWNER

OPTIONAL_FIELDS = ("batch", "max_epochs", "patience", "precision")
"""Fields of a plan that the command names where they differ from what a plan begins with."""


def command(run: InoculationRun) -> str:
    """Return the command that repeats a run; one's own files stand there without their folders.

    A run's `sources` name the option that a file belongs to.
    """
    plan = run.plan
    lists = {
        f"--{name}": ",".join(str(value) for value in getattr(plan, name))
        for name in ("sizes", "lrs", "seeds")
    }
    asked = {"--model": plan.model, "--challenge": plan.challenge, **lists, "--mode": plan.mode}
    files = {f"--{name}": str(file) for name, file in run.artefacts.get("sources", {}).items()}
    out = {"--out": f"inoculated/{model_name(run)}-{plan.challenge}"}
    outputs = {"--task": plan.task, "--labels": ",".join(plan.labels)} if plan.labels else {}
    options = asked | outputs | files | _changed(plan) | out
    parts = [part for option in options.items() for part in option]
    flags = ["--include-epoch0"] if plan.include_epoch0 else []
    verb = "gallery" if run.owner == OWNER else "inoculate"
    return shlex.join(["python", "-m", "finetune", verb, *parts, *flags])


def _changed(plan: Plan) -> dict[str, str]:
    """Return the options that differ from what a plan begins with."""
    begin = {field.name: field.default for field in fields(Plan)}
    options = {
        f"--{name.replace('_', '-')}": str(getattr(plan, name))
        for name in OPTIONAL_FIELDS
        if getattr(plan, name) != begin[name]
    }
    limits = {
        option: f"{getattr(plan.thresholds, name):g}"
        for name, option in THRESHOLD_OPTIONS.items()
        if getattr(plan.thresholds, name) != getattr(THRESHOLDS, name)
    }
    return options | limits
