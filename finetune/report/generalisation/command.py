"""The command line that repeats a generalisation."""

from pathlib import Path

from finetune.experiments.generalisation.run import GeneralisationRun
from finetune.report.command_line import command_line


def generalise_command(run: GeneralisationRun) -> str:
    """Return the command that repeats a generalisation."""
    plan = run.plan
    out = f"generalised/{Path(plan.model).name}-{plan.phenomenon}-{plan.vary}"
    return command_line("generalise", plan, run.artefacts, out)
