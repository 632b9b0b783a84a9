"""What a mitigation shows: the broken texts that each method finds, and what it costs."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from markupsafe import Markup

from finetune.trials.mitigation import (
    BASE,
    METHODS,
    Method,
    Outcome,
    Point,
    outcomes,
    plan_from,
    points_of,
    quick_cost,
)
from finetune.ui.html.inoculation import forest_picture
from finetune.ui.html.repair.words import (
    brief,
    estimate,
    exact,
    model_title,
    of_paper,
    percent_cell,
    repeats,
    share_map,
    stem,
    switched,
    table_beside,
)
from probe.pictures.forest import Forest, ForestRow
from probe.pictures.heat_map import Head, HeatMap
from probe.runs.run import StoredRun
from probe.statistics import Estimate
from probe.ui.html.elements import NOTHING, each, join, note, unbroken

BEGINNINGS: Mapping[Method, str] = {
    "threshold": "With a threshold",
    "entropic": "Taught to be unsure of broken texts",
    "invalid": "Taught a class “invalid”",
}
"""How the sentence of each method begins."""
FOREST, HEAT = "What each method finds, and costs", "Called invalid, by kind of broken text"
RIGHT = "At the right also how many answers to whole texts are right."
WARNING = Markup('<p class="beware"><span class="badge keep">beware</span> {}</p>')


def sentence(run: StoredRun) -> str:
    """Say what the first method of a judged run finds and costs."""
    measured = outcomes(points_of(run))
    before = next(outcome for outcome in measured if outcome.method == BASE.method)
    after = _first(run, measured)
    lost = 100 * (before.clean - after.clean)
    cost = f"loses {lost:.1f} points" if lost > 0 else "loses nothing"
    return (
        f"{BEGINNINGS[after.method]}, {model_title(run)} finds {100 * after.invalid_found:.0f} % "
        f"of the broken texts and {cost} on whole ones."
    )


def _first(run: StoredRun, measured: Iterable[Outcome]) -> Outcome:
    """Return the outcome of the first method at its largest size."""
    first = plan_from(run.plan).methods[0]
    return max((one for one in measured if one.method == first), key=lambda one: one.size)


def pictures(run: StoredRun) -> Markup:
    """Show the forest of what is found, the warnings, and what is found by transform."""
    if not points_of(run):
        return NOTHING
    cost = quick_cost(plan_from(run.plan))
    quick = note(cost) if cost else NOTHING
    warned = each(WARNING, run.verdict.get("warnings", ()))
    return join([found(run), quick, warned, by_transform(run)])


def _largest(points: Sequence[Point]) -> list[Outcome]:
    """Return the outcome of each method at its largest size that is measured."""
    of_method = {
        outcome.method: outcome for outcome in sorted(outcomes(points), key=lambda one: one.size)
    }
    return [of_method[name] for name in METHODS if name in of_method]


def found(run: StoredRun) -> Markup:
    """Show the share of broken texts that each method finds, with a choice of the published."""
    mine, table = ours(run), table_beside(run, "mitigation")
    if table is None:
        return mine
    rows = [
        _row(name, exact(found), clean)
        for name in METHODS
        if (found := table.value(name, "invalid_found")) is not None
        and (clean := table.value(name, "clean")) is not None
    ]
    return switched(
        run, mine, _forest(rows, "found-published", f"{RIGHT} {of_paper(table)}"), table
    )


def ours(run: StoredRun) -> Markup:
    """Show what each method of a run finds, with what whole texts cost."""
    points = points_of(run)
    measured = _largest(points)
    before = next((one for one in measured if one.method == BASE.method), None)
    n = max((each.n for point in points for each in point.found.values()), default=0)
    rows = [
        _row(one.method, estimate(one.invalid_found, n), one.clean)
        for one in measured
        if one.method != BASE.method
    ]
    was = f", {100 * before.clean:.1f} % before" if before else ""
    words = (
        f"Dot: broken texts found, with the 95 % interval for {n:,} examples. {RIGHT[:-1]}{was}. "
        f"{repeats(max(one.seeds for one in measured))}."
    )
    about = unbroken(words) if rows else "The first method is under way."
    return _forest(rows, stem(run, "found"), about)


def _row(method: Method, share: Estimate, clean: float) -> ForestRow:
    words = f"{100 * share.value:.0f} % found · {100 * clean:.1f} % right"
    return ForestRow(METHODS[method].title, share, method, words)


def _forest(rows: Sequence[ForestRow], name: str, words: str) -> Markup:
    forest = Forest(rows, low_title="none found", high_title="all found")
    return forest_picture(FOREST, forest, stem=name, sentence=words)


def by_transform(run: StoredRun) -> Markup:
    """Show what each method calls invalid: of whole texts first, then by kind of broken text."""
    measured = _largest(points_of(run))
    names = list(dict.fromkeys(name for one in measured for name in one.per_transform))
    heat = HeatMap(
        [Head(METHODS[one.method].title) for one in measured],
        [Head("Whole texts"), *(Head(brief(name)) for name in names)],
        [
            [percent_cell(share) for share in (one.rejected, *map(one.per_transform.get, names))]
            for one in measured
        ],
    )
    return share_map(
        HEAT,
        heat,
        outcomes_frame(run),
        stem=stem(run, "invalid"),
        sentence="A broken text should be called invalid, a whole text should not.",
    )


def outcomes_frame(run: StoredRun) -> pd.DataFrame:
    """Return a line for each method and size, means over its repeats; shares are from 0 to 1."""
    return pd.DataFrame(
        {
            "method": METHODS[one.method].title,
            "examples": one.size,
            "repeats": one.seeds,
            "whole texts right": round(one.clean, 4),
            "whole texts called invalid": round(one.rejected, 4),
            "broken texts found": round(one.invalid_found, 4),
            **{
                f"found {brief(name)}": round(value, 4) for name, value in one.per_transform.items()
            },
            "threshold": round(one.threshold, 4),
            "temperature": round(one.temperature, 4),
            "collapsed": one.collapsed,
        }
        for one in outcomes(points_of(run))
    )
