"""The command lines that repeat an inoculation, and that would tell where it tells too little."""

from finetune.experiments.inoculation.evidence import telling_plan
from finetune.experiments.inoculation.plan import Plan
from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.command_line import command_line
from finetune.report.inoculation.sweep import model_name
from probe.errors import UserError
from probe.runs.gallery import OWNER


def command(run: InoculationRun) -> str:
    """Return the command that repeats an inoculation."""
    return _command(run, run.plan)


def _command(run: InoculationRun, plan: Plan) -> str:
    verb = "gallery" if run.owner == OWNER else "inoculate"
    return command_line(
        verb, plan, run.artefacts, f"inoculated/{model_name(run)}-{run.plan.challenge}"
    )


def plan_that_tells(run: InoculationRun, selection: Selection) -> Plan | None:
    """Return the smallest plan that would tell what a judged run does not.

    None where nothing is lacking, where only more texts would do, where every training diverged, or
    where the model is gone.
    """
    found = run.verdict[selection]
    if all(point.diverged for point in run.results if point.cell.size == found["shown_at"]):
        return None
    missing = [each["missing"] for each in found["lacks"]]
    try:
        return telling_plan(
            run.plan, missing, found["shown_at"], run.verdict["evidence"]["available"]
        )
    except UserError:
        return None


def telling_command(run: InoculationRun, selection: Selection) -> str:
    """Give the command of that plan in a sentence, "" where there is none."""
    plan = plan_that_tells(run, selection)
    return f"What would tell: {_command(run, plan)}" if plan else ""
