"""How much of each gap closes, as a forest plot."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from finetune.report.inoculation import MEANINGS, challenge_title, line_names, outcome_in
from finetune.trials.inoculation import InoculationRun, Selection
from finetune.ui.html.forest_picture import forest_picture
from probe.pictures.forest import Forest, ForestRow
from probe.statistics import NOTHING as NOT_MEASURED
from probe.statistics import Estimate
from probe.ui.html.elements import NOTHING

TITLE = "How much of the gap closes"


def gap_plot(runs: Sequence[InoculationRun], selection: Selection) -> Markup:
    """Show the share closed of each judged run, at its largest size."""
    judged = [run for run in runs if run.verdict]
    if not judged:
        return NOTHING
    names = line_names(runs)
    several = len(set(names.values())) > 1
    rows = [_row(run, names[run.id] if several else "", selection) for run in judged]
    forest = Forest(rows, low_title="none of it", high_title="all of it")
    return forest_picture(
        TITLE,
        forest,
        stem="gap-closed",
        sentence="At the largest number of examples, with 95 % intervals. The gap is what the "
        "model loses from the original set to the challenge.",
    )


def _row(run: InoculationRun, name: str, selection: Selection) -> ForestRow:
    result, outcome = run.verdict[selection], outcome_in(run, selection)
    title = f"{challenge_title(run)}, {name}" if name else challenge_title(run)
    words = " · ".join([MEANINGS[outcome], *result["marks"]])
    if outcome == "0":
        return ForestRow(title, NOT_MEASURED, run.plan.challenge, words)
    return ForestRow(title, _estimate(result["closed"]), run.plan.challenge, words)


def _estimate(closed: Mapping[str, float | None]) -> Estimate:
    value, low, high = (closed[name] for name in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return NOT_MEASURED
    return Estimate(value, low, high, int(closed["n"] or 0))
