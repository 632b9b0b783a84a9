"""What repairs came to: a sentence of each run, and figures that page and files draw alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd
from markupsafe import Markup

from finetune.trials import calibration, debiasing, mitigation, transfer
from finetune.trials.base import CONTROL
from probe.models.bundled import title_of
from probe.pictures.forest import Forest, ForestRow, forest_frame, forest_svg
from probe.pictures.heat_map import MOST, Cell, Head, HeatMap, heat_svg
from probe.pictures.reliability import Diagram, bins_frame, diagrams_svg
from probe.published import PublishedTable, published_for
from probe.runs.run import StoredRun
from probe.statistics import (
    MEASURES,
    NOTHING,
    Estimate,
    first_bin,
    mean_error,
    mean_share,
    pooled,
)
from probe.tasks.task import task_named
from probe.terms import Term
from probe.transforms.registry import REGISTRY


@dataclass(frozen=True)
class Figure:
    """A drawing with its title, its table, and the sentence that says how to read it.

    `name` begins the names of its files; `badge` is a class and words, such as how far off it is.
    """

    title: str
    drawn: HeatMap | Forest | Diagram
    frame: pd.DataFrame
    name: str
    sentence: str
    badge: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Compared:
    """A figure of a run, and the published one where a paper has it."""

    ours: Figure
    theirs: Figure | None = None
    table: PublishedTable | None = None


def figure_svg(figure: Figure) -> Markup:
    """Draw a figure as a file of its own."""
    drawn = figure.drawn
    if isinstance(drawn, HeatMap):
        return heat_svg(drawn, figure.title)
    if isinstance(drawn, Forest):
        return forest_svg(drawn, figure.title)
    return diagrams_svg([drawn], f"{figure.title}: {figure.badge[1]}")


BRIEF: Mapping[str, str] = {
    "sort": "Sort",
    "reverse": "Reverse",
    "shuffle": "Shuffle",
    "copysort": "Copy sorted",
    "drop": "Drop",
    "repeat": "Repeat",
    "replace": "Replace",
    "copyone": "Copy one",
    "pbsmt": "Translate",
}
"""Transforms in a word or two, for the heads of a heat map."""


def brief(transform: str) -> str:
    """Return a transform in a word or two, its title where it has no such name."""
    there = REGISTRY.get(transform)
    return BRIEF.get(transform) or (there.title if there else transform)


def model_title(run: StoredRun) -> str:
    """Return what a person calls a run's model."""
    return title_of(Path(run.plan["model"]).name)


def _stem(run: StoredRun, what: str) -> str:
    return f"{what}-{Path(run.plan['model']).name}"


def _points(share: float) -> str:
    """Write a share as points of a hundred, with a decimal where it is small."""
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.1f}"


def _repeats(n: int) -> str:
    """Say of how many trainings a figure is the mean."""
    return f"Mean of {n} repeats" if n > 1 else "One repeat"


def _exact(value: float | None) -> Estimate:
    """Return a published share, which has no interval."""
    return NOTHING if value is None else Estimate(value, value, value, 1)


def _cell(share: float | None) -> Cell:
    """Return a share in whole percent; a dash where nothing was measured."""
    return Cell("–") if share is None else Cell(f"{100 * share:.0f}", MOST * share)


def table_beside(run: StoredRun, name: str) -> PublishedTable | None:
    """Return a published table for a run's task, that of its model's data set where it has one."""
    return published_for(name, run.plan["task"], Path(run.plan["model"]).name)


def _of_paper(table: PublishedTable) -> str:
    """Say of which model and data a published table is, and what does not agree in it."""
    note = f" {table.note}" if table.note else ""
    return f"{table.source}: {table.who} on {table.data}.{note}"


def _forest(title: str, rows: Sequence[ForestRow], of: str, name: str, sentence: str) -> Figure:
    """Return shares on tracks from none to all `of` them."""
    forest = Forest(rows, low_title=f"none {of}", high_title=f"all {of}")
    return Figure(title, forest, forest_frame(forest), name, sentence)


# what a calibration came to

FIGURES: Mapping[str, Term] = {
    "ece": calibration.WORDS["calibration-error"],
    "brier": calibration.WORDS["brier-score"],
    "log_loss": calibration.WORDS["log-loss"],
    "accuracy": replace(MEASURES["accuracy"], title="Accuracy, %"),
    "agreement": replace(MEASURES["agreement"], title="Answers that stay on broken texts, %"),
}
"""The columns of the table before and after, with their definitions."""
IN_PERCENT = ("accuracy", "agreement")
BEFORE_AND_AFTER = "Before and after"
BINNING = (
    "15 bins; an answer that is exactly 1.0 sure falls into the last. Lower is better in the first "
    "three columns; an error that chance alone gives is no fault. The last says what calibration "
    "does not cure."
)


def calibrated(run: StoredRun) -> str:
    """Say how far confidence is off before and after, and that broken texts are not found so."""
    measured = calibration.outcomes(calibration.points_of(run))
    first = calibration.plan_from(run.plan).methods[0]
    before = next(each for each in measured if each.method == calibration.BASE.method)
    after = max((each for each in measured if each.method == first), key=lambda each: each.size)
    named = calibration.METHODS[first].title.lower()
    if first == "temperature":
        named = f"temperature {after.temperature:.1f}"
    stay = f"{100 * after.agreement:.0f} %, {100 * before.agreement:.0f} % before"
    cured = before.agreement - after.agreement > calibration.LESS
    return (
        f"After {named}, the confidence of {model_title(run)} is off by "
        f"{_points(after.ece)} points ({after.error.beside}); it was off by "
        f"{_points(before.ece)} ({before.error.beside}). "
    ) + (
        f"On broken texts fewer answers stay: {stay}."
        if cured
        else f"That is no cure for broken texts, on which its answers stay: {stay}."
    )


KINDS: Mapping[str, Any] = {  # Any: modules, each has points of its own
    calibration.KIND: calibration,
    mitigation.KIND: mitigation,
    debiasing.KIND: debiasing,
}
"""The kinds of run that have methods."""


def _by_method(run: StoredRun) -> dict[str, list[Any]]:
    """Return by method the points of its largest size that is measured, its repeats."""
    ordered = sorted(KINDS[run.kind].points_of(run), key=lambda point: point.cell.method)
    groups = {name: list(same) for name, same in groupby(ordered, lambda each: each.cell.method)}
    return {
        name: [
            point
            for point in groups[name]
            if point.cell.size == max(each.cell.size for each in groups[name])
        ]
        for name in KINDS[run.kind].METHODS
        if name in groups
    }


def diagrams(run: StoredRun) -> dict[str, Figure]:
    """Return by method how often answers are right by how sure the model is."""
    plan, drawn = calibration.plan_from(run.plan), dict[str, Figure]()
    labels = len(plan.labels or task_named(plan.task).labels)
    for method, same in _by_method(run).items():
        title = calibration.METHODS[method].title
        if method == "temperature":
            title = f"After temperature {fmean(point.temperature for point in same):.1f}"
        elif method != calibration.BASE.method:
            title = f"After {title.lower()}"
        bins = pooled([point.calibration.bins for point in same])
        error = mean_error([point.calibration for point in same])
        words = f"off by {_points(error.found.value)} points ({error.beside})"
        tone = "keep" if error.is_fault else "good" if error.is_small else "plain"
        together = f" {len(same)} repeats together." if len(same) > 1 else ""
        drawn[method] = Figure(
            title,
            Diagram(bins, first_bin(bins, labels), (), method == calibration.BASE.method),
            bins_frame(bins),
            _stem(run, f"reliability-{method}"),
            f"Dashed: as often right as sure; narrow: how sure on average. n = "
            f"{sum(each.n for each in bins):,}.{together}",
            (tone, words),
        )
    return drawn


def before_and_after(run: StoredRun) -> Compared:
    """Return a line for each method, the model as it was first, and the published ones."""
    points = calibration.points_of(run)
    measured = calibration.outcomes(points)
    n = max((point.calibration.n for point in points), default=0)
    columns = [(words.title, name != "ece", name) for name, words in FIGURES.items()]
    lines = {
        calibration.METHODS[each.method].title
        + (f", {each.size:,} examples" if each.size else ""): [
            getattr(each, name) for name in FIGURES
        ]
        for each in measured
    }
    digits = [1 if name in IN_PERCENT else 3 for *_, name in columns]
    ours = Figure(
        BEFORE_AND_AFTER,
        _numbers(lines, [title for title, *_ in columns], digits),
        figures_frame(run),
        _stem(run, "calibration"),
        f"{n:,} whole texts. {BINNING}",
    )
    table, stays = (table_beside(run, name) for name in ("calibration", "calibrated_agreement"))
    if table is None:
        return Compared(ours)
    parts = [(table, name, FIGURES[name].title) for name in table.columns]
    if stays is not None:
        parts += [
            (stays, name, f"{name.capitalize()} changes: answers that stay, %")
            for name in stays.columns
        ]
    printed = {
        calibration.LOSSES.get(method, words).title: [
            source.value(method, name) for source, name, _ in parts
        ]
        for method, words in calibration.METHODS.items()
        if method in table.rows
    }
    theirs = Figure(
        BEFORE_AND_AFTER,
        _numbers(
            printed,
            [title for *_, title in parts],
            [2 if name == "ece" else 1 for _, name, _ in parts],
        ),
        pd.DataFrame(
            [(title, *values) for title, values in printed.items()],
            columns=["method", *(name for _, name, _ in parts)],
        ),
        "calibration-published",
        " ".join(_of_paper(one) for one in (table, stays) if one is not None),
    )
    return Compared(ours, theirs, table)


def _numbers(
    lines: Mapping[str, Sequence[float | None]], columns: Sequence[str], digits: Sequence[int]
) -> HeatMap:
    """Return figures by line and column without a ground; those of one decimal are percent."""
    return HeatMap(
        [Head(title) for title in lines],
        [Head(title) for title in columns],
        [
            [
                Cell("–" if value is None else f"{value * (100 if n == 1 else 1):.{n}f}")
                for value, n in zip(values, digits, strict=True)
            ]
            for values in lines.values()
        ],
    )


def figures_frame(run: StoredRun) -> pd.DataFrame:
    """Return a line for each method and size, means over its repeats; shares are from 0 to 1."""
    names = ("method", "size", "seeds", *FIGURES, "confidence", "temperature")
    return pd.DataFrame(
        {
            **{name: getattr(outcome, name) for name in names},
            "ece_low": outcome.error.found.low,
            "ece_high": outcome.error.found.high,
            "ece_by_chance": outcome.error.chance.value,
        }
        for outcome in calibration.outcomes(calibration.points_of(run))
    ).round(4)


STAY, SURE = "Answers that stay on broken texts", "How sure answers to broken texts are"
ON_BROKEN: Sequence[tuple[str, str, str, str]] = (
    (
        STAY,
        "share",
        "stay",
        "Of a copy the expected answer is the default label of the task; “invalid” never stays.",
    ),
    (SURE, "confidence", "sure", "The mean probability of what is answered, in percent."),
)
"""The figures on broken texts: title, what of each count they show, file and explanation."""


def on_broken_texts(run: StoredRun) -> Iterator[Figure]:
    """Yield how many answers stay, and how sure they are, by method and kind of broken text.

    Gupta et al. 2021, figure 2, has both before and after a mitigation. None of older runs, which
    did not count, and of a debiasing, which destroys no text.
    """
    measured, methods = _by_method(run), KINDS[run.kind].METHODS
    if run.kind == debiasing.KIND:
        return
    names = list(dict.fromkeys(name for same in measured.values() for name in same[0].salad))
    repeats = _repeats(max(map(len, measured.values()), default=1))
    salads = [point.salad for same in measured.values() for point in same]
    most = max((each.n for salad in salads for each in salad.values()), default=0)
    texts = f"At most {most:,} broken texts of each kind"
    for title, what, name, words in ON_BROKEN if names else ():
        shares = {
            (method, each): fmean(getattr(point.salad[each], what) for point in same)
            for method, same in measured.items()
            for each in names
        }
        rows = [(methods[method].title, brief(each), it) for (method, each), it in shares.items()]
        cells = [[_cell(shares[method, each]) for each in names] for method in measured]
        heads = [Head(methods[method].title) for method in measured]
        yield Figure(
            title,
            HeatMap(heads, [Head(brief(each)) for each in names], cells),
            pd.DataFrame(rows, columns=["method", "broken text", what]).round(4),
            _stem(run, name),
            f"{words} {texts}. {repeats}.",
        )


# what a mitigation came to

BEGINNINGS: Mapping[mitigation.Method, str] = {
    "threshold": "With a threshold",
    "entropic": "Taught to be unsure of broken texts",
    "invalid": "Taught a class “invalid”",
}
"""How the sentence of each method begins."""
FOREST, HEAT = "What each method finds, and costs", "Called invalid, by kind of broken text"
RIGHT = "At the right also how many answers to whole texts are right."


def mitigated(run: StoredRun) -> str:
    """Say what the first method of a judged run finds and costs, at its largest size."""
    measured = mitigation.outcomes(mitigation.points_of(run))
    first = mitigation.plan_from(run.plan).methods[0]
    before = next(each for each in measured if each.method == mitigation.BASE.method)
    after = max((each for each in measured if each.method == first), key=lambda each: each.size)
    lost = 100 * (before.clean - after.clean)
    cost = f"loses {lost:.1f} points" if lost > 0 else "loses nothing"
    return (
        f"{BEGINNINGS[after.method]}, {model_title(run)} finds {100 * after.invalid_found:.0f} % "
        f"of the broken texts and {cost} on whole ones."
    )


def _largest(run: StoredRun) -> list[mitigation.Outcome]:
    """Return the outcome of each method at its largest size that is measured."""
    measured = mitigation.outcomes(mitigation.points_of(run))
    of_method = {each.method: each for each in sorted(measured, key=lambda each: each.size)}
    return [of_method[name] for name in mitigation.METHODS if name in of_method]


def found(run: StoredRun) -> Compared:
    """Return the share of broken texts that each method finds, and the published ones."""

    def row(method: mitigation.Method, share: Estimate, clean: float) -> ForestRow:
        words = f"{100 * share.value:.0f} % found · {100 * clean:.1f} % right"
        return ForestRow(mitigation.METHODS[method].title, share, method, words)

    base, measured = mitigation.BASE.method, _largest(run)
    points = mitigation.points_of(run)
    same = _by_method(run)
    n = max((each.n for point in points for each in point.found.values()), default=0)
    rows = [
        row(one.method, mean_share([it.invalid_found for it in same[one.method]], n), one.clean)
        for one in measured
        if one.method != base
    ]
    was = next((f", {100 * one.clean:.1f} % before" for one in measured if one.method == base), "")
    words = (
        f"Dot: broken texts found, with the 95 % interval for {n:,} examples. {RIGHT[:-1]}{was}. "
        f"{_repeats(max(one.seeds for one in measured))}."
    )
    words = words if rows else "The first method is under way."
    ours = _forest(FOREST, rows, "found", _stem(run, "found"), words)
    table = table_beside(run, "mitigation")
    if table is None:
        return Compared(ours)
    printed = [
        row(name, _exact(share), clean)
        for name in mitigation.METHODS
        if (share := table.value(name, "invalid_found")) is not None
        and (clean := table.value(name, "clean")) is not None
    ]
    words = f"{RIGHT} {_of_paper(table)}"
    return Compared(ours, _forest(FOREST, printed, "found", "found-published", words), table)


def by_transform(run: StoredRun) -> Figure:
    """Return what each method calls invalid: of whole texts first, then by kind of broken text."""
    measured = _largest(run)
    names = list(dict.fromkeys(name for one in measured for name in one.per_transform))
    counts = [each.n for point in mitigation.points_of(run) for each in point.found.values()]
    return Figure(
        HEAT,
        HeatMap(
            [Head(mitigation.METHODS[one.method].title) for one in measured],
            [Head("Whole texts"), *(Head(brief(name)) for name in names)],
            [
                [_cell(share) for share in (one.rejected, *map(one.per_transform.get, names))]
                for one in measured
            ],
        ),
        outcomes_frame(run),
        _stem(run, "invalid"),
        "A broken text should be called invalid, a whole text should not. In percent of "
        f"{max(counts, default=0):,} broken texts of each kind.",
    )


def outcomes_frame(run: StoredRun) -> pd.DataFrame:
    """Return a line for each method and size, means over its repeats; shares are from 0 to 1."""
    return pd.DataFrame(
        {
            "method": mitigation.METHODS[one.method].title,
            "examples": one.size,
            "repeats": one.seeds,
            "whole texts right": one.clean,
            "whole texts called invalid": one.rejected,
            "broken texts found": one.invalid_found,
            **{f"found {brief(name)}": value for name, value in one.per_transform.items()},
            "threshold": one.threshold,
            "temperature": one.temperature,
            "collapsed": one.collapsed,
        }
        for one in mitigation.outcomes(mitigation.points_of(run))
    ).round(4)


# what a debiasing came to

MENDED, BY_SET = "Where the short cut misleads", "Right, by test set"


def debiased(run: StoredRun) -> str:
    """Say what the first method of a judged run mends, and what it costs, at its largest size."""
    task, measured = task_named(run.plan["task"]), _debiased(run)
    first = debiasing.plan_from(run.plan).methods[0]
    before, after = measured[debiasing.BASE.method], measured[first]
    part, change = debiasing.telling(before), after.change[debiasing.telling(before)]
    usual = None if first == CONTROL else measured.get(CONTROL)
    beside = f", {_in_percent(usual, part)} after the same training as usual" if usual else ""
    others = [each for each in after.right if each[0] == part[0] and each != part]
    told = [
        f"on {_in_percent(after, each)} of “{debiasing.part_title(each, task)}”, "
        f"{_in_percent(before, each)} before{beside if each == part else ''}"
        for each in (part, *others, (debiasing.ORIGINAL, None))
    ]
    unsure = "" if change.low > 0 or change.high < 0 else " The first may be chance."
    method = debiasing.METHODS[first].title
    return f"{method}: {model_title(run)} is right {'; '.join(told)}.{unsure}"


def _in_percent(outcome: debiasing.Outcome, part: debiasing.Part) -> str:
    return f"{100 * outcome.right[part].value:.1f} %"


def _debiased(run: StoredRun) -> dict[str, debiasing.Outcome]:
    """Return the outcome of each method at its largest size that is measured."""
    measured = debiasing.outcomes(debiasing.points_of(run), task_named(run.plan["task"]))
    of_method = {each.method: each for each in sorted(measured, key=lambda each: each.size)}
    return {name: of_method[name] for name in debiasing.METHODS if name in of_method}


def mended(run: StoredRun) -> Figure:
    """Return what each method gets right of what the run's sentence is about."""
    task, measured = task_named(run.plan["task"]), _debiased(run)
    base = measured.get(debiasing.BASE.method) or next(iter(measured.values()))
    part = debiasing.telling(base)

    def words_of(one: debiasing.Outcome) -> Iterator[str]:
        yield f"{_in_percent(one, part)} right"
        for other in one.right:
            if other[0] == part[0] and other != part:
                yield f"{_in_percent(one, other)} of {other[1]}"
        yield f"{_in_percent(one, (debiasing.ORIGINAL, None))} of the original set"

    rows = [
        ForestRow(debiasing.METHODS[name].title, one.right[part], name, " · ".join(words_of(one)))
        for name, one in measured.items()
    ]
    original = base.right[debiasing.ORIGINAL, None].n
    words = (
        f"Dot: “{debiasing.part_title(part, task)}”, on which the model as it was is least right "
        f"of the first challenge, with the 95 % interval for {base.right[part].n:,} examples; at "
        f"the right also its other labels, which too many answers of one label lose, and the "
        f"original set, n = {original:,}. "
        f"{_repeats(max(one.seeds for one in measured.values()))}."
    )
    forest = Forest(rows, low_title="none right", high_title="all right")
    return Figure(MENDED, forest, forest_frame(forest), _stem(run, "mended"), words)


def by_set(run: StoredRun) -> Figure:
    """Return what each method gets right of each test set, the original one first."""
    task, measured = task_named(run.plan["task"]), _debiased(run)
    parts = debiasing.parts_of(debiasing.points_of(run), task)
    rows = [
        {
            "method": debiasing.METHODS[name].title,
            "examples": one.size,
            "repeats": one.seeds,
            "set": debiasing.part_title(part, task),
            **{end: getattr(found, end) for end in ("n", "value", "low", "high")},
            **{
                f"change {end}": getattr(one.change[part], end) if one.change else None
                for end in ("value", "low", "high")
            },
        }
        for name, one in measured.items()
        for part, found in one.right.items()
    ]
    counts = [found.n for one in measured.values() for found in one.right.values()]
    return Figure(
        BY_SET,
        HeatMap(
            [Head(debiasing.METHODS[name].title) for name in measured],
            [Head(debiasing.part_title(part, task)) for part in parts],
            [[_cell(one.right[part].value) for part in parts] for one in measured.values()],
        ),
        pd.DataFrame(rows).round(4),
        _stem(run, "by-set"),
        f"In percent of {min(counts):,} to {max(counts):,} examples of each set. The table has n, "
        "intervals, and the change beside further training as usual, or else beside the model as "
        "it was.",
    )


# what a transfer came to

MATRIX = "Taught one way, does it know the others?"
COST = "What is still right on whole texts"
ONLY = "The upper layers, begun anew on shuffled texts"
COST_EXPLAINED = (
    "How many whole texts each training above leaves right. A model that calls every text broken "
    "finds all broken ones and is right on no whole one."
)
CORNER = "taught ↓ tested →"
EXPLAINED = (
    "How many whole texts each is right on. The upper layers began anew, and learnt the labels "
    "from whole texts, or from the same texts shuffled; the lower ones learnt the task from whole "
    "texts before, so that this is not the published training on shuffled texts alone."
)
ONLY_ROWS: Sequence[transfer.Lesson] = ("clean_only", "salad_only")


def transferred(run: StoredRun) -> str:
    """Say how far a repair reaches, of a judged run."""
    values = transfer.matrix(transfer.plan_from(run.plan), transfer.points_of(run))
    own, others = transfer.own_and_others(values)
    reach = f" and {100 * fmean(others):.0f} % of the others" if others else ""
    return (
        f"Taught one kind of broken text, {model_title(run)} finds {100 * fmean(own):.0f} % of "
        f"that kind{reach}."
    )


def matrices(run: StoredRun) -> Compared:
    """Return what each training finds of each kind, and the published matrix."""
    plan, points = transfer.plan_from(run.plan), transfer.points_of(run)
    counts = [each.n for point in points for each in point.found.values()]
    words = (
        f"% of {max(counts, default=0):,} broken texts of each kind found. "
        f"{_repeats(len({*plan.seeds}))}, {max(plan.sizes):,} examples."
    )
    values = transfer.matrix(plan, points)
    ours = _matrix(plan.transforms, values, _stem(run, "transfer"), words)
    table = table_beside(run, "transfer")
    if table is None:
        return Compared(ours)
    names = [name for name in plan.transforms if name in table.rows]
    printed = [[table.value(row, column) for column in names] for row in names]
    theirs = _matrix(names, printed, "transfer-published", _of_paper(table))
    return Compared(ours, theirs, table)


def _matrix(
    names: Sequence[str], values: Sequence[Sequence[float | None]], name: str, words: str
) -> Figure:
    heads = [Head(brief(each)) for each in names]
    frame = pd.DataFrame(
        [
            (brief(taught), brief(tested), share)
            for taught, row in zip(names, values, strict=True)
            for tested, share in zip(names, row, strict=True)
        ],
        columns=["taught", "tested", "found"],
    )
    heat = HeatMap(heads, heads, [[_cell(share) for share in row] for row in values], CORNER)
    return Figure(MATRIX, heat, frame.round(4), name, words)


def on_whole_texts(run: StoredRun) -> Iterator[Compared]:
    """Yield what is still right on whole texts, then what shuffled ones teach upper layers."""

    def row(title: str, share: Estimate, code: str) -> ForestRow:
        return ForestRow(title, share, code, f"{100 * share.value:.1f} % right")

    def mean(points: Sequence[transfer.Point]) -> Estimate:
        return mean_share([point.clean.share for point in points], points[0].clean.n)

    plan, points = transfer.plan_from(run.plan), transfer.points_of(run)
    alone: dict[str, list[transfer.Point]] = {}
    for point in transfer.largest(plan, points, "one"):
        alone.setdefault(point.cell.transform, []).append(point)
    rows = [
        row(f"Taught: {brief(name)}", mean(alone[name]), name)
        for name in plan.transforms
        if name in alone
    ]
    n = max((point.clean.n for point in points), default=0)
    if rows:
        words = f"{COST_EXPLAINED} n = {n:,}. {_repeats(len({*plan.seeds}))}."
        yield Compared(_forest(COST, rows, "right", _stem(run, "still-right"), words))
    measured = {name: same for name in ONLY_ROWS if (same := transfer.largest(plan, points, name))}
    if not measured:
        return
    words = f"{EXPLAINED} n = {n:,}. {_repeats(max(map(len, measured.values())))}."
    rows = [row(transfer.LESSONS[it].title, mean(same), it) for it, same in measured.items()]
    yield Compared(_forest(ONLY, rows, "right", _stem(run, "salad-only"), words))
