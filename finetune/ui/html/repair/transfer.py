"""What a transfer shows: taught one kind of broken text, which others the model finds."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import pandas as pd
from markupsafe import Markup

from finetune.trials.transfer import (
    LESSONS,
    Lesson,
    Plan,
    Point,
    largest,
    matrix,
    own_and_others,
    plan_from,
    points_of,
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
from probe.ui.html.elements import NOTHING

TITLE = "Taught one way, does it know the others?"
COST = "What is still right on whole texts"
ONLY = "Trained on shuffled texts only"
COST_EXPLAINED = (
    "How many whole texts each training above leaves right. A model that calls every text broken "
    "finds all broken ones and is right on no whole one."
)
CORNER = "taught ↓ tested →"
EXPLAINED = (
    "How many whole texts each is right on. The upper layers began anew, and learnt the labels "
    "from whole texts, or from the same texts shuffled; the test is on whole ones."
)
ONLY_ROWS: Mapping[Lesson, str] = {"clean_only": "clean", "salad_only": "salad"}
"""The two trainings, and what the published table calls them."""
Matrix = Sequence[Sequence[float | None]]


def sentence(run: StoredRun) -> str:
    """Say how far a repair reaches, of a judged run."""
    own, others = own_and_others(matrix(plan_from(run.plan), points_of(run)))
    reach = f" and {100 * fmean(others):.0f} % of the others" if others else ""
    return (
        f"Taught one kind of broken text, {model_title(run)} finds {100 * fmean(own):.0f} % of "
        f"that kind{reach}."
    )


def pictures(run: StoredRun) -> Markup:
    """Show the matrix, what it costs, and what training on shuffled texts alone comes to."""
    plan, points = plan_from(run.plan), points_of(run)
    if not points:
        return NOTHING
    return (
        matrices(run, plan, points) + still_right(run, plan, points) + salad_only(run, plan, points)
    )


def matrices(run: StoredRun, plan: Plan, points: Sequence[Point]) -> Markup:
    """Show the matrix of a run, with a choice of the published one where there is one."""
    mine, table = ours(run, plan, points), table_beside(run, "transfer")
    if table is None:
        return mine
    names = [name for name in plan.transforms if name in table.rows]
    values = [[table.value(row, column) for column in names] for row in names]
    theirs = matrix_picture(TITLE, names, values, "transfer-published", of_paper(table))
    return switched(run, mine, theirs, table)


def ours(run: StoredRun, plan: Plan, points: Sequence[Point]) -> Markup:
    """Show the matrix of a run as a heat map."""
    seeds = len(dict.fromkeys(plan.seeds))
    words = f"% of broken texts found. {repeats(seeds)}, {max(plan.sizes):,} examples."
    values = matrix(plan, points)
    return matrix_picture(TITLE, plan.transforms, values, stem(run, "transfer"), words)


def matrix_picture(
    title: str, names: Sequence[str], values: Matrix, name: str, words: str
) -> Markup:
    """Show a matrix, whose rows were taught and whose columns were tested, as a heat map."""
    heads = [Head(brief(each)) for each in names]
    heat = HeatMap(heads, heads, [[percent_cell(share) for share in row] for row in values], CORNER)
    frame = pd.DataFrame(
        [
            (brief(taught), brief(tested), share)
            for taught, row in zip(names, values, strict=True)
            for tested, share in zip(names, row, strict=True)
        ],
        columns=["taught", "tested", "found"],
    )
    return share_map(title, heat, frame.round(4), stem=name, sentence=words)


def still_right(run: StoredRun, plan: Plan, points: Sequence[Point]) -> Markup:
    """Show the accuracy on whole texts after each training of the matrix."""
    rows = []
    for name in plan.transforms:
        clean = [each.clean for each in largest(plan, points, "one") if each.cell.transform == name]
        if clean:
            share = estimate(fmean(each.share for each in clean), clean[0].n)
            words = f"{100 * share.value:.1f} % right"
            rows.append(ForestRow(f"Taught: {brief(name)}", share, name, words))
    if not rows:
        return NOTHING
    forest = Forest(rows, low_title="none right", high_title="all right")
    words = f"{COST_EXPLAINED} {repeats(len(dict.fromkeys(plan.seeds)))}."
    return forest_picture(COST, forest, stem=stem(run, "still-right"), sentence=words)


def salad_only(run: StoredRun, plan: Plan, points: Sequence[Point]) -> Markup:
    """Show the two trainings on one kind of text alone, nothing where there is none."""
    measured = {name: same for name in ONLY_ROWS if (same := largest(plan, points, name))}
    if not measured:
        return NOTHING
    shares = {name: fmean(point.clean.share for point in same) for name, same in measured.items()}
    rows = [
        _row(name, estimate(share, measured[name][0].clean.n)) for name, share in shares.items()
    ]
    words = f"{EXPLAINED} {repeats(max(map(len, measured.values())))}."
    mine, table = _only(rows, stem(run, "salad-only"), words), table_beside(run, "salad_only")
    if table is None:
        return mine
    theirs = [_row(name, exact(table.value(row, "accuracy"))) for name, row in ONLY_ROWS.items()]
    return switched(run, mine, _only(theirs, "salad-only-published", of_paper(table)), table)


def _only(rows: Sequence[ForestRow], name: str, words: str) -> Markup:
    forest = Forest(rows, low_title="none right", high_title="all right")
    return forest_picture(ONLY, forest, stem=name, sentence=words)


def _row(name: Lesson, share: Estimate) -> ForestRow:
    return ForestRow(LESSONS[name].title, share, name, f"{100 * share.value:.1f} % right")
