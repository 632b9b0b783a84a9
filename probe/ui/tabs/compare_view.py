"""What the Compare tab's fields and results are filled with, as tasks, links and presses ask."""

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.comparison import Row
from probe.errors import ComparisonError, UserError
from probe.models.windows import Long
from probe.runs.access import ModelAccess
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.ui.choices import model_choices
from probe.ui.events import cell_of
from probe.ui.html.compare.cells import numbers
from probe.ui.html.compare.pictures import DIFFER, matrix
from probe.ui.html.compare.result import empty
from probe.ui.html.elements import NOTHING, alert, join
from probe.ui.html.pager import page_pressed
from probe.ui.html.shared_link import shared_link
from probe.ui.links import link_to_compare
from probe.ui.panels.options import read_long
from probe.ui.panels.sources import BUNDLED, FILE, ONE
from probe.ui.results.result_files import kept_comparison
from probe.ui.tabs.compare_link import View, read_link
from probe.ui.tabs.compare_run import rows_of
from probe.ui.tabs.example_pairs import examples_of


def sources(task: Task) -> list[tuple[str, str]]:
    """Return on what models can be compared, in the words of a task."""
    count = len(bundled_examples(task, "test"))
    return [
        (f"The app's {count} {task.unit}s", BUNDLED),
        ("A file", FILE),
        (f"One {task.unit}", ONE),
    ]


def show_task(models: ModelAccess, visitor: str, task: Task, view: View) -> list[Any]:
    """Relabel the components for a task and fill them with a view, in the order of `Fields`."""
    known = models.names(visitor, task)
    first = task.texts(list(examples_of(task).values())[-1])
    boxes = [
        gr.Textbox(
            view.texts.get(name, first[name]) if name else "",
            label=task.title_of(name) if name else "",
            visible=bool(name),
        )
        for name in (*task.fields, "")[:2]
    ]
    return [
        gr.Dropdown(choices=model_choices(known), value=list(view.models)),
        gr.Radio(sources(task), value=view.source),
        gr.Radio(value=view.long),
        *boxes,
        gr.HTML(empty(task, len(known), len(bundled_examples(task, "test")))),
        gr.Column(visible=task is NLI),
    ]


def open_page(
    models: ModelAccess, visitor: str, task_name: str, query: Mapping[str, str]
) -> list[Any]:
    """Read a link, or begin with the first two models; say what is not here."""
    task = task_named(task_name)
    view = read_link(task, models.names(visitor, task), query)
    trouble = join(alert(notice) for notice in view.notices)
    asked = [task.name, list(view.models), view.source, view.long, *_two_texts(task, view)]
    return [
        *show_task(models, visitor, task, view),
        gr.HTML(trouble, visible=bool(trouble)),
        asked if view.asked else [],
    ]


def _two_texts(task: Task, view: View) -> list[str]:
    return [view.texts.get(field, "") for field in (*task.fields, "")[:2]]


def show_link(
    models: ModelAccess,
    visitor: str,
    task_name: str,
    names: Sequence[str],
    source: str,
    long: Long,
    *texts: str,
) -> str:
    """Show the link to what is chosen; it opens models of one's own to who gets it."""
    task = task_named(task_name)
    grants = [grant for name in names if (grant := models.share(visitor, name))]
    given = dict(zip(task.fields, texts, strict=False)) if source == ONE else {}
    link = link_to_compare(names, task, source, given, grants, read_long(long, task))
    return shared_link(link, bool(grants))


def show_source(source: str) -> tuple[gr.Column, gr.Column]:
    """Show the fields of what is compared on: those of a file, those of one example."""
    return gr.Column(visible=source == FILE), gr.Column(visible=source == ONE)


def two_of(place: str, two: str) -> tuple[list[Row], list[str], int, int]:
    """Return the results with the key `place`: rows, models, and the places of two of them.

    Raises FileError, ComparisonError.
    """
    if not place:
        raise ComparisonError("compare these models first")
    rows, names = kept_comparison(place)
    first, _, second = two.partition("|")
    known = [str(at) for at in range(len(names))]
    if first not in known or second not in known or first == second:
        raise ComparisonError("choose two of the models that were compared")
    return rows, names, int(first), int(second)


def press(event: gr.EventData, place: str, two: str) -> list[Any]:
    """Show the rows of a number that was pressed, or two other models.

    Returns the matrix, the numbers, the rows, their pager, the cell, the two models.
    """
    cell = cell_of(event)
    try:
        if cell.startswith("two|"):
            two = cell.removeprefix("two|")
            found = two_of(place, two)
            shown = rows_of(*found, DIFFER, 1)
            return [matrix(*found), numbers(*found), *shown, DIFFER, two]
        shown = rows_of(*two_of(place, two), cell, 1)
    except UserError as trouble:
        return [gr.skip(), gr.skip(), alert(trouble), NOTHING, "", gr.skip()]
    return [gr.skip(), gr.skip(), *shown, cell, gr.skip()]


def turn(event: gr.EventData, place: str, two: str, cell: str) -> tuple[Markup, Markup]:
    """Show the page of the rows of a cell whose button was pressed."""
    if not place or not cell:
        return NOTHING, NOTHING
    try:
        number = page_pressed(cell_of(event))
        return rows_of(*two_of(place, two), cell, number)
    except UserError as trouble:
        return alert(trouble), NOTHING
