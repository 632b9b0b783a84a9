"""A finished generalisation judged by another rule, from its stored points: nothing is trained."""

from dataclasses import replace

from finetune.experiments.generalisation.plan import Thresholds, check
from finetune.experiments.generalisation.run import GeneralisationRun
from finetune.experiments.generalisation.verdict import verdict_json
from probe.errors import ExperimentError


def judged_anew(run: GeneralisationRun, loss: float) -> GeneralisationRun:
    """Return a judged run with the verdict that another loss, as a share, brings.

    Raises ExperimentError for one that is no share.
    """
    plan = replace(run.plan, thresholds=Thresholds(loss))
    check(plan)
    return replace(run, plan=plan, verdict=verdict_json(plan, run.results))


def loss_in(points: str) -> float:
    """Read a loss in points as a share. Raises ExperimentError."""
    try:
        return round(float(points.replace(",", ".")) / 100, 6)
    except ValueError:
        raise ExperimentError(
            f"the loss must be a number of points above 0 and at most 100, not {points!r}"
        ) from None
