"""Which task a file is for, by the names of its columns and the words of its labels."""

from collections.abc import Sequence

from probe.data.label_values import label_values
from probe.data.rows import guess
from probe.data.tables import Table
from probe.errors import FileError
from probe.tasks.task import Task


def fits(table: Table, task: Task) -> bool:
    """Whether a file has the columns of a task and no label that the task cannot read."""
    try:
        columns = guess([str(name) for name in table.frame.columns], task)
    except FileError:
        return False
    return not label_values(table, columns, task).of("unknown")


def fitting_task(table: Table, task: Task, tasks: Sequence[Task]) -> Task | None:
    """Return the only one of other tasks that a file fits where it does not fit this one."""
    if fits(table, task):
        return None
    others = [other for other in tasks if other is not task and fits(table, other)]
    return others[0] if len(others) == 1 else None
