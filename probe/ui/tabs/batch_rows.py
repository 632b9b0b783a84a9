"""The rows of a scored file, as filters, pages and a press on a figure choose them."""

from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.errors import FileError
from probe.transforms.registry import chain_title
from probe.ui.events import cell_of
from probe.ui.html.batch.pictures import ALL as ALL_LABELS
from probe.ui.html.batch.pictures import BETWEEN
from probe.ui.html.batch.rows import rows_table
from probe.ui.html.batch.summary import SEE_WHY
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.html.pager import page_pressed, pager
from probe.ui.results.batch_tables import ALL, ANY, NOT_SCORED
from probe.ui.results.result_files import kept_folder
from probe.ui.results.row_pages import Selection, rows_page

STAYS = "Only rows whose answer stays under “{change}”."


def shown_rows(key: str, selection: Selection, number: int) -> tuple[Markup, Markup]:
    """Return a page of the selected rows and where it stands among the others.

    Raises FileError where the results with this key are gone.
    """
    page = rows_page(kept_folder(key), selection, number)
    said = NOTHING
    if selection.change:
        said = note(STAYS.format(change=chain_title(selection.change)))
    return said + rows_table(page.rows, page.task), pager(page.number, page.last, page.count)


def turn(
    paging: str, kept: str, label: str, change: str, number: float | None
) -> tuple[Any, Any]:  # Any: markup, or gradio's update that changes nothing
    """Show a page of the results with the key `paging`; without one all stays as it is."""
    if not paging:
        return gr.skip(), gr.skip()
    try:
        return shown_rows(paging, Selection(kept, label, change), int(number or 1))
    except FileError as trouble:
        return NOTHING, alert(trouble)


def choose(paging: str, kept: str, label: str) -> list[Any]:
    """Show the first page of a filter and a label, whatever figure was pressed before."""
    return [*turn(paging, kept, label, "", 1), ""]


def press_page(
    event: gr.EventData, paging: str, kept: str, label: str, change: str
) -> tuple[Any, Any]:
    """Show the page whose button was pressed."""
    return turn(paging, kept, label, change, page_pressed(cell_of(event)))


def press_figure(event: gr.EventData, paging: str) -> list[Any]:
    """Show the rows behind a figure; returns them with the filter, the label and the change."""
    cell = cell_of(event)
    if cell == SEE_WHY:
        return [*turn(paging, NOT_SCORED, ANY, "", 1), NOT_SCORED, ANY, ""]
    change, _, label = cell.rpartition(BETWEEN)
    label = ANY if label == ALL_LABELS else label
    return [*turn(paging, ALL, label, change, 1), ALL, label, change]
