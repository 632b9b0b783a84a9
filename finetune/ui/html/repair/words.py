"""What the results of repairs share: their words, and our picture or the paper's in one card."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from probe.models.bundled import title_of
from probe.pictures.heat_map import MOST, Cell, HeatMap, heat_map, heat_svg
from probe.pictures.svg import svg_file
from probe.published import PublishedTable, published_for
from probe.runs.run import StoredRun
from probe.statistics import NOTHING as NOT_MEASURED
from probe.statistics import Estimate, wilson
from probe.transforms.registry import REGISTRY
from probe.ui.html.elements import NOTHING, join
from probe.ui.html.picture import picture

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
    return BRIEF.get(transform) or (
        REGISTRY[transform].title if transform in REGISTRY else transform
    )


def model_title(run: StoredRun) -> str:
    """Return what a person calls a run's model."""
    return title_of(Path(run.plan["model"]).name)


def stem(run: StoredRun, what: str) -> str:
    """Return the beginning of a file's name: what is in it, of which model."""
    return f"{what}-{Path(run.plan['model']).name}"


def points(share: float) -> str:
    """Write a share as points of a hundred, with a decimal where it is small."""
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.1f}"


def repeats(n: int) -> str:
    """Say of how many trainings a figure is the mean."""
    return f"Mean of {n} repeats" if n > 1 else "One repeat"


def exact(value: float | None) -> Estimate:
    """Return a published share, which has no interval."""
    return NOT_MEASURED if value is None else Estimate(value, value, value, 1)


def estimate(value: float, n: int) -> Estimate:
    """Return a mean share with Wilson's interval for n examples.

    Neither their broken versions nor repeats are counted: what is made of one example is not
    independent, so that the interval is rather too wide than too narrow.
    """
    return wilson(value * n, n)


OURS = "Ours"


def table_beside(run: StoredRun, name: str) -> PublishedTable | None:
    """Return a published table for a run's task, that of its model's data set where it has one."""
    return published_for(name, run.plan["task"], Path(run.plan["model"]).name)


def of_paper(table: PublishedTable) -> str:
    """Say of which model and data a published table is, and what does not agree in it."""
    note = f" {table.note}" if table.note else ""
    return f"{table.source}: {table.who} on {table.data}.{note}"


def switched(run: StoredRun, ours: Markup, theirs: Markup, table: PublishedTable) -> Markup:
    """Show our picture with a choice of the paper's in its place."""
    name = f"{run.id}-{table.name}"
    title = table.source.replace(" 2021", "")
    choice = join(
        Markup('<label><input type="radio" name="{}"{}> {}</label>').format(
            name, Markup(" checked") if not at else NOTHING, words
        )
        for at, words in enumerate((OURS, title))
    )
    return Markup(
        '<div class="card switched"><div class="choice" role="radiogroup" '
        'aria-label="whose figures: {}">{}</div><div class="pane">{}</div>'
        '<div class="pane">{}</div></div>'
    ).format(table.name.replace("_", " "), choice, ours, theirs)


def percent_cell(share: float | None) -> Cell:
    """Return a share in whole percent; a dash where nothing was measured."""
    return Cell("–") if share is None else Cell(f"{100 * share:.0f}", MOST * share)


def share_map(
    title: str,
    heat: HeatMap,
    frame: pd.DataFrame,
    *,
    stem: str,
    sentence: str,
    beside: Markup = NOTHING,
) -> Markup:
    """Show a heat map as a picture; what is given is as for a picture."""
    region = Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>')
    return picture(
        title,
        region.format(title, heat_map(heat, f"{title}, in percent")),
        frame,
        svg_file(heat_svg(heat, title)),
        stem=stem,
        sentence=sentence,
        beside=beside,
    )
