"""What the Compare tab's fields and results are filled with, as tasks, links and presses ask."""

from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.analysis.comparison import Row
from probe.errors import ComparisonError, UserError
from probe.ui.events import cell_of
from probe.ui.html.compare.cells import numbers
from probe.ui.html.compare.pictures import DIFFER, matrix
from probe.ui.html.elements import NOTHING, alert
from probe.ui.html.pager import page_pressed
from probe.ui.results.result_files import kept_comparison
from probe.ui.tabs.compare_run import rows_of


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
