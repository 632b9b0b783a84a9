"""The command line that repeats a run."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

from finetune.experiments.calibration import experiment as calibration
from finetune.experiments.calibration.plan import plan_from as calibration_plan
from finetune.experiments.generalisation.run import GeneralisationRun
from finetune.experiments.inoculation.plan import THRESHOLD_OPTIONS
from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.mitigation import experiment as mitigation
from finetune.experiments.mitigation.plan import plan_from as mitigation_plan
from finetune.experiments.transfer import experiment as transfer
from finetune.experiments.transfer.plan import plan_from as transfer_plan
from finetune.report.repair_tables import name_of
from finetune.report.sweep import model_name
from probe.runs.gallery import OWNER
from probe.runs.run import Json, StoredRun

UNNAMED = ("task", "labels", "rows", "columns", "dev", "max_tokens", "training", "thresholds")
"""Fields of a plan that are no option of that name."""
LIMIT_OPTIONS = {**THRESHOLD_OPTIONS, "loss": "--max-loss"}
PLANS: Mapping[str, tuple[str, Callable[[Json], Any]]] = {  # Any: each kind has a plan of its own
    calibration.KIND: ("calibrate", calibration_plan),
    mitigation.KIND: ("mitigate", mitigation_plan),
    transfer.KIND: ("transfer", transfer_plan),
}
"""The command of each kind of repair, and how its plan is read."""


def command(run: InoculationRun) -> str:
    """Return the command that repeats an inoculation."""
    verb = "gallery" if run.owner == OWNER else "inoculate"
    return _line(
        verb, run.plan, run.artefacts, f"inoculated/{model_name(run)}-{run.plan.challenge}"
    )


def generalise_command(run: GeneralisationRun) -> str:
    """Return the command that repeats a generalisation."""
    plan = run.plan
    out = f"generalised/{Path(plan.model).name}-{plan.phenomenon}-{plan.vary}"
    return _line("generalise", plan, run.artefacts, out)


def repair_command(run: StoredRun) -> str:
    """Return the command that repeats a calibration, a mitigation or a transfer."""
    verb, read = PLANS[run.kind]
    return _line(verb, read(run.plan), run.artefacts, f"{run.kind}/{name_of(run)}")


def _line(verb: str, plan: Any, artefacts: Json, out: str) -> str:  # Any: a plan of some kind
    """Write a command; one's own files stand there without their folders.

    A run's `sources` name the option that a file belongs to.
    """
    outputs = ["--task", plan.task, "--labels", ",".join(plan.labels)] if plan.labels else []
    sources = artefacts.get("sources", {}).items()
    files = [part for name, file in sources for part in (f"--{name}", str(file))]
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
