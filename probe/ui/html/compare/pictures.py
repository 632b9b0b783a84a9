"""The Compare tab's pictures: accuracy or F1 in all and in parts, and where two models differ."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import pandas as pd
from markupsafe import Markup

from probe.analysis.comparison import (
    Row,
    accuracy,
    differing,
    disagreement,
    labels_of,
    of_group,
    outcomes,
    parts_of,
    same_answer,
    score,
)
from probe.analysis.slices import ALL, Measured, measure
from probe.models.bundled import title_of
from probe.pictures.forest import DotPlot, DotRow, dot_frame, dot_plot, dot_svg
from probe.pictures.heat_map import Cell, Head, HeatMap, heat_map, heat_svg
from probe.statistics import Estimate
from probe.tasks.task import Label
from probe.ui.html.elements import NOTHING, join
from probe.ui.html.picture import picture
from probe.ui.html.tones import tone

PARTS = "{measure}, overall and in parts"
MATRIX = "Where two differ"
GROUPS = {"entailed": "Entailed", "non_entailed": "Not entailed"}
WEAKEST, STRONGEST = 0.3, 0.85
"""How strong the ground of a cell is in which two models differ: for one row, and for the most."""
DIFFER, SAME, RIGHT = "differ", "same", "right"
"""The cells of all rows on which two models differ, which is shown before one is pressed; of those
on which they agree; of those on which spans differ, by whether each is right: 1 or 0."""
WORDS = {"1": "right", "0": "wrong"}


def parts(rows: Sequence[Row], names: Sequence[str]) -> Markup:
    """Draw how good each model is over all rows, over each part of the labels, and on slices."""
    scored = [row for row in rows if row.predictions]
    if not any(row.gold for row in scored):
        return NOTHING
    plot = parts_plot(scored, names)
    title = PARTS.format(measure="F1" if plot.measure == "f1" else "Accuracy")
    stem = f"{plot.measure}-in-parts"
    return picture(title, dot_plot(plot, title), dot_frame(plot), dot_svg(plot, title), stem=stem)


def parts_plot(rows: Sequence[Row], names: Sequence[str]) -> DotPlot:
    """Return the plot of answered rows with gold labels."""
    task, models = rows[0].task, range(len(names))

    def estimates(part: Sequence[Row]) -> list[Estimate]:
        return [score(part, model) for model in models]

    drawn = [DotRow(f"All {task.unit}s", estimates(rows), "gold|all", strong=True)]
    if task.has_spans:
        drawn.append(DotRow("Exact match", [accuracy(rows, model) for model in models]))
    for name, group in parts_of(task).items():
        of_part = estimates(of_group(rows, group))
        if any(one.n for one in of_part):
            drawn.append(DotRow(_part_title(name), of_part, f"gold|{group.gold}"))
    drawn += _slices(measure(rows))
    chance = 1 / len(task.labels) if task.labels else None
    titles = [title_of(name) for name in names]
    measured = {"measure": "f1", "figures": "F1"} if task.has_spans else {}
    return DotPlot(titles, drawn, chance, "a guess", task.unit, **measured)


def _part_title(name: str) -> str:
    return GROUPS.get(name, name.capitalize())


def _slices(measured: Sequence[Measured]) -> Iterator[DotRow]:
    """Yield the main slices; that of common words by its labels."""
    overlaps = [
        line.slice for line in measured if line.slice.main and "overlap" in line.slice.group
    ]
    for line in measured:
        if line.slice.main and (line.gold == ALL) != (line.slice in overlaps):
            part = "" if line.gold == ALL else f", {gold_title(line.gold)}"
            title = f"{line.slice.title}{part}"
            yield DotRow(title, line.scores, f"slice|{line.place}|{line.gold}")


def gold_title(gold: Label) -> str:
    """Say in plain words which part of the gold labels is meant."""
    return {"entailment": "entailed", "non-entailment": "not entailed"}.get(gold, gold)


def matrix(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> Markup:
    """Draw what the second model says where the first says this; each cell is a button.

    Spans are too many to stand in rows: whether they are right does.
    """
    scored = [row for row in rows if row.predictions]
    spans = any(row.task.has_spans for row in scored)
    if not scored or not (spans or labels_of(scored, first)):
        return NOTHING
    heat = (_spans_heat if spans else _heat)(scored, names, first, second)
    one, other = title_of(names[first]), title_of(names[second])
    verb = "is" if spans else "says"
    label = f"What {other} {verb} in the columns where {one} {verb} what the rows have"
    return picture(
        MATRIX,
        _choice(names, first, second) + heat_map(heat, label),
        (spans_frame if spans else matrix_frame)(scored, names, first, second),
        heat_svg(heat, f"{one} in the rows, {other} in the columns"),
        stem="where-two-differ",
        sentence=_split(scored, first, second, one, other),
    )


def _choice(names: Sequence[str], first: int, second: int) -> Markup:
    """Let a person choose two of more models."""
    if len(names) == 2:
        return NOTHING
    options = join(
        Markup('<option value="two|{0}|{1}"{2}>{3} × {4}</option>').format(
            a,
            b,
            Markup(" selected") if (a, b) == (first, second) else NOTHING,
            title_of(names[a]),
            title_of(names[b]),
        )
        for a, b in combinations(range(len(names)), 2)
    )
    return Markup('<select class="two-models" aria-label="Two models">{}</select>').format(options)


def _heat(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> HeatMap:
    cells = disagreement(rows, first, second)
    down, across = labels_of(rows, first), labels_of(rows, second)
    same = {said: same_answer(rows[0].task, *said) for said in cells}
    most = max([cell.n for said, cell in cells.items() if not same[said]], default=0)

    def drawn(a: Label, b: Label) -> Cell:
        cell = cells[a, b]
        tip = (
            f"right: both {cell.both}, only {names[first]} {cell.only_first}, "
            f"only {names[second]} {cell.only_second}, neither {cell.neither}"
        )
        share = 0.0 if same[a, b] else cell.n / most if most else 0.0
        strength = WEAKEST + (STRONGEST - WEAKEST) * share if share else 0.0
        key = f"answers|{a}|{b}" if cell.n else ""
        return Cell(f"{cell.n:,}", strength, key, tip, "same" if same[a, b] else "")

    return HeatMap(
        [Head(label, kind=f"label tone-{tone(label)}") for label in down],
        [Head(label, kind=f"label tone-{tone(label)}") for label in across],
        [[drawn(a, b) for b in across] for a in down],
        f"{title_of(names[first])} ↓ {title_of(names[second])} →",
    )


def _spans_heat(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> HeatMap:
    """Return who is right where the spans differ; without right answers, how often they do."""
    differ = differing(rows, first, second)
    if not any(row.gold for row in rows):
        same = len(differing(rows, first, second, agree=True))
        answers = [
            Cell(f"{same:,}", 0.0, SAME if same else "", kind="same"),
            Cell(f"{len(differ):,}", STRONGEST if differ else 0.0, DIFFER if differ else ""),
        ]
        return HeatMap([Head("Answers")], [Head("the same"), Head("different")], [answers])
    counts = outcomes(differ, first, second)
    quarters = {
        ("1", "1"): counts.both,
        ("1", "0"): counts.only_first,
        ("0", "1"): counts.only_second,
        ("0", "0"): counts.neither,
    }
    most = max(quarters.values())

    def drawn(a: str, b: str) -> Cell:
        n = quarters[a, b]
        strength = WEAKEST + (STRONGEST - WEAKEST) * n / most if n else 0.0
        return Cell(f"{n:,}", strength, f"{RIGHT}|{a}|{b}" if n else "")

    right = [Head(word) for word in WORDS.values()]
    cells = [[drawn(a, b) for b in WORDS] for a in WORDS]
    return HeatMap(right, right, cells, f"{title_of(names[first])} ↓ {title_of(names[second])} →")


def spans_frame(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> pd.DataFrame:
    """Return how many rows have the same span, and of the others how many have who right."""
    counts = outcomes(differing(rows, first, second), first, second)
    a, b = names[first], names[second]
    figures = {
        "the same": len(differing(rows, first, second, agree=True)),
        "different": counts.n,
        "different, both right": counts.both,
        f"different, only {a} right": counts.only_first,
        f"different, only {b} right": counts.only_second,
        "different, neither right": counts.neither,
    }
    return pd.DataFrame(list(figures.items()), columns=["answers", "n"])


def matrix_frame(
    rows: Sequence[Row], names: Sequence[str], first: int, second: int
) -> pd.DataFrame:
    """Return a row for each cell: what both say, how many rows, and who is right in them."""
    a, b = names[first], names[second]
    columns = [f"{a} says", f"{b} says", "n", "both right", f"only {a}", f"only {b}", "neither"]
    cells = disagreement(rows, first, second).items()
    return pd.DataFrame(
        [
            (*said, cell.n, cell.both, cell.only_first, cell.only_second, cell.neither)
            for said, cell in cells
        ],
        columns=columns,
    )


def _split(rows: Sequence[Row], first: int, second: int, one: str, other: str) -> str:
    """Say how often the two differ and who is right then."""
    differ = differing(rows, first, second)
    counts = outcomes(differ, first, second)
    right = (
        f": {one} alone right in {counts.only_first:,}, {other} alone in {counts.only_second:,}"
        if any(row.gold for row in rows)
        else ""
    )
    return (
        f"{len(differ):,} of {len(rows):,} {rows[0].task.unit}s differ{right}. "
        f"A press on a number shows its {rows[0].task.unit}s."
    )
