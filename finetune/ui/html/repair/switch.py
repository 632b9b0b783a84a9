"""Our picture or the paper's: one card with a choice between them."""

from pathlib import Path

from markupsafe import Markup

from probe.published import PublishedTable, published_for
from probe.runs.run import StoredRun
from probe.ui.html.elements import NOTHING, join

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
