"""The command line that repeats a repair."""

from collections.abc import Callable, Mapping
from typing import Any

from finetune.experiments.calibration import experiment as calibration
from finetune.experiments.calibration.plan import plan_from as calibration_plan
from finetune.experiments.mitigation import experiment as mitigation
from finetune.experiments.mitigation.plan import plan_from as mitigation_plan
from finetune.experiments.transfer import experiment as transfer
from finetune.experiments.transfer.plan import plan_from as transfer_plan
from finetune.report.command_line import command_line
from finetune.report.repair.tables import name_of
from probe.runs.run import Json, StoredRun

PLANS: Mapping[str, tuple[str, Callable[[Json], Any]]] = {  # Any: each kind has a plan of its own
    calibration.KIND: ("calibrate", calibration_plan),
    mitigation.KIND: ("mitigate", mitigation_plan),
    transfer.KIND: ("transfer", transfer_plan),
}
"""The command of each kind of repair, and how its plan is read."""


def repair_command(run: StoredRun) -> str:
    """Return the command that repeats a calibration, a mitigation or a transfer."""
    verb, read = PLANS[run.kind]
    return command_line(verb, read(run.plan), run.artefacts, f"{run.kind}/{name_of(run)}")
