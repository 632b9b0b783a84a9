"""What inoculation says of the same phenomenon; it cannot tell a skill from a fitted set."""

from collections.abc import Iterable

from finetune.experiments.generalisation.conditions import FILE
from finetune.experiments.generalisation.plan import Plan
from finetune.experiments.inoculation.challenges import template_challenges
from finetune.experiments.inoculation.run import InoculationRun, inoculation_runs
from probe.runs.run import StoredRun


def same_phenomenon(plan: Plan, runs: Iterable[StoredRun]) -> InoculationRun | None:
    """Return the first judged inoculation of the same model on the same phenomenon.

    The templates' own challenge counts, and a challenge of the phenomenon's name, such as the
    released numerical stress test.
    """
    made = {name for name, kind in template_challenges().items() if kind == plan.phenomenon}
    wanted = {plan.phenomenon} if plan.vary == FILE else {plan.phenomenon, *made}
    return next(
        (
            run
            for run in inoculation_runs(runs)
            if run.verdict and run.plan.model == plan.model and run.plan.challenge in wanted
        ),
        None,
    )
