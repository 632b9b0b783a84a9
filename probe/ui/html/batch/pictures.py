"""The pictures of a scored file: what stays by label and with its interval, and what is sure."""

from collections.abc import Mapping

from markupsafe import Markup

from probe.analysis.summary import Measured, Summary, summary_frame
from probe.baselines import BASELINES
from probe.pictures.forest import Forest, ForestRow, forest_frame, forest_plot, forest_svg
from probe.pictures.heat_map import Head, HeatMap, heat_map, heat_svg, share_cell
from probe.statistics import Estimate, interval
from probe.tasks.task import Task
from probe.transforms.registry import chain_title
from probe.ui.html.elements import NOTHING
from probe.ui.html.picture import picture
from probe.ui.html.tones import tone

STAYS = "Share of answers that stay"
PRESS = "A press on a cell shows its rows."
ALL = "all"
BETWEEN = "|"
"""Stands between a change and a label in what a press on a cell reports."""


def chance(task: Task) -> float:
    """Return how often an answer stays by chance, 0 where answers are no labels."""
    return 1 / len(task.labels) if task.labels else 0.0


def kept(summary: Summary, task: Task, stem: str, pressable: bool) -> Markup:
    """Draw the share of answers that stay, by change and gold label; nothing without a change.

    A press on a cell shows its rows where it is `pressable`.
    """
    if not summary.transforms:
        return NOTHING
    heat = _heat(summary, task, pressable)
    frame = summary_frame(summary)
    frame = frame[(frame["measure"] == "agreement") & (frame["n"] > 0)].drop(columns="measure")
    return picture(
        STAYS,
        heat_map(heat, STAYS),
        frame.round(4),
        heat_svg(heat, STAYS),
        stem=f"{stem}-answers-that-stay",
        sentence=PRESS if pressable else "",
    )


def _heat(summary: Summary, task: Task, pressable: bool) -> HeatMap:
    groups = {ALL: summary.transforms, **summary.by_label}
    columns = [
        Head(label, kind="" if label == ALL else f"label tone-{tone(label)}") for label in groups
    ]
    cells = [
        [
            share_cell(
                group[name]["agreement"],
                chance(task),
                f"{name}{BETWEEN}{label}" if pressable else "",
                _tip(group[name]),
            )
            for label, group in groups.items()
        ]
        for name in summary.transforms
    ]
    return HeatMap([Head(chain_title(name), name) for name in summary.transforms], columns, cells)


def _tip(measured: Measured) -> str:
    estimate, left = measured["agreement"], measured.not_applicable
    told = f"{interval(estimate)} %, n = {estimate.n:,}" if estimate.n else "no such rows"
    return f"{told}; {left:,} not in English, to which it does not apply" if left else told


def intervals(summary: Summary, task: Task, stem: str) -> Markup:
    """Draw the share of answers that stay with its interval, change by change, beside chance."""
    forest = Forest(
        _rows(summary, "agreement"),
        high_title="all stay",
        reference=chance(task) if task.labels else None,
    )
    return _forest("With 95 % intervals", forest, f"{stem}-intervals") if forest.rows else NOTHING


def confidence(summary: Summary, stem: str) -> Markup:
    """Draw how sure the model is after each change, beside how sure it was."""
    before = summary.original["confidence"]
    forest = Forest(
        _rows(summary, "confidence"),
        high_title="1",
        low_title="0",
        reference=before.value if before.n else None,
        reference_title="before",
    )
    return _forest("Mean confidence after each change", forest, f"{stem}-confidence")


def spans_right(summary: Summary, stem: str) -> Markup:
    """Draw the F1 after each change that leaves an answer right, beside the F1 before."""
    before = summary.original["f1"]
    rows = [row for row in _rows(summary, "f1") if row.estimate.n]
    if not rows:
        return NOTHING
    forest = Forest(
        rows,
        high_title="all right",
        low_title="0",
        reference=before.value if before.n else None,
        reference_title="before",
    )
    words = "A change after which no answer is right has none."
    return _forest("F1 after each change", forest, f"{stem}-f1", words)


def _rows(summary: Summary, measure: str) -> list[ForestRow]:
    return [
        ForestRow(chain_title(name), measured[measure], name)
        for name, measured in summary.transforms.items()
    ]


def _forest(title: str, forest: Forest, stem: str, sentence: str = "") -> Markup:
    return picture(
        title,
        forest_plot(forest, title),
        forest_frame(forest),
        forest_svg(forest, title),
        stem=stem,
        sentence=sentence,
    )


RULES = "Accuracy of rules that read no sentence"


def against_rules(rules: Mapping[str, Estimate], accuracy: Estimate, stem: str) -> Markup:
    """Draw what rule baselines reach on the same rows beside the model; nothing without gold."""
    if not rules:
        return NOTHING
    forest = Forest(
        [
            ForestRow(BASELINES[name].title, estimate, name, BASELINES[name].summary)
            for name, estimate in rules.items()
        ],
        high_title="all right",
        reference=accuracy.value if accuracy.n else None,
        reference_title="this model",
        beside=False,
    )
    return _forest(RULES, forest, f"{stem}-rules", "A model that understands is far above them.")
