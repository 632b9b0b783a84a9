"""What is shown below the chosen skill: an example of each kind, or the kinds of a file."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from finetune.training.data import Asked
from finetune.trials.generalisation import GRIDS, MAX_CONDITIONS, conditions, read_conditions
from finetune.ui.generalise.titles import varied
from probe.data.rows import guess, is_missing
from probe.data.source import read_table
from probe.errors import FileError
from probe.limits import visitor_bounds
from probe.tasks.examples import bundled_file
from probe.tasks.nli import NLI
from probe.tasks.task import Task
from probe.templates import Request, generate
from probe.ui.html.elements import join, note, sheet, twin
from probe.ui.html.prediction import label_name

SEED = 3
BETWEEN = Markup(' <span class="soft">/</span> ')
COUNTS = ("no other kind", "one other kind", "two other kinds", "three other kinds")
USUAL_COLUMN = "condition"
KIND_COLUMN = "genre"
"""What the bundled examples call their kind."""
FILE_HINT = (
    "A table with the task's texts, a label, and a column that names the kind of each row, such as "
    "its genre. The model is trained on each kind and tested on all."
)


@lru_cache(maxsize=16)
def kinds_shown(skill: str, vary: str) -> Markup:
    """Show an example of the first kind of a skill, and one of each other kind folded away."""
    first, *others = [
        Markup('<li><b class="tiny">{}</b> {} <span class="nowrap">{}</span></li>').format(
            condition.title, _texts(example), label_name(example.gold or "")
        )
        for condition in conditions(skill, vary)
        for example in generate(Request(skill, **condition.test), 1, SEED)
    ]
    listed = Markup('<ul class="samples">{}</ul>')
    more = twin(COUNTS[len(others)], listed.format(join(others)))
    return listed.format(first) + more + note(GRIDS[vary].summary)


def _texts(example: Any) -> Markup:
    return join((Markup("{}").format(text) for text in NLI.texts(example).values()), BETWEEN)


def fitting_vary(skill: str, vary: str | None) -> str:
    """Return what varies if the skill has it, else the first that it has, "" of a file."""
    there = varied(skill)
    return vary if vary in there else next(iter(there), "")


def file_shown(path: str | None, column: str | None, task: Task) -> Markup:
    """Say what a file has to hold, or which kinds it holds and how many rows of each.

    Raises FileError, LabelError or LimitError.
    """
    if not path:
        return note(FILE_HINT) + _such_a_table(task)
    rows = read_conditions(
        Path(path), named_column(path, column), task, Asked(bounds=visitor_bounds())
    )
    counts = ", ".join(f"{name} {len(examples):,}" for name, examples in rows.items())
    return note(f"{len(rows)} kinds of rows: {counts}.")


@lru_cache(maxsize=8)
def _such_a_table(task: Task) -> Markup:
    """Show a few of the bundled examples as rows of such a table, each of another kind."""
    rows = read_table(bundled_file(task)).frame.drop_duplicates(KIND_COLUMN).head(3)
    shown = sheet(rows[[KIND_COLUMN, "label", *task.fields]], "an example of such a table")
    return twin("such as this", shown)


def named_column(path: str, column: str | None) -> str:
    """Return the column that names the kinds. Raises FileError where none is chosen."""
    if not column:
        raise FileError(
            f"say which column of {Path(path).name} names the kind of each row; it must have 2 to "
            f"{MAX_CONDITIONS} different values"
        )
    return column


def kind_columns(path: str, task: Task) -> list[str]:
    """Return the columns of a file that may name kinds, the likeliest first.

    It is no text and no label, and has neither one value nor too many. Raises FileError or
    LimitError.
    """
    frame = read_table(Path(path), visitor_bounds()).frame
    names = [str(name) for name in frame.columns]
    columns = guess(names, task)
    taken = {*columns.texts.values(), columns.gold}
    likely = [name for name in names if name not in taken and _names_kinds(frame[name])]
    return sorted(likely, key=lambda name: name.strip().lower() != USUAL_COLUMN)


def _names_kinds(cells: Iterable[object]) -> bool:
    values = {str(cell).strip() for cell in cells if not is_missing(cell)} - {""}
    return 2 <= len(values) <= MAX_CONDITIONS
