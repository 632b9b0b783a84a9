"""The command line that repeats an inoculation."""

from finetune.experiments.inoculation.run import InoculationRun
from finetune.report.command_line import command_line
from finetune.report.inoculation.sweep import model_name
from probe.runs.gallery import OWNER


def command(run: InoculationRun) -> str:
    """Return the command that repeats an inoculation."""
    verb = "gallery" if run.owner == OWNER else "inoculate"
    return command_line(
        verb, run.plan, run.artefacts, f"inoculated/{model_name(run)}-{run.plan.challenge}"
    )
