"""Which task a file is for, by the names of its columns and the words of its labels."""

from collections.abc import Sequence

from probe.data.label_values import label_values
from probe.data.records import Tabular
from probe.data.rows import guess
from probe.errors import FileError
from probe.tasks.task import Task


def has_columns(table: Tabular, task: Task) -> bool:
    """Whether a file has the columns of a task's texts."""
    try:
        guess(table.names, task)
    except FileError:
        return False
    return True


def fits(table: Tabular, task: Task) -> bool:
    """Whether a file has the columns of a task and no label that the task cannot read."""
    if not has_columns(table, task):
        return False
    columns = guess(table.names, task)
    return not label_values(table, columns, task).of("unknown")


def fitting_task(table: Tabular, task: Task, tasks: Sequence[Task]) -> Task | None:
    """Return the only one of other tasks that a file fits where it does not fit this one.

    A file without this task's columns fits another by its columns alone.
    """
    if fits(table, task):
        return None
    others = [other for other in tasks if other is not task]
    fitting = [other for other in others if fits(table, other)]
    if not fitting and not has_columns(table, task):
        fitting = [other for other in others if has_columns(table, other)]
    return fitting[0] if len(fitting) == 1 else None
