"""A person's file: where it is dropped, its first rows, and which columns are which."""

from collections.abc import Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup

from probe.data.preview import first_rows
from probe.data.rows import Columns, guess
from probe.data.tables import read_table
from probe.errors import FileError, UserError
from probe.limits import visitor_bounds
from probe.settings import ASSETS
from probe.tasks.nli import NLI
from probe.ui.events import CHANGING, QUIET
from probe.ui.html.elements import NOTHING, alert, note, sheet
from probe.ui.page import Page
from probe.ui.visitors.visitor_files import own_file

EXAMPLES = sorted((ASSETS / "examples").glob("*"))
NO_GOLD = "(no gold label)"
GOLD_HELP = (
    "Gold labels are read as entailment, neutral, contradiction, as e, n, c, or as 0, 1, 2 in "
    "this order; “-” means that the annotators disagreed."
)
COLUMNS = ("Premise", "Hypothesis", "Gold label")


def build_file(label: str, elem_id: str) -> gr.File:
    """Lay out the place of the file, with examples."""
    upload = gr.File(label=label, type="filepath", height=130, elem_id=elem_id)
    examples = [[str(path)] for path in EXAMPLES]
    gr.Examples(examples, upload, label="Three files to try", api_visibility="private")
    return upload


def build_columns() -> list[gr.Dropdown]:
    """Lay out the lists of columns."""
    with gr.Row():
        return [
            gr.Dropdown([], label=f"{name} column", min_width=130, **CHANGING) for name in COLUMNS
        ]


def guess_on_upload(
    page: Page, upload: gr.File, columns: Sequence[gr.Dropdown], preview: gr.HTML, guessed: gr.HTML
) -> None:
    """Show the first rows and the guessed columns as soon as there is a file."""
    upload.change(choose, [page.owner, upload], [preview, *columns, guessed], **QUIET)


def choose(visitor: str, path: str | None) -> list[Any]:
    """Return the first rows of a file, its guessed columns, and a sentence about them."""
    no_columns = [gr.Dropdown(choices=[], value=None)] * len(COLUMNS)
    if not path:
        return [NOTHING, *no_columns, NOTHING]
    try:
        table = read_table(own_file(visitor, path), visitor_bounds())
        names = [str(name) for name in table.frame.columns]
        columns, doubt = _guess(names)
    except UserError as trouble:
        return [NOTHING, *no_columns, alert(trouble)]
    broken = f", {len(table.broken)} of them do not fit the header" if table.broken else ""
    return [
        sheet(first_rows(table.frame), "first rows of the file"),
        *(gr.Dropdown(choices=names, value=columns.texts[field]) for field in NLI.fields),
        gr.Dropdown(choices=[NO_GOLD, *names], value=columns.gold or NO_GOLD),
        doubt + note(f"{len(table.frame)} rows{broken}. {GOLD_HELP}"),
    ]


def _guess(names: list[str]) -> tuple[Columns, Markup]:
    """Guess the columns; where the names do not tell, take the first two and ask."""
    try:
        return guess(names, NLI), NOTHING
    except FileError as trouble:
        if len(names) < 2:
            raise
        first_two = Columns(dict(zip(NLI.fields, names, strict=False)))
        return first_two, alert(f"{trouble}. Say above which column is which.")


def columns_of(names: Sequence[str], premise: str, hypothesis: str, gold: str | None) -> Columns:
    """Return the chosen columns, guessed where none is chosen. Raises FileError."""
    columns = guess(names, NLI)
    if premise and hypothesis:
        texts = {"premise": premise, "hypothesis": hypothesis}
        columns = Columns(texts, None if gold in (None, NO_GOLD) else gold)
    columns.check(names)
    return columns
